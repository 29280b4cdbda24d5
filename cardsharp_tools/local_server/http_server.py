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
from cardsharp_tools.local_server.connections import ConnectionLimiter, track_requests
from cardsharp_tools.local_server.listening_socket import DeferredAcceptSocket

RESPONSE_SHUTDOWN_GRACE = timedelta(
    seconds=3
)  # how long a stop waits for answers that are being written
BODY_TIMEOUT = timedelta(seconds=10)  # from the head of a request to the end of its body
TICKS_PER_SECOND = 10  # of which every tenth closes the connections whose time is over

SERVER_START_TIMEOUT = timedelta(minutes=2)

HOST = "127.0.0.1"
BACKLOG = 2048  # connections that may knock at once; a thousand waiting clients come back together


def open_listening_socket(server_name: str, host: str, port: int) -> DeferredAcceptSocket:
    """Return a listening socket; errors name the server as `server_name`.

    Raises `ConfigError`, with what to do, if the port cannot be used.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        plain = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"{server_name} cannot listen on {host} port {port}: {error.strerror}. "
            "Choose another port with --port, or any free port with --port 0."
        ) from None
    listening = DeferredAcceptSocket(plain.family, plain.type, plain.proto, plain.detach())
    # Head and body are two writes; without this the second waits 40 ms for the client's ACK.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def limit_body_time(app: ASGIApp, timeout: timedelta) -> ASGIApp:
    """Return an application that rejects requests whose body takes longer than `timeout`."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; to the application a client that is late has gone."""
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        end = asyncio.get_running_loop().time() + timeout.total_seconds()
        is_complete = late = False

        async def received() -> Message:
            nonlocal is_complete, late
            try:
                # What comes after a whole body is the client's going, whenever that is.
                async with asyncio.timeout_at(None if is_complete else end):
                    message = await receive()
            except TimeoutError:
                late = True
                return {"type": "http.disconnect"}
            is_complete = not message.get("more_body")
            return message

        async def send_unless_late(message: Message) -> None:
            if not late:
                await send(message)

        await app(scope, received, send_unless_late)
        if late:
            text = f"The request body did not arrive within {timeout.total_seconds():g} s.\n"
            await PlainTextResponse(text, 408, {"Connection": "close"})(scope, receive, send)

    return answer


class UvicornOptions(TypedDict, total=False):
    """Settings of uvicorn that differ from its defaults, by uvicorn's names."""

    timeout_keep_alive: int
    lifespan: Literal["auto", "on", "off"]
    date_header: bool
    ssl_certfile: Path
    ssl_keyfile: str
    ws: Literal["none", "websockets-sansio"]
    ws_max_size: int


class AbortableHttpProtocol(H11Protocol):
    """HTTP protocol of a connection that the limiter can close in any state."""

    def __init__(self, *, limiter: ConnectionLimiter, **args: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(**args)
        self._limiter = limiter

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection and begin the protocol."""
        super().connection_made(transport)
        connection = self._limiter.find(transport.get_extra_info("peername"))
        if connection is not None:
            connection.abort = transport.abort


class LongPollServer(uvicorn.Server):
    """Uvicorn server that calls `on_started` once it answers; it ends long polls as it stops."""

    def __init__(
        self,
        app: ASGIApp,
        end_long_polls: Callable[[], None],
        on_started: Callable[[], None],
        limiter: ConnectionLimiter | None = None,
        **options: Unpack[UvicornOptions],
    ) -> None:
        options.setdefault("ws", "none")
        self._limiter = ConnectionLimiter() if limiter is None else limiter
        super().__init__(
            uvicorn.Config(
                track_requests(limit_body_time(app, BODY_TIMEOUT), self._limiter),
                http=partial(AbortableHttpProtocol, limiter=self._limiter),  # type: ignore[arg-type]
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,  # a query string may hold a secret
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=int(RESPONSE_SHUTDOWN_GRACE.total_seconds()),
                **options,
            )
        )
        self._end_long_polls, self.on_started = end_long_polls, on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the server and call `on_started`."""
        for listener in sockets or ():
            if isinstance(listener, DeferredAcceptSocket):
                listener.connections = self._limiter
        await super().startup(sockets)
        self.on_started()

    async def on_tick(self, counter: int) -> bool:
        """Do the periodic work, ten times a second; return True to stop."""
        if counter % TICKS_PER_SECOND == 0:
            self._limiter.close_expired_and_slow()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the long polls, and finish the requests in progress."""
        self._end_long_polls()
        await super().shutdown(sockets)


class BackgroundServer:
    """Server on a thread of its own, for use in a `with` block.

    `server_name` names it in errors and to debuggers. It listens at once, at `url`. Raises
    `ConfigError` if the port cannot be used.
    """

    def __init__(  # noqa: PLR0913 - where, and what is served
        self,
        server_name: str,
        app: ASGIApp,
        end_long_polls: Callable[[], None] = lambda: None,
        *,
        host: str = HOST,
        port: int = 0,
        limiter: ConnectionLimiter | None = None,
        **options: Unpack[UvicornOptions],
    ) -> None:
        self._server_name, self._socket = (
            server_name,
            open_listening_socket(server_name, host, port),
        )
        host, port = self._socket.getsockname()[:2]
        scheme = "https" if "ssl_certfile" in options else "http"
        self.url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
        self._ready_event = threading.Event()
        self._server = LongPollServer(
            app, end_long_polls, self._ready_event.set, limiter, **options
        )
        self._thread = threading.Thread(target=self._run_server, name=server_name, daemon=True)
        self.loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> Self:
        """Start the server and return when it answers; raise `ConfigError` if it fails."""
        self._thread.start()
        if (
            not self._ready_event.wait(SERVER_START_TIMEOUT.total_seconds())
            or not self._server.started
        ):
            raise ConfigError(f"{self._server_name} did not start. Its log says why.")
        return self

    def run_in_foreground(self, on_started: Callable[[], None] = lambda: None) -> None:
        """Serve in this thread until SIGINT or SIGTERM; call `on_started` at the start."""
        self._server.on_started = on_started
        with suppress(KeyboardInterrupt):
            self._server.run([self._socket])

    def stop(self) -> bool:
        """Stop the server; return True if it has run."""
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

    def _run_server(self) -> None:
        try:
            with asyncio.Runner() as runner:
                self.loop = runner.get_loop()
                runner.run(self._server.serve([self._socket]))
        finally:
            self.loop = None
            self._ready_event.set()
