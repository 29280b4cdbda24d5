"""`/matches/{id}`: the page of a match, with the information of a spectator.

The creator of a practice match plays all its seats there by hand, as in the original. The form
works without script. With script, digits are keys, and the page follows the moves of programs.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import wraps
from itertools import accumulate

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from cardsharp.core.time_format import format_time_limit
from cardsharp.errors import InvalidInput, RulesError, WriteConflict
from cardsharp.games.deadmansdraw.actions import action_json
from cardsharp.games.deadmansdraw.arena.access.body_reader import read_form
from cardsharp.games.deadmansdraw.arena.access.request_guard import (
    client_ip,
    json_response,
    make_remaining_wait,
    wait_for_disconnect,
)
from cardsharp.games.deadmansdraw.arena.access.spectator_cache import SPECTATOR_USER
from cardsharp.games.deadmansdraw.arena.access.users import DUMMY_ID, PLAYER, User
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig, ArenaDependencies
from cardsharp.games.deadmansdraw.arena.dto import Json
from cardsharp.games.deadmansdraw.arena.error_responses import PAGE_ERRORS
from cardsharp.games.deadmansdraw.arena.errors import MatchEndedError, NotMatchCreator
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.pages.list_pages import (
    STATISTICS_ASSETS,
    GeneralArenaPages,
    html_response,
    render_template,
)
from cardsharp.games.deadmansdraw.arena.referee import Referee
from cardsharp.games.deadmansdraw.arena.storage.match_repository import MOVE_PLAYED, WaitTopic
from cardsharp.games.deadmansdraw.arena.views import ViewOptions, full_view
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView
from cardsharp.games.deadmansdraw.board_renderer import BOARD_RENDERER
from cardsharp.games.deadmansdraw.history.arena_import import match_from_view
from cardsharp.games.deadmansdraw.rules import legal_actions
from cardsharp.pages.assets import HEADERS, AssetFolder, AssetSet
from cardsharp.pages.match_pages import match_page, message_page, steps_json
from cardsharp.pages.rendered_match import RenderedMatch, render_match
from cardsharp.pages.templates import SiteInfo
from cardsharp.server.error_table import find_http_error
from cardsharp.server.routing import HttpError
from cardsharp.server.service_errors import ServiceError
from cardsharp.store.match_log import MatchStatus

_ZERO = timedelta()
_MAX_CACHED_RENDERINGS = 32  # matches that are kept as they were drawn last


Handler = Callable[["ArenaPages", Request, User], Awaitable[Response]]


def _render_errors(handler: Handler) -> Handler:
    """Wrap a handler so that an error becomes a page, because the client is a browser."""

    @wraps(handler)
    async def answer(self: "ArenaPages", request: Request, user: User) -> Response:
        try:
            return await handler(self, request, user)
        except (HttpError, ServiceError, RulesError, WriteConflict) as error:
            http_error = find_http_error(PAGE_ERRORS, error)
            if http_error is None:
                raise
            return html_response(message_page(self.site, http_error.text), http_error.status)

    return answer


class ArenaPages(GeneralArenaPages):
    """All pages of an arena: those of single matches beside the others."""

    def __init__(
        self,
        site: SiteInfo,
        extra_assets: Iterable[AssetFolder],
        referee: Referee,
        runtime: ArenaDependencies,
        config: ArenaConfig,
    ) -> None:
        super().__init__(site, AssetSet(STATISTICS_ASSETS, *extra_assets), referee, config.clock)
        self._runtime, self._config, self._waiting_spectators = runtime, config, 0
        self._renderings: OrderedDict[tuple[str, int, bool], RenderedMatch] = OrderedDict()

    async def match_page(self, request: Request, user: User) -> Response:
        """Serve GET /matches/{id}: the match at one step, with links to all steps.

        As in the original it is open to all who have logged in, whoever plays, and an unknown
        match gives a page, too, with status 200.
        """
        try:
            match = self._referee.get_public_match(user, request.path_params["id"])
        except (InvalidInput, ServiceError) as error:
            return html_response(message_page(self.site, str(error)))
        step_text = request.query_params.get("step", "")
        page = match_page(
            self.site,
            await self._render_cached(match),
            int(step_text) if step_text.isdecimal() else None,
            seat=self._render_seat(match, user),
        )
        return html_response(page)

    async def steps(self, request: Request, user: User) -> Response:
        """Serve GET /matches/{id}/steps: the steps from a number on; `wait` waits for some.

        Spectators wait only while fewer than the maximum wait already.
        """
        query = request.query_params
        match = self._referee.get_public_match(user, request.path_params["id"])
        start = int(query["from"]) if query.get("from", "").isdecimal() else 0

        def is_new() -> bool:
            current_match = self._referee.get_match(match.id)
            return current_match.moves > start or current_match.is_finished

        if "wait" in query and (
            user is not SPECTATOR_USER
            or self._waiting_spectators < self._runtime.max_waiting_spectators
        ):
            signal, disconnect_waiter = (
                WaitTopic(MOVE_PLAYED, match.id),
                lambda: wait_for_disconnect(request),
            )
            self._waiting_spectators += user is SPECTATOR_USER
            try:
                remaining = make_remaining_wait(request, self._config.long_poll_timeout)
                if self._count_visible_moves(match) <= start:
                    await self._runtime.long_poll.wait(signal, is_new, disconnect_waiter, remaining)
                    if self._config.min_page_interval:
                        await self._runtime.long_poll.sleep(
                            min(self._time_until_visible(match, start), remaining()),
                            disconnect_waiter,
                        )
            finally:
                self._waiting_spectators -= user is SPECTATOR_USER
        rendered = await self._render_cached(self._referee.get_public_match(user, match.id))
        return json_response(steps_json(rendered, start), headers=HEADERS)

    @_render_errors
    async def create_practice_match(self, request: Request, user: User) -> Response:
        """POST /matches: a practice match, and its page."""
        form_data = await read_form(request)
        wish: Json = {"playerids": [user.id, DUMMY_ID if "dummy" in form_data else user.id]}
        if form_data.get("seed"):
            wish["randomSeed"] = form_data["seed"]
        match = self._referee.create_match(user, wish, client_ip(request))
        return RedirectResponse(f"/matches/{match.id}", 303, headers=HEADERS)

    @_render_errors
    async def play_action(self, request: Request, user: User) -> Response:
        """POST /matches/{id}: the choice of that number, unless the match has gone on."""
        form_data = await read_form(request)
        match = self._referee.get_visible_match(user, request.path_params["id"])
        if match.pairing.creator != user.id:
            raise NotMatchCreator
        choices = [*map(action_json, legal_actions(match.state))]
        choice = form_data.get("choice", "")
        is_current_move = form_data.get("number") == str(match.moves)
        if is_current_move and choice.isdecimal() and int(choice) < len(choices):
            mover = User(match.active_player or "", None, PLAYER)
            with suppress(MatchEndedError):
                self._referee.act(mover, match.id, choices[int(choice)], client_ip(request))
        return RedirectResponse(f"/matches/{match.id}", 303, headers=HEADERS)

    def _render_seat(self, match: ArenaMatch, user: User) -> Markup:
        """Render the choices of the user who plays a practice match by hand, else nothing."""
        if match.is_finished or match.pairing.creator != user.id:
            return Markup()
        mover = match.active_player or ""
        return render_template(
            "seat.jinja",
            match=match,
            mover=self._runtime.users.name_of(mover),
            dummy=mover == DUMMY_ID,
            choices=legal_actions(match.state),
            board=BOARD_RENDERER,
            time_limit=format_time_limit(match.params.timeout) if match.params.timeout else "",
        )

    def _compute_visible_times(self, match: ArenaMatch) -> list[datetime]:
        """Return the time at which the page shows each move.

        Two moves are at least `min_page_interval` apart.
        """
        times = (move.at for move in self._runtime.matches.move_history(match.id))
        return [
            *accumulate(
                times, lambda previous, at: max(at, previous + self._config.min_page_interval)
            )
        ]

    def _count_visible_moves(self, match: ArenaMatch) -> int:
        current_time = self._config.clock()
        return (
            sum(at <= current_time for at in self._compute_visible_times(match))
            if self._config.min_page_interval
            else match.moves
        )

    def _time_until_visible(self, match: ArenaMatch, move_index: int) -> timedelta:
        """Return the time until the page shows that move; zero if it does or has no such move."""
        current_time = self._config.clock()
        return max(
            _ZERO,
            *(
                at - current_time
                for at in self._compute_visible_times(match)[move_index : move_index + 1]
            ),
            _ZERO,
        )

    async def _render_cached(self, match: ArenaMatch) -> RenderedMatch:
        """Return the match as the page shows it now.

        It is rendered in a thread, so that requests of players do not wait for it.
        """
        move_count = self._count_visible_moves(match)
        key = match.id, move_count, match.is_finished and move_count == match.moves
        if key not in self._renderings:
            history = self._runtime.matches.move_history(match.id)[:move_count]
            view = full_view(
                match, ViewOptions(SPECTATOR_USER, show_events=True), history, self._runtime.users
            )
            self._renderings[key] = await run_in_threadpool(_render_match_view, view, over=key[-1])
        self._renderings.move_to_end(key)
        while len(self._renderings) > _MAX_CACHED_RENDERINGS:
            self._renderings.popitem(last=False)
        return self._renderings[key]


def _render_match_view(view: Json, *, over: bool) -> RenderedMatch:
    record, moves = match_from_view(MatchView.model_validate(view))
    if not over:  # it may be, and the page not yet be there
        record = replace(record, status=MatchStatus.RUNNING, outcome=None)
    rendered = render_match(record, moves, hide_private=True)
    rendered.steps  # noqa: B018 - draws them, and keeps them
    return rendered
