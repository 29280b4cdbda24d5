"""Practice matches in the browser: begun by a form on the list, played on the page of the match.

As in the original, whoever ordered a practice match plays all its seats by hand. A form is enough;
where script runs, digits are keys and the page keeps up with what programs do in the match.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import wraps

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from cardsharp.deadmansdraw.actions import action_body
from cardsharp.deadmansdraw.arena.dto import Json
from cardsharp.deadmansdraw.arena.http import client_ip, tagged
from cardsharp.deadmansdraw.arena.ids import DUMMY_ID
from cardsharp.deadmansdraw.arena.inputs import read_form
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.pages import rendered
from cardsharp.deadmansdraw.arena.players import PLAYER, User
from cardsharp.deadmansdraw.arena.referee import NOT_YOUR_TURN, Over, Referee
from cardsharp.deadmansdraw.board import BOARD
from cardsharp.deadmansdraw.rules import legal_actions
from cardsharp.errors import Conflict, Malformed, RulesError
from cardsharp.viewer.assets import HEADERS
from cardsharp.viewer.base import Site
from cardsharp.viewer.pages import message_page
from cardsharp.web.refusals import Refused

Handler = Callable[["Practising", Request, User], Awaitable[Response]]


def _explained(handler: Handler) -> Handler:
    """A refusal as a page, for it is a person who asks."""

    @wraps(handler)
    async def answer(self: "Practising", request: Request, user: User) -> Response:
        try:
            return await handler(self, request, user)
        except (Malformed, Refused, RulesError, Conflict) as error:
            page = message_page(self.site, str(error))
            status = error.status if isinstance(error, Refused) else 400
            return tagged(HTMLResponse(page, status, headers=HEADERS))

    return answer


class Practising:
    """Has players practise by hand."""

    def __init__(self, site: Site, referee: Referee) -> None:
        self.site, self._referee = site, referee

    def seat(self, match: Match, user: User) -> Markup:
        """The choices of whoever plays a practice match by hand; nothing for anybody else."""
        if match.finished or match.pairing.creator != user.id:
            return Markup()
        mover = match.active_player or ""
        return rendered(
            "seat.jinja",
            match=match,
            mover=self._referee.book.name_of(mover),
            dummy=mover == DUMMY_ID,
            choices=legal_actions(match.state),
            board=BOARD,
        )

    @_explained
    async def begin(self, request: Request, user: User) -> Response:
        """POST /matches: a practice match, and its page."""
        form = await read_form(request)
        wish: Json = {"playerids": [user.id, DUMMY_ID if "dummy" in form else user.id]}
        if form.get("seed"):
            wish["randomSeed"] = form["seed"]
        match, _ = self._referee.create(user, wish, client_ip(request))
        return _led_to(f"/matches/{match.id}")

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
        return _led_to(f"/matches/{match.id}")


def _led_to(page: str) -> Response:
    return RedirectResponse(page, 303, headers=HEADERS)
