"""`/matches/{id}`: the page of a match, which shows everybody what a spectator may know.

Whoever ordered a practice match plays it there by hand, all its seats, as in the original. A form
is enough; where script runs, digits are keys and the page keeps up with what programs do.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import wraps
from itertools import accumulate

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from cardsharp.cloud.ports import Status
from cardsharp.deadmansdraw.actions import action_body
from cardsharp.deadmansdraw.arena.config import ArenaConfig, Place
from cardsharp.deadmansdraw.arena.dto import Json
from cardsharp.deadmansdraw.arena.http import client_ip, hung_up, json_answer, time_left
from cardsharp.deadmansdraw.arena.inputs import read_form
from cardsharp.deadmansdraw.arena.limits import SPECTATOR
from cardsharp.deadmansdraw.arena.lobby import MOVED, Signal
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.pages import Pages, page_answer, rendered
from cardsharp.deadmansdraw.arena.players import DUMMY_ID, PLAYER, User
from cardsharp.deadmansdraw.arena.referee import NOT_YOUR_TURN, Over, Referee
from cardsharp.deadmansdraw.arena.views import Look, full_view
from cardsharp.deadmansdraw.board import BOARD
from cardsharp.deadmansdraw.recorded import told
from cardsharp.deadmansdraw.rules import legal_actions
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.errors import Conflict, Malformed, RulesError
from cardsharp.viewer.assets import HEADERS
from cardsharp.viewer.base import Site
from cardsharp.viewer.pages import match_page, message_page, steps_document
from cardsharp.viewer.shown import DrawnMatch, shown
from cardsharp.web.route import Refused

_NONE = timedelta()
_KEPT = 32  # matches that are kept as they were drawn last


Handler = Callable[["ArenaPages", Request, User], Awaitable[Response]]


def _explained(handler: Handler) -> Handler:
    """A refusal as a page, for it is a person who asks."""

    @wraps(handler)
    async def answer(self: "ArenaPages", request: Request, user: User) -> Response:
        try:
            return await handler(self, request, user)
        except (Malformed, Refused, RulesError, Conflict) as error:
            status = error.status if isinstance(error, Refused) else 400
            return page_answer(message_page(self.site, str(error)), status)

    return answer


class ArenaPages(Pages):
    """All pages of an arena: those of single matches beside the others."""

    def __init__(self, site: Site, referee: Referee, place: Place, config: ArenaConfig) -> None:
        super().__init__(site, referee, config.clock)
        self._place, self._config, self._watching = place, config, 0
        self._drawn: OrderedDict[tuple[str, int, bool], DrawnMatch] = OrderedDict()

    async def page(self, request: Request, user: User) -> Response:
        """GET /matches/{id}: the match at one step, and links to all.

        As in the original it is for all who have logged in, whoever plays, and no such match is a
        page, too, with status 200.
        """
        try:
            match = self._referee.shown(user, request.path_params["id"])
        except (Malformed, Refused) as error:
            return page_answer(message_page(self.site, str(error)))
        step = request.query_params.get("step", "")
        page = match_page(
            self.site,
            await self._shown(match),
            int(step) if step.isdecimal() else None,
            seat=self._seat(match, user),
        )
        return page_answer(page)

    async def steps(self, request: Request, user: User) -> Response:
        """GET /matches/{id}/steps: those from a number on; for who waits once there are some.

        Spectators wait only where the arena has room for an audience.
        """
        query = request.query_params
        match = self._referee.shown(user, request.path_params["id"])
        start = int(query["from"]) if query.get("from", "").isdecimal() else 0

        def is_new() -> bool:
            now = self._referee.find(match.id)
            return now.moves > start or now.finished

        if "wait" in query and (user is not SPECTATOR or self._watching < self._place.audience):
            signal, gone = Signal(MOVED, match.id), lambda: hung_up(request)
            self._watching += user is SPECTATOR
            try:
                left = time_left(request, self._config.poll_timeout)
                if self._number_shown(match) <= start:
                    await self._place.waiting.wait(signal, is_new, gone, left)
                    if self._config.pace:
                        await self._place.waiting.pause(min(self._due(match, start), left()), gone)
            finally:
                self._watching -= user is SPECTATOR
        found = await self._shown(self._referee.shown(user, match.id))
        return json_answer(steps_document(found, start), headers=HEADERS)

    @_explained
    async def begin(self, request: Request, user: User) -> Response:
        """POST /matches: a practice match, and its page."""
        form = await read_form(request)
        wish: Json = {"playerids": [user.id, DUMMY_ID if "dummy" in form else user.id]}
        if form.get("seed"):
            wish["randomSeed"] = form["seed"]
        match = self._referee.create(user, wish, client_ip(request))
        return RedirectResponse(f"/matches/{match.id}", 303, headers=HEADERS)

    @_explained
    async def act(self, request: Request, user: User) -> Response:
        """POST /matches/{id}: the choice of that number, unless the match has gone on."""
        form = await read_form(request)
        match = self._referee.visible(user, request.path_params["id"])
        if match.pairing.creator != user.id:
            raise Refused(403, NOT_YOUR_TURN)
        choices = [*map(action_body, legal_actions(match.state))]
        choice = form.get("choice", "")
        in_time = form.get("number") == str(match.moves)
        if in_time and choice.isdecimal() and int(choice) < len(choices):
            mover = User(match.active_player or "", None, PLAYER)
            with suppress(Over):
                self._referee.act(mover, match.id, choices[int(choice)], client_ip(request))
        return RedirectResponse(f"/matches/{match.id}", 303, headers=HEADERS)

    def _seat(self, match: Match, user: User) -> Markup:
        """The choices of whoever plays a practice match by hand; nothing for anybody else."""
        if match.finished or match.pairing.creator != user.id:
            return Markup()
        mover = match.active_player or ""
        return rendered(
            "seat.jinja",
            match=match,
            mover=self._place.book.name_of(mover),
            dummy=mover == DUMMY_ID,
            choices=legal_actions(match.state),
            board=BOARD,
        )

    def _shown_at(self, match: Match) -> list[datetime]:
        """When the page shows each of the moves, none sooner than the pace after the one before."""
        made = (move.at for move in self._place.lobby.history(match.id))
        return [*accumulate(made, lambda before, at: max(at, before + self._config.pace))]

    def _number_shown(self, match: Match) -> int:
        now = self._config.clock()
        return sum(at <= now for at in self._shown_at(match)) if self._config.pace else match.moves

    def _due(self, match: Match, number: int) -> timedelta:
        """How long it is until the page shows the move of that number, if it was made."""
        now = self._config.clock()
        return max(_NONE, *(at - now for at in self._shown_at(match)[number : number + 1]), _NONE)

    async def _shown(self, match: Match) -> DrawnMatch:
        """The match as it is now; drawn beside the players' requests, which do not wait for it."""
        number = self._number_shown(match)
        key = match.id, number, match.finished and number == match.moves
        if key not in self._drawn:
            history = self._place.lobby.history(match.id)[:number]
            view = full_view(match, Look(SPECTATOR, events=True), history, self._place.book)
            self._drawn[key] = await run_in_threadpool(_drawn, view, over=key[-1])
        self._drawn.move_to_end(key)
        while len(self._drawn) > _KEPT:
            self._drawn.popitem(last=False)
        return self._drawn[key]


def _drawn(view: Json, *, over: bool) -> DrawnMatch:
    record, moves = told(MatchView.model_validate(view))
    if not over:  # it may be, and the page not yet be there
        record = replace(record, status=Status.RUNNING, outcome=None)
    found = shown(record, moves, public=True)
    found.frames  # noqa: B018 - draws them, and keeps them
    return found
