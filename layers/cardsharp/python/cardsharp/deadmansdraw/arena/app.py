"""The arena as an ASGI application: its routes, and its parts put together."""

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cardsharp.deadmansdraw.arena.auth import Gatekeeper
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.endpoints import RestApi
from cardsharp.deadmansdraw.arena.http import Guard, error_answer, not_found, tagged
from cardsharp.deadmansdraw.arena.limits import Counts
from cardsharp.deadmansdraw.arena.listing import lists_own, looks_as_player
from cardsharp.deadmansdraw.arena.lobby import Lobby
from cardsharp.deadmansdraw.arena.openness import PrivateOnly
from cardsharp.deadmansdraw.arena.page_routes import AllPages, MorePages, page_routes
from cardsharp.deadmansdraw.arena.paths import LooseRoute, PathAsSent, allowed_methods
from cardsharp.deadmansdraw.arena.players import Book
from cardsharp.deadmansdraw.arena.presence import Presence
from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.deadmansdraw.arena.waiting import Waiting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from cardsharp.viewer.base import Site

LOOK = timedelta(seconds=1)
"""How often it is looked which turns are late."""

_LINKS = (("Matches", "/matches"), ("Statistics", "/matches/statistics"), ("API", "/docs"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an arena runs: what differs between this machine and the cloud.

    `seal` is the key that proves a nonce to be ours, and `since` is when this arena began to look
    at the clock: no turn ran out before. So many spectators as `audience` says may wait at a time.
    Where `waits_cost`, a wrong password is answered at once, and fewer are looked at.
    """

    lobby: Lobby
    waiting: Waiting
    book: Book
    counts: Counts
    presence: Presence
    seal: Callable[[], bytes]
    since: datetime
    name: str
    waits_cost: bool = False
    audience: int = 0


class Arena:
    """One arena: its matches, its rules of admission and the application that serves them."""

    def __init__(self, config: ArenaConfig, place: Place) -> None:
        self.book, self.lobby = place.book, place.lobby
        self.waiting = place.waiting
        self.referee = Referee(
            self.lobby, self.book, config.randomness, config.clock, since=place.since
        )
        gatekeeper = Gatekeeper(self.book, config.clock, place.seal)
        guard = Guard(gatekeeper, config, place.counts, waits=not place.waits_cost)
        self._grace = config.watchdog
        api = RestApi(self.referee, place, config)
        layers = (PrivateOnly, PathAsSent) if config.insecure else (PathAsSent,)
        self._links = list(_LINKS)
        self._guard = guard

        def pages() -> AllPages:
            from cardsharp.deadmansdraw.arena.pages import Pages  # noqa: PLC0415 - see page_routes
            from cardsharp.deadmansdraw.arena.practising import Practising  # noqa: PLC0415
            from cardsharp.deadmansdraw.arena.watching import MatchPages  # noqa: PLC0415

            site = self._site()
            practising = Practising(site, self.referee)
            matches = MatchPages(site, self.referee, place, config, practising)
            return AllPages(Pages(site, self.referee, config.clock), matches, practising)

        self.app = Starlette(
            routes=[*api_routes(api, guard), *page_routes(pages, guard)],
            middleware=[Middleware(one) for one in layers],
            exception_handlers={HTTPException: _http_error, Exception: _bug},
            lifespan=self._lifespan,
        )
        self.app.router.redirect_slashes = False

    def show(self, more: MorePages) -> None:
        """Serve pages beside its own, such as those of a contest that is held there."""
        self._links.insert(0, (more.title, more.path))
        self.referee.held_back = more.held_back
        self.app.router.routes.extend(more.routes(self._site, self.lobby, self._guard))

    def _site(self) -> "Site":
        from cardsharp.viewer.base import Site  # noqa: PLC0415 - see page_routes

        return Site("Arena", links=self._links)

    def close(self) -> None:
        """End every long poll."""
        self.waiting.close()

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> "AsyncIterator[None]":
        watching = asyncio.create_task(self._watch())
        yield
        watching.cancel()
        self.close()

    async def _watch(self) -> None:
        while self._grace is not None:
            self.referee.end_overdue_turns(grace=self._grace)
            await asyncio.sleep(LOOK.total_seconds())


def api_routes(api: RestApi, guard: Guard) -> list[Route]:
    """The routes of the REST API."""
    known, shown, hello = guard.known, guard.shown, guard.open(api.hello)
    return [
        LooseRoute("/api/hello", hello, "GET"),
        LooseRoute("/api/helloworld", hello, "GET"),
        LooseRoute("/api/whoami", shown(api.whoami), "GET"),
        LooseRoute("/api/sessioninfo", known(api.sessioninfo), "GET"),
        LooseRoute("/api/players", known(api.players, admin_only=True), "GET"),
        LooseRoute("/api/players/{id}", known(api.player), "GET"),
        LooseRoute("/api/matches", shown(api.matches, lists_own), "GET"),
        LooseRoute("/api/matches", known(api.create, creates=True), "POST"),
        LooseRoute("/api/matches/watchdog", known(api.watchdog, admin_only=True), "POST"),
        LooseRoute("/api/matches/busydays", shown(api.busydays), "GET"),
        LooseRoute("/api/matches/{id}", shown(api.match, looks_as_player), "GET"),
        LooseRoute("/api/matches/{id}", known(api.act), "POST"),
        LooseRoute("/api/matches/{id}/terminate", known(api.terminate), "DELETE"),
    ]


async def _http_error(request: Request, _error: Exception) -> Response:
    """What a path has, on OPTIONS; else an unknown path and a method that it does not have are one.

    Both are the original's ways.
    """
    allowed = allowed_methods(request.app.routes, request.url.path)
    if request.method == "OPTIONS" and allowed:
        names = ",".join(allowed)
        return tagged(HTMLResponse(names, headers={"Allow": names}))
    return not_found(request)


async def _bug(_request: Request, _error: Exception) -> Response:
    return error_answer(500, "Internal Server Error.")
