"""The arena as an ASGI application: its routes, and its parts put together."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cache, partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.access.path_matching import (
    CaseInsensitiveRoute,
    allowed_methods,
)
from cardsharp.games.deadmansdraw.arena.access.request_guard import (
    RequestGuard,
    error_response,
    not_found_response,
    with_etag,
)
from cardsharp.games.deadmansdraw.arena.api_routes import api_routes
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig, ArenaDependencies
from cardsharp.games.deadmansdraw.arena.endpoints import RestApi
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.referee import Referee
from cardsharp.games.deadmansdraw.arena.storage.match_repository import MatchRepository
from cardsharp.pages.assets import AssetFolder
from cardsharp.server.web_application import API_SETTINGS, ErrorPages, build_web_application

if TYPE_CHECKING:
    from cardsharp.games.deadmansdraw.arena.pages.match_pages import ArenaPages
    from cardsharp.pages.templates import SiteInfo

WATCHDOG_INTERVAL = timedelta(seconds=1)  # how often it is looked which turns are late
_SITE_LINKS = (("Matches", "/matches"), ("Statistics", "/matches/statistics"), ("API", "/docs"))


class ExtraPages(Protocol):
    """Additional pages of an arena, such as a contest's, that its own pages link to.

    `title` and `path` are the text and the address of the link; `assets` are the files that they
    load from the arena's address of assets.
    """

    title: str
    path: str
    assets: AssetFolder

    def build_routes(
        self, site: "Callable[[], SiteInfo]", matches: MatchRepository, guard: RequestGuard
    ) -> list[Route]:
        """Return the routes of these pages for an arena with these matches and this guard."""

    def hidden_match_predicate(self) -> Callable[[ArenaMatch], bool]:
        """Return a function that is True for the matches to hide.

        Only the organiser and their players may see them.
        """

    def tag_notice(self, player: str, tags: AbstractSet[str]) -> str | None:
        """Return what is wrong with the tags for which a player waits, or None."""


class Arena:
    """One arena: its matches, its rules of admission and the application that serves them."""

    def __init__(self, config: ArenaConfig, runtime: ArenaDependencies) -> None:
        self.book, self.lobby, self.waiting = runtime.users, runtime.matches, runtime.long_poll
        self.referee = Referee(self.lobby, self.book, config.randomness, config.clock)
        self._guard, self._watchdog_grace = RequestGuard(runtime, config), config.watchdog_grace
        self._links, self._extra_assets = list(_SITE_LINKS), list[AssetFolder]()
        self._api = RestApi(self.referee, runtime, config)

        def pages() -> "ArenaPages":
            # Bots ask for no page, and in the cloud an arena without them starts a sixth faster.
            from cardsharp.games.deadmansdraw.arena.pages.match_pages import ArenaPages  # noqa: PLC0415

            return ArenaPages(
                self._build_site_info(), self._extra_assets, self.referee, runtime, config
            )

        self.app = build_web_application(
            [*api_routes(self._api, self._guard), *page_routes(pages, self._guard)],
            replace(API_SETTINGS, is_private_network_only=config.allow_plain_http),
            ErrorPages(handlers={HTTPException: _handle_http_error, Exception: _handle_bug}),
            self._lifespan,
        )

    def mount_pages(self, pages: ExtraPages) -> None:
        """Serve pages beside its own, such as those of a contest that is held there."""
        self._links.insert(0, (pages.title, pages.path))
        self._extra_assets.append(pages.assets)
        self.referee.hidden_matches = pages.hidden_match_predicate
        self._api.tag_notice = pages.tag_notice
        self.app.router.routes.extend(
            pages.build_routes(self._build_site_info, self.lobby, self._guard)
        )

    def _build_site_info(self) -> "SiteInfo":
        from cardsharp.pages.templates import SiteInfo  # noqa: PLC0415 - as the pages

        return SiteInfo("Arena", links=self._links)

    def close(self) -> None:
        """End every long poll."""
        self.waiting.close()

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(self._run_watchdog())
        yield
        watching.cancel()
        self.close()

    async def _run_watchdog(self) -> None:
        while self._watchdog_grace is not None:
            self.referee.end_overdue_turns(grace=self._watchdog_grace)
            await asyncio.sleep(WATCHDOG_INTERVAL.total_seconds())


async def _handle_http_error(request: Request, _error: Exception) -> Response:
    """Return the allowed methods for OPTIONS, else a 404.

    As in the original, a wrong method on an existing path is a 404 too.
    """
    allowed = allowed_methods(request.app.routes, request.url.path)
    if request.method == "OPTIONS" and allowed:
        names = ",".join(allowed)
        return with_etag(HTMLResponse(names, headers={"Allow": names}))
    return not_found_response(request)


async def _handle_bug(_request: Request, _error: Exception) -> Response:
    return error_response(500, "Internal Server Error.")


# --- who can reach it: this machine, everybody by TLS, or a private network without -------------


def check_transport_security(config: ArenaConfig) -> None:
    """Refuse settings that would send passwords unencrypted.

    Raises `ConfigError` if the certificate cannot be used, or if there is none and the arena
    listens to other machines.
    """
    if config.tls_files is not None:
        certificate, key = config.tls_files
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        except OSError as error:
            raise ConfigError(
                f"The certificate {certificate} and its key {key} cannot be used: "
                f"{error.strerror or error}. docs/arena.md says how to make these PEM files."
            ) from None
    elif not config.allow_plain_http and not _is_loopback(config.host):
        raise ConfigError(
            f"On {config.host} passwords would cross the network unencrypted. Give --tls CERT KEY, "
            "or run the arena on 127.0.0.1 behind a proxy with TLS, or give --insecure for a "
            "private network."
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# --- pages -------------------------------------------------------------------------------------

EndpointCall = Callable[..., Awaitable[Response]]


def page_routes(load_pages: "Callable[[], ArenaPages]", guard: RequestGuard) -> list[Route]:
    """Return the routes of the pages and their assets; call `load_pages` once, at first use."""
    loaded = cache(load_pages)

    def of(pick: "Callable[[ArenaPages], EndpointCall]") -> EndpointCall:
        async def answer(*arguments: object) -> Response:
            return await pick(loaded())(*arguments)

        return answer

    authenticated, spectator, anonymous = (
        guard.authenticated,
        guard.authenticated_or_spectator,
        guard.allow_anonymous,
    )
    forms = partial(guard.authenticated, reads=False)
    begins = partial(forms, creates=True)
    return [
        CaseInsensitiveRoute("/", anonymous(of(lambda pages: pages.root)), "GET"),
        CaseInsensitiveRoute(
            "/login", authenticated(of(lambda pages: pages.redirect_after_login)), "GET"
        ),
        CaseInsensitiveRoute("/logout", anonymous(of(lambda pages: pages.logout)), "GET"),
        CaseInsensitiveRoute("/matches", spectator(of(lambda pages: pages.matches)), "GET"),
        CaseInsensitiveRoute(
            "/matches/statistics", spectator(of(lambda pages: pages.tag_statistics)), "GET"
        ),
        CaseInsensitiveRoute("/matches/{id}", spectator(of(lambda pages: pages.match_page)), "GET"),
        CaseInsensitiveRoute(
            "/matches/{id}/steps", spectator(of(lambda pages: pages.steps)), "GET"
        ),
        CaseInsensitiveRoute(
            "/matches", begins(of(lambda pages: pages.create_practice_match)), "POST"
        ),
        CaseInsensitiveRoute("/matches/{id}", forms(of(lambda pages: pages.play_action)), "POST"),
        CaseInsensitiveRoute("/docs", anonymous(of(lambda pages: pages.docs)), "GET"),
        CaseInsensitiveRoute("/api", anonymous(of(lambda pages: pages.openapi)), "GET"),
        CaseInsensitiveRoute("/swagger.json", anonymous(of(lambda pages: pages.openapi)), "GET"),
        CaseInsensitiveRoute(
            "/_ah/warmup", anonymous(of(lambda pages: pages.app_engine_warmup)), "GET"
        ),
        CaseInsensitiveRoute("/page/{name}", anonymous(of(lambda pages: pages.asset)), "GET"),
    ]
