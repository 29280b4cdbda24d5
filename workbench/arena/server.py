"""The arena as a server: in the background of another program, or by itself until it is stopped.

with ArenaServer(ArenaConfig(admin_password="...")) as arena:
    requests.get(f"{arena.url}/api/hello")
"""

import asyncio
import logging
import resource
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from types import TracebackType
from typing import Self, TypeVar

import uvicorn

from cardsharp.errors import ConfigError
from workbench.arena.app import Arena
from workbench.arena.config import ArenaConfig
from workbench.arena.dto import Json
from workbench.arena.players import ADMIN, User
from workbench.arena.views import Look, full_view

T = TypeVar("T")

BACKLOG = 2048
"""Connections that may knock at once; a thousand waiting clients come back together."""

KEEP_ALIVE = timedelta(minutes=5)
"""An idle connection outlives a long think: a POST must not meet a connection just closing."""

GRACE = timedelta(seconds=3)
"""How long a stop waits for answers that are being written."""

START_LIMIT = timedelta(seconds=20)

ADMIN_USER = User(ADMIN, None, ADMIN)


class ArenaServer:
    """An arena on a thread of its own; a context manager that starts and stops it.

    Raises:
        ConfigError: the players' file, the data file or the port cannot be used.
    """

    def __init__(self, config: ArenaConfig) -> None:
        self._arena = Arena(config)
        try:
            self._socket = _listen(config.host, config.port)
        except BaseException:
            self._arena.close()
            raise
        host, port = self._socket.getsockname()[:2]
        self.url = _url(host, port)
        self._ready = threading.Event()
        self._server = _Server(self._arena, self._ready.set)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name=f"arena {port}", daemon=True)

    def start(self) -> Self:
        """Serve; returns when requests are answered."""
        self._thread.start()
        if not self._ready.wait(START_LIMIT.total_seconds()) or not self._server.started:
            raise ConfigError("The arena did not start; its log says why.")
        return self

    def stop(self) -> None:
        """End the long polls, finish what is being answered, close the files."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
        else:
            self._arena.close()
            self._socket.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def waiting(self) -> int:
        """How many clients are in a long poll now."""
        return self._arena.bells.waiting

    def create_match(
        self,
        players: Sequence[str],
        *,
        tags: Sequence[str] = (),
        seed: str | None = None,
        timeout: timedelta | None = None,
        **piles: object,
    ) -> str:
        """The id of a new match between two players, as the admin creates it.

        `piles` are the further fields of a create request (`drawPile`, `banks`, ...).

        Raises:
            Malformed: a field cannot be used; the text is the answer a request would get.
        """
        body: Json = {"playerids": list(players), **piles}
        if tags:
            body["tags"] = list(tags)
        if seed is not None:
            body["randomSeed"] = seed
        if timeout is not None:
            body["timeout"] = timeout.total_seconds()
        return self._call(lambda: self._arena.referee.create(ADMIN_USER, body, None)[0].id)

    def look(self, match_id: str) -> Json:
        """The whole match as the admin sees it: piles, seed and all events."""

        def view() -> Json:
            match = self._arena.referee.find(match_id)
            look = Look(ADMIN_USER, debug=True, events=True)
            return full_view(match, look, self._arena.lobby.history(match.id), self._arena.book)

        return self._call(view)

    def _call(self, work: Callable[[], T]) -> T:
        """What `work` returns in the server's thread, where all matches live."""
        if self._loop is None:
            raise ConfigError("The arena is not running; call start() first.")

        async def job() -> T:
            return work()

        return asyncio.run_coroutine_threadsafe(job(), self._loop).result()

    def _run(self) -> None:
        try:
            with asyncio.Runner() as runner:
                self._loop = runner.get_loop()
                runner.run(self._server.serve([self._socket]))
        finally:
            self._loop = None
            self._ready.set()


def run(config: ArenaConfig, on_start: Callable[[str], None] = lambda _url: None) -> None:
    """Serve until SIGINT or SIGTERM; `on_start` is told the address.

    Raises:
        ConfigError: the players' file, the data file or the port cannot be used.
    """
    arena = Arena(config)
    try:
        listening = _listen(config.host, config.port)
    except BaseException:
        arena.close()
        raise
    host, port = listening.getsockname()[:2]
    with suppress(KeyboardInterrupt):
        _Server(arena, lambda: on_start(_url(host, port))).run([listening])


class _Server(uvicorn.Server):
    """A server whose stop wakes the long polls first, instead of waiting for them."""

    def __init__(self, arena: Arena, on_started: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                arena.app,
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                backlog=BACKLOG,
                timeout_keep_alive=int(KEEP_ALIVE.total_seconds()),
                timeout_graceful_shutdown=int(GRACE.total_seconds()),
            )
        )
        self._bells = arena.bells
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._bells.close()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, and room for as many connections as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"The arena cannot listen on {host} port {port}: {error.strerror}. "
            "Name another with --port, or --port 0 for any free one."
        ) from None
    # Head and body are two writes; without this the second waits 40 ms for the client's ACK.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _url(host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"
