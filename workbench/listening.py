"""A local HTTP server, in the background or by itself; its stop wakes the long polls first."""

import asyncio
import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, TypedDict, Unpack

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from cardsharp.errors import ConfigError
from workbench.door import ListeningSocket
from workbench.lines import Lines, answering

GRACE = timedelta(seconds=3)  # how long a stop waits for answers that are being written
BODY_LIMIT = timedelta(seconds=10)  # from the head of a request to the end of its body
LOOKS = 10  # of which every tenth closes the connections whose time is over

START_LIMIT = timedelta(minutes=2)

HOST = "127.0.0.1"
BACKLOG = 2048  # connections that may knock at once; a thousand waiting clients come back together


def listen(what: str, host: str, port: int) -> ListeningSocket:
    """A listening socket for `what`, as errors name it; raises `ConfigError` with what to do."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        plain = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"{what} cannot listen on {host} port {port}: {error.strerror}. "
            "Name another with --port, or --port 0 for any free one."
        ) from None
    listening = ListeningSocket(plain.family, plain.type, plain.proto, plain.detach())
    # Head and body are two writes; without this the second waits 40 ms for the client's ACK.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def timely(app: ASGIApp, limit: timedelta) -> ASGIApp:
    """An application whose clients have sent their bodies after a time; who has not, is told so."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; to the application a client that is late has gone."""
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        end = asyncio.get_running_loop().time() + limit.total_seconds()
        whole = late = False

        async def received() -> Message:
            nonlocal whole, late
            try:
                # What comes after a whole body is the client's going, whenever that is.
                async with asyncio.timeout_at(None if whole else end):
                    message = await receive()
            except TimeoutError:
                late = True
                return {"type": "http.disconnect"}
            whole = not message.get("more_body")
            return message

        async def sent(message: Message) -> None:
            if not late:
                await send(message)

        await app(scope, received, sent)
        if late:
            text = f"The body did not come within {limit.total_seconds():g} s.\n"
            await PlainTextResponse(text, 408, {"Connection": "close"})(scope, receive, send)

    return answer


class Options(TypedDict, total=False):
    """What our servers differ in; see uvicorn's settings of these names."""

    timeout_keep_alive: int
    lifespan: Literal["auto", "on", "off"]
    date_header: bool
    ssl_certfile: Path
    ssl_keyfile: str
    ws: Literal["none", "websockets-sansio"]
    ws_max_size: int


class Lined(H11Protocol):
    """What serves a connection, which can be closed whatever it is doing."""

    def __init__(self, *, lines: Lines, **given: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(**given)
        self._lines = lines

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        line = self._lines.at(transport.get_extra_info("peername"))
        if line is not None:
            line.abort = transport.abort


class Server(uvicorn.Server):
    """A server that calls `on_started` when it answers, and `wake` before it stops."""

    def __init__(
        self,
        app: ASGIApp,
        wake: Callable[[], None],
        on_started: Callable[[], None],
        lines: Lines | None = None,
        **options: Unpack[Options],
    ) -> None:
        options.setdefault("ws", "none")
        self._lines = Lines() if lines is None else lines
        super().__init__(
            uvicorn.Config(
                answering(timely(app, BODY_LIMIT), self._lines),
                http=partial(Lined, lines=self._lines),  # type: ignore[arg-type]
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,  # a query string may hold a secret
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=int(GRACE.total_seconds()),
                backlog=BACKLOG,
                **options,
            )
        )
        self._wake, self.on_started = wake, on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        for door in sockets or ():
            if isinstance(door, ListeningSocket):
                door.lines = self._lines
        await super().startup(sockets)
        self.on_started()

    async def on_tick(self, counter: int) -> bool:
        """Look around, ten times a second; whether to stop."""
        if counter % LOOKS == 0:
            self._lines.sweep()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the long polls, and finish what is being answered."""
        self._wake()
        await super().shutdown(sockets)


class Background:
    """A server on a thread of its own, in a `with`; `what` names it in errors and to debuggers.

    It listens at once, at `url`; raises `ConfigError` if the port cannot be used.
    """

    def __init__(  # noqa: PLR0913 - where, and what is served
        self,
        what: str,
        app: ASGIApp,
        wake: Callable[[], None] = lambda: None,
        *,
        host: str = HOST,
        port: int = 0,
        lines: Lines | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._what, self._socket = what, listen(what, host, port)
        host, port = self._socket.getsockname()[:2]
        scheme = "https" if "ssl_certfile" in options else "http"
        self.url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
        self._ready = threading.Event()
        self._server = Server(app, wake, self._ready.set, lines, **options)
        self._thread = threading.Thread(target=self._run, name=what, daemon=True)
        self.loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> Self:
        """Serve; returns when requests are answered; raises `ConfigError` if it did not come up."""
        self._thread.start()
        if not self._ready.wait(START_LIMIT.total_seconds()) or not self._server.started:
            raise ConfigError(f"{self._what} did not start; its log says why.")
        return self

    def run(self, on_started: Callable[[], None] = lambda: None) -> None:
        """Serve in this thread until SIGINT or SIGTERM; `on_started` is called when it answers."""
        self._server.on_started = on_started
        with suppress(KeyboardInterrupt):
            self._server.run([self._socket])

    def stop(self) -> bool:
        """End it; whether it has run at all. One that has not only closes its socket."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
            return True
        self._socket.close()
        return False

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            with asyncio.Runner() as runner:
                self.loop = runner.get_loop()
                runner.run(self._server.serve([self._socket]))
        finally:
            self.loop = None
            self._ready.set()
