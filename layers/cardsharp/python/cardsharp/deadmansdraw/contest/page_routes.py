"""The pages of contests at their arena: where they are, and who may see them."""

from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cardsharp import contest
from cardsharp.cloud.clock import Now, utc_now
from cardsharp.contest.tables import Playing
from cardsharp.deadmansdraw.arena.http import Endpoint, Guard, LooseRoute, not_found, tagged
from cardsharp.deadmansdraw.arena.lobby import Lobby
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.viewer.assets import HEADERS

if TYPE_CHECKING:
    from cardsharp.contest.kept import ContestsKept
    from cardsharp.viewer.base import Site

ASSETS = {"contest.css": "text/css", "contest.js": "text/javascript"}


class ContestPages:
    """The pages of contests, as more pages of their arena; `?name=` says of which.

    `contests` opens the contests for a page. Where one is frozen, all but the organiser see what it
    was by `clock`.
    """

    title, path = "Contest", "/contest"

    def __init__(self, contests: "Callable[[], ContestsKept]", clock: Now = utc_now) -> None:
        self._contests, self._clock = contests, clock

    def held_back(self) -> Callable[[Match], bool]:
        """What says now which matches only the organiser and those who play them may see."""
        # Slow to load, and needed by no player.
        from cardsharp.contest.freeze import curtain  # noqa: PLC0415

        contests = self._contests()
        before = curtain(map(contests.named, contests.names()), self._clock())

        def hidden(one: Match) -> bool:
            team = one.pairing.creator
            if team is None:
                return before.holds(one.params.tags or (), one.id)
            # Which tags a team gives to its own matches is up to it.
            return before.holds_own(team, one.last_move_at if one.finished else None)

        return hidden

    def routes(self, site: "Callable[[], Site]", lobby: Lobby, guard: Guard) -> list[Route]:
        """The routes of the pages and of what they load."""

        def shown(*, whole: bool) -> Endpoint:
            def made(request: Request, user: User, running: list[Playing]) -> Response:
                contests = self._contests()
                names = contests.names()
                name = request.query_params.get("name", *names[:1])
                if name not in names:
                    return not_found(request)
                others = [other for other in names if other != name]
                # What draws is loaded for the first page: see the arena's page_routes.
                from cardsharp.contest.freeze import board  # noqa: PLC0415
                from cardsharp.contest.pages import page, running_part  # noqa: PLC0415

                records = contests.named(name)
                if not user.is_admin:
                    records = board(records, self._clock())
                draw = page if whole else running_part
                text = draw(site(), records, () if records.frozen else running, others)
                return tagged(HTMLResponse(text, headers=HEADERS))

            async def endpoint(request: Request, user: User) -> Response:
                # Beside the loop, so that no player waits for it.
                running = list(map(playing, lobby.running()))
                return await run_in_threadpool(made, request, user, running)

            return guard.shown(endpoint)

        return [
            LooseRoute("/contest", shown(whole=True), "GET"),
            LooseRoute("/contest/running", shown(whole=False), "GET"),
            *(LooseRoute(f"/contest/{name}", guard.open(_asset(name)), "GET") for name in ASSETS),
        ]


def playing(match: Match) -> Playing:
    """A match as a spectator may see it."""
    state = match.state
    return Playing(
        id=match.id,
        teams=match.pairing.players,
        tags=match.params.tags or (),
        points=state.scores,
        active=match.active_player,
        turn=match.turn,
        note=f"{len(state.play_area)} in play · {len(state.draw_pile)} left to draw",
        # Teams may give their own practice matches any tag.
        foreign=match.pairing.creator is not None,
    )


def _asset(name: str) -> Endpoint:
    async def endpoint(_request: Request) -> Response:
        text = (files(contest) / "page" / name).read_bytes()
        return tagged(Response(text, headers=HEADERS, media_type=ASSETS[name]))

    return endpoint
