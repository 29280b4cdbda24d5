"""The arena as a server: in the background of another program, or by itself until it is stopped.

with ArenaServer(ArenaConfig(admin_password="...")) as arena:
    requests.get(f"{arena.url}/api/hello")
"""

import asyncio
import logging
import resource
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

from starlette.types import ASGIApp

from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN_USER
from cardsharp.games.deadmansdraw.arena.app import (
    Arena,
    ExtraPages,
    check_transport_security,
)
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.dto import Json
from cardsharp.games.deadmansdraw.arena.local_arena import LocalArena
from cardsharp.games.deadmansdraw.arena.views import ViewOptions
from cardsharp_tools.local_server.http_server import BackgroundServer, UvicornOptions
from cardsharp_tools.local_server.log_filter import RepeatFilter
from cardsharp_tools.local_server.service_server import RequestLimiter

T = TypeVar("T")

ARENA_KEEP_ALIVE = timedelta(
    minutes=5
)  # longer than a long think, that no POST meets a closing one


class ArenaServer(BackgroundServer):
    """Arena server on its own thread; a context manager; may raise `ConfigError`.

    It serves `arena`, or by default a `LocalArena`. An arena that blocks its event loop needs
    `run_blocking`, such as `run_in_threads`. It then has the limits of a gateway, as a function.
    """

    def __init__(
        self,
        config: ArenaConfig,
        extra_pages: ExtraPages | None = None,
        *,
        arena: Arena | None = None,
        run_blocking: Callable[[ASGIApp], ASGIApp] | None = None,
    ) -> None:
        check_transport_security(config)
        self._arena = LocalArena(config) if arena is None else arena
        self._has_threads = run_blocking is not None
        if extra_pages is not None:
            self._arena.mount_pages(extra_pages)
        _raise_file_limit()
        options: UvicornOptions = {"timeout_keep_alive": int(ARENA_KEEP_ALIVE.total_seconds())}
        if config.tls_files is not None:
            certificate, key = config.tls_files
            options |= {"ssl_certfile": certificate, "ssl_keyfile": str(key)}
        app: ASGIApp = self._arena.app
        wake = self._arena.waiting.close
        if run_blocking is not None:
            limiter = RequestLimiter(run_blocking(app), SystemClock())
            app, wake, options["lifespan"] = limiter, limiter.end_long_polls, "off"
        try:
            super().__init__("The arena", app, wake, host=config.host, port=config.port, **options)
        except BaseException:
            self._arena.close()
            raise

    def stop(self) -> bool:
        """End the long polls, finish the requests in progress, and close the files."""
        has_run = super().stop()
        if not has_run:
            self._arena.close()
        return has_run

    @property
    def long_poll_count(self) -> int:
        """Number of clients in a long poll."""
        return self._arena.waiting.waiting

    def create_match_and_get_id(
        self,
        players: Sequence[str],
        *,
        tags: Sequence[str] = (),
        seed: str | None = None,
        timeout: timedelta | None = None,
        **piles: object,
    ) -> str:
        """Create a match as the admin does and return its id.

        `piles` are further fields of the request. Raises `InvalidInput` with the answer that a
        request would get.
        """
        timeout_seconds = None if timeout is None else timeout.total_seconds()
        optional_fields = {
            "tags": list(tags) or None,
            "randomSeed": seed,
            "timeout": timeout_seconds,
        }
        present_fields = {
            name: value for name, value in optional_fields.items() if value is not None
        }
        body: Json = {"playerids": list(players), **piles, **present_fields}
        return self._run_in_server_thread(
            lambda: self._arena.referee.create_match(ADMIN_USER, body, None).id
        )

    def admin_view(self, match_id: str) -> Json:
        """Return the complete match as the admin sees it: piles, seed and all events."""
        referee, look = (
            self._arena.referee,
            ViewOptions(ADMIN_USER, show_debug=True, show_events=True),
        )
        return self._run_in_server_thread(
            lambda: referee.build_view(referee.get_match(match_id), look)
        )

    def _run_in_server_thread(self, function: Callable[[], T]) -> T:
        """Run a function in the server's thread, where all matches live; return its result.

        An arena with threads has its matches in a table, so any thread may run it.
        """
        if self._has_threads:
            return function()
        if self.loop is None:
            raise ConfigError("The arena is not running. Call start() first.")

        async def job() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(job(), self.loop).result()


def run(config: ArenaConfig, on_started: Callable[[str], None] = lambda _url: None) -> None:
    """Serve until SIGINT or SIGTERM; `on_started` gets the address. Raises `ConfigError`."""
    if logging.lastResort is not None:  # what warns at a terminal
        logging.lastResort.addFilter(RepeatFilter())
    arena = ArenaServer(config)
    arena.run_in_foreground(lambda: on_started(arena.url))


def _raise_file_limit() -> None:
    """Raise the limit of open files to the maximum, so that more clients can connect."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
