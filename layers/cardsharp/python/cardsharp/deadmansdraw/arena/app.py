"""The arena as an ASGI application: its routes, and its parts put together."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cache, partial
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.deadmansdraw.arena.config import ArenaConfig, Place
from cardsharp.deadmansdraw.arena.endpoints import RestApi
from cardsharp.deadmansdraw.arena.http import (
    Guard,
    LooseRoute,
    allowed_methods,
    error_answer,
    not_found,
    path_as_sent,
    tagged,
)
from cardsharp.deadmansdraw.arena.listing import lists_own, looks_as_player
from cardsharp.deadmansdraw.arena.lobby import Lobby
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.errors import ConfigError

if TYPE_CHECKING:
    from cardsharp.deadmansdraw.arena.watching import ArenaPages
    from cardsharp.viewer.base import Site

LOOK = timedelta(seconds=1)  # how often it is looked which turns are late
_LINKS = (("Matches", "/matches"), ("Statistics", "/matches/statistics"), ("API", "/docs"))


class MorePages(Protocol):
    """Pages beside the arena's own, to which those lead: their title and address."""

    title: str
    path: str

    def routes(self, site: "Callable[[], Site]", lobby: Lobby, guard: Guard) -> list[Route]:
        """Their routes, at an arena with these matches and these rules of admission."""

    def held_back(self) -> Callable[[Match], bool]:
        """What says now which matches only the organiser and those who play them may see."""


class Arena:
    """One arena: its matches, its rules of admission and the application that serves them."""

    def __init__(self, config: ArenaConfig, place: Place) -> None:
        self.book, self.lobby, self.waiting = place.book, place.lobby, place.waiting
        self.referee = Referee(self.lobby, self.book, config.randomness, config.clock)
        self._guard, self._grace = Guard(place, config), config.watchdog
        self._links = list(_LINKS)
        api = RestApi(self.referee, place, config)
        layers = (private_only, path_as_sent) if config.insecure else (path_as_sent,)

        def pages() -> "ArenaPages":
            # Bots ask for no page, and in the cloud an arena without them starts a sixth faster.
            from cardsharp.deadmansdraw.arena.watching import ArenaPages  # noqa: PLC0415

            return ArenaPages(self._site(), self.referee, place, config)

        self.app = Starlette(
            routes=[*api_routes(api, self._guard), *page_routes(pages, self._guard)],
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
        from cardsharp.viewer.base import Site  # noqa: PLC0415 - as the pages

        return Site("Arena", links=self._links)

    def close(self) -> None:
        """End every long poll."""
        self.waiting.close()

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
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
    """What a path has, on OPTIONS; else no path and no such method are one, as in the original."""
    allowed = allowed_methods(request.app.routes, request.url.path)
    if request.method == "OPTIONS" and allowed:
        names = ",".join(allowed)
        return tagged(HTMLResponse(names, headers={"Allow": names}))
    return not_found(request)


async def _bug(_request: Request, _error: Exception) -> Response:
    return error_answer(500, "Internal Server Error.")


# --- who can reach it: this machine, everybody by TLS, or a private network without -------------


def check_openness(config: ArenaConfig) -> None:
    """Refuse settings by which passwords could be read on the way.

    Raises `ConfigError` if the certificate cannot be used, or there is none and other machines are
    listened to.
    """
    if config.tls is not None:
        certificate, key = config.tls
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        except OSError as error:
            raise ConfigError(
                f"The certificate {certificate} and its key {key} cannot be used: "
                f"{error.strerror or error}. docs/arena.md says how to make these PEM files."
            ) from None
    elif not config.insecure and not _is_here(config.host):
        raise ConfigError(
            f"On {config.host} passwords would cross the network in the clear. Give --tls CERT "
            "KEY, or put a proxy with TLS before an arena on 127.0.0.1, or say --insecure for a "
            "private network."
        )


def private_only(app: ASGIApp) -> ASGIApp:
    """ASGI middleware: only clients of this machine or of a private network are answered."""
    refusal = PlainTextResponse("This arena is for its private network only.\n", 403)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        refused = scope["type"] == "http" and not _is_private(scope["client"][0])
        await (refusal if refused else app)(scope, receive, send)

    return answer


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_private(host: str) -> bool:
    address = ip_address(host)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_private


# --- pages -------------------------------------------------------------------------------------

Answering = Callable[..., Awaitable[Response]]


def page_routes(load: "Callable[[], ArenaPages]", guard: Guard) -> list[Route]:
    """The routes of the pages and of what they load; `load` is called once, for the first."""
    loaded = cache(load)

    def of(pick: "Callable[[ArenaPages], Answering]") -> Answering:
        async def answer(*asked: object) -> Response:
            return await pick(loaded())(*asked)

        return answer

    known, shown, everybody = guard.known, guard.shown, guard.open
    forms = partial(guard.known, reads=False)
    begins = partial(forms, creates=True)
    return [
        LooseRoute("/", everybody(of(lambda pages: pages.root)), "GET"),
        LooseRoute("/login", known(of(lambda pages: pages.login)), "GET"),
        LooseRoute("/logout", everybody(of(lambda pages: pages.logout)), "GET"),
        LooseRoute("/matches", shown(of(lambda pages: pages.matches)), "GET"),
        LooseRoute("/matches/statistics", shown(of(lambda pages: pages.statistics)), "GET"),
        LooseRoute("/matches/{id}", shown(of(lambda pages: pages.page)), "GET"),
        LooseRoute("/matches/{id}/steps", shown(of(lambda pages: pages.steps)), "GET"),
        LooseRoute("/matches", begins(of(lambda pages: pages.begin)), "POST"),
        LooseRoute("/matches/{id}", forms(of(lambda pages: pages.act)), "POST"),
        LooseRoute("/docs", everybody(of(lambda pages: pages.docs)), "GET"),
        LooseRoute("/api", everybody(of(lambda pages: pages.openapi)), "GET"),
        LooseRoute("/swagger.json", everybody(of(lambda pages: pages.openapi)), "GET"),
        LooseRoute("/_ah/warmup", everybody(of(lambda pages: pages.warm_up)), "GET"),
        LooseRoute("/page/{name}", everybody(of(lambda pages: pages.asset)), "GET"),
    ]
