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

from cardsharp.deadmansdraw.arena.app import MorePages, check_openness
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.dto import Json
from cardsharp.deadmansdraw.arena.home import HomeArena
from cardsharp.deadmansdraw.arena.players import ORGANISER
from cardsharp.deadmansdraw.arena.views import Look
from cardsharp.errors import ConfigError
from workbench.listening import Background, Options
from workbench.sparing import Sparing

T = TypeVar("T")

KEEP_ALIVE = timedelta(minutes=5)  # longer than a long think, that no POST meets a closing one


class ArenaServer(Background):
    """An arena on a thread of its own, with `more` pages; a context manager; or `ConfigError`."""

    def __init__(self, config: ArenaConfig, more: MorePages | None = None) -> None:
        check_openness(config)
        self._arena = HomeArena(config)
        if more is not None:
            self._arena.show(more)
        _make_room()
        options: Options = {"timeout_keep_alive": int(KEEP_ALIVE.total_seconds())}
        if config.tls is not None:
            certificate, key = config.tls
            options |= {"ssl_certfile": certificate, "ssl_keyfile": str(key)}
        app, wake = self._arena.app, self._arena.waiting.close
        try:
            super().__init__("The arena", app, wake, host=config.host, port=config.port, **options)
        except BaseException:
            self._arena.close()
            raise

    def stop(self) -> bool:
        """End the long polls, finish what is being answered, close the files."""
        has_run = super().stop()
        if not has_run:
            self._arena.close()
        return has_run

    @property
    def waiting(self) -> int:
        """How many clients are in a long poll now."""
        return self._arena.waiting.waiting

    def create_match(
        self,
        players: Sequence[str],
        *,
        tags: Sequence[str] = (),
        seed: str | None = None,
        timeout: timedelta | None = None,
        **piles: object,
    ) -> str:
        """The id of a new match as the admin creates it; `piles` are further fields of a request.

        Raises `Malformed` with the answer that a request would get.
        """
        seconds = None if timeout is None else timeout.total_seconds()
        told = {"tags": list(tags) or None, "randomSeed": seed, "timeout": seconds}
        given = {name: value for name, value in told.items() if value is not None}
        body: Json = {"playerids": list(players), **piles, **given}
        return self._call(lambda: self._arena.referee.create(ORGANISER, body, None).id)

    def look(self, match_id: str) -> Json:
        """The whole match as the admin sees it: piles, seed and all events."""
        referee, look = self._arena.referee, Look(ORGANISER, debug=True, events=True)
        return self._call(lambda: referee.view(referee.find(match_id), look))

    def _call(self, work: Callable[[], T]) -> T:
        """What `work` returns in the server's thread, where all matches live."""
        if self.loop is None:
            raise ConfigError("The arena is not running; call start() first.")

        async def job() -> T:
            return work()

        return asyncio.run_coroutine_threadsafe(job(), self.loop).result()


def run(config: ArenaConfig, on_start: Callable[[str], None] = lambda _url: None) -> None:
    """Serve until SIGINT or SIGTERM; `on_start` is told the address. Raises `ConfigError`."""
    if logging.lastResort is not None:  # what warns at a terminal
        logging.lastResort.addFilter(Sparing())
    arena = ArenaServer(config)
    arena.run(lambda: on_start(arena.url))


def _make_room() -> None:
    """Have room for as many connections as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
