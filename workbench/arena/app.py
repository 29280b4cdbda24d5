"""The arena as an ASGI application: its routes, and its parts put together."""

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from workbench.arena.auth import Gatekeeper
from workbench.arena.config import ArenaConfig
from workbench.arena.endpoints import Api
from workbench.arena.http import Guard, error_answer, not_found
from workbench.arena.lobby import Lobby
from workbench.arena.pages import page_routes
from workbench.arena.players import Book, load_players
from workbench.arena.referee import Referee
from workbench.arena.slowdown import PER_ADDRESS, PER_USER, SlowDown
from workbench.arena.storage import MemoryStorage, SqliteStorage
from workbench.arena.waiting import Signals

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_log = logging.getLogger(__name__)


class Arena:
    """One arena: its matches, its rules of admission and the application that serves them."""

    def __init__(self, config: ArenaConfig) -> None:
        password = config.admin_password
        self.book = Book(
            load_players(config.players), None if password is None else SecretStr(password)
        )
        self.signals = Signals()
        self._storage = MemoryStorage() if config.data is None else SqliteStorage(config.data)
        self.lobby = Lobby(self._storage, self.signals)
        self.referee = Referee(self.lobby, self.book, config.randomness, config.clock)
        limits = None
        if config.slow_down:
            limits = SlowDown(PER_ADDRESS, config.clock), SlowDown(PER_USER, config.clock)
        guard = Guard(Gatekeeper(self.book, config.clock), limits)
        api = Api(self.referee, self.signals, config)
        self.app = Starlette(
            routes=[*api_routes(api, guard), *page_routes(guard)],
            exception_handlers={HTTPException: _http_error, Exception: _bug},
            lifespan=self._lifespan,
        )
        self.app.router.redirect_slashes = False

    def close(self) -> None:
        """End every long poll and let go of the data file."""
        self.signals.close()
        self._storage.close()

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> "AsyncIterator[None]":
        yield
        self.close()


def api_routes(api: Api, guard: Guard) -> list[Route]:
    """The routes of the REST API."""
    known = guard.known
    return [
        Route("/api/hello", guard.open(api.hello), methods=["GET"]),
        Route("/api/whoami", known(api.whoami), methods=["GET"]),
        Route("/api/sessioninfo", known(api.sessioninfo), methods=["GET"]),
        Route("/api/players", known(api.players), methods=["GET"]),
        Route("/api/players/{id}", known(api.player), methods=["GET"]),
        Route("/api/matches", known(api.matches), methods=["GET"]),
        Route("/api/matches", known(api.create), methods=["POST"]),
        Route("/api/matches/watchdog", known(api.watchdog), methods=["POST"]),
        Route("/api/matches/busydays", known(api.busydays), methods=["GET"]),
        Route("/api/matches/{id}", known(api.match), methods=["GET"]),
        Route("/api/matches/{id}", known(api.act), methods=["POST"]),
        Route("/api/matches/{id}/terminate", known(api.terminate), methods=["DELETE"]),
    ]


async def _http_error(request: Request, _error: Exception) -> Response:
    """An unknown path and a method that a path does not have are the same to the original."""
    return not_found(request)


async def _bug(_request: Request, _error: Exception) -> Response:
    return error_answer(500, "Internal Server Error.")
