"""An HTTP API on this machine: each request becomes an event for a function in this process.

with HttpFront(Function("api", handler, timeout)) as front:
    requests.get(f"{front.url}/v2/version")
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import Literal
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sockets import MemorySockets
from cardsharp.web.request import caller_at
from workbench.cloud.context import Function, LambdaContext, invoke
from workbench.cloud.events import Event
from workbench.cloud.http_events import FAILED, Answered, WireRequest, http_event, read_answer
from workbench.cloud.socket_front import MAX_MESSAGE, SocketGateway
from workbench.listening import Background, Server, listen, url_of

HOST = "127.0.0.1"
CONCURRENCY = 256  # invocations at once, of which most are in a long poll; others wait

CONCURRENCY_OF_ONE = 64
"""Of one caller: more of its requests wait for each other, and for nobody else."""

MAX_BODY = 1_000_000  # bytes of the largest request body that is passed on

KEEP_ALIVE = 60
"""Seconds that an idle connection lasts: a client that thinks must not find it just closing."""

BACKLOG = 512  # connections that may knock at once

_TOO_LONG = Answered(413, (("Content-Type", "application/json"),), b'{"message":"Too Long"}')
_log = logging.getLogger(__name__)


class HttpGateway:
    """The ASGI application: what API Gateway does between a client and a function."""

    def __init__(
        self, function: Function, clock: Clock, sockets: MemorySockets | None = None
    ) -> None:
        self._function, self._clock = function, clock
        self._sockets = None if sockets is None else SocketGateway(self._invoked, sockets)
        self._threads = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix=function.name)
        self._running: set[LambdaContext] = set()
        self._lines: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or serve one client that watches."""
        if scope["type"] == "websocket":
            if self._sockets is not None:
                await self._sockets.serve(WebSocket(scope, receive, send))
            return
        request = Request(scope, receive)
        with suppress(ClientDisconnect):
            answered = await self._answer(request)
            response = Response(answered.body, answered.status)
            # Exactly the function's headers, and the length that Starlette counted.
            for name, value in answered.headers:
                response.headers.append(name, value)
            await response(scope, receive, send)

    def hurry(self) -> None:
        """Let the time of every running invocation be over, so that long polls answer."""
        for context in list(self._running):
            context.cut_short()

    async def _answer(self, request: Request) -> Answered:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                return _TOO_LONG
        asked = _asked(request, bytes(body))
        async with self._line(caller_at(asked.source)):
            return await self._invoked(http_event(asked, self._clock.now()))

    def _line(self, caller: str | None) -> AbstractAsyncContextManager[object]:
        """Where a caller's requests wait for each other; this machine's do not."""
        if caller is None:
            return nullcontext()
        return self._lines.setdefault(caller, asyncio.Semaphore(CONCURRENCY_OF_ONE))

    async def _invoked(self, event: Event) -> Answered:
        """What the function answers to an event."""
        context = self._function.context(self._clock)
        self._running.add(context)
        try:
            invocation = await asyncio.get_running_loop().run_in_executor(
                self._threads, invoke, self._function, event, context, self._clock
            )
        finally:
            self._running.discard(context)
        if invocation.error is not None:
            _log.error("%s failed: %s", invocation.function, invocation.error)
            return FAILED
        return read_answer(invocation.answer)


def _asked(request: Request, body: bytes) -> WireRequest:
    raw_path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    query: bytes = request.scope["query_string"]
    target = raw_path + (b"?" + query if query else b"")
    return WireRequest(
        method=request.method,
        target=target.decode("latin-1"),
        headers=tuple(request.headers.items()),
        body=body,
        source=request.client.host if request.client else HOST,
    )


class HttpFront(Background):
    """An HTTP API on a thread of its own; a context manager that starts and stops it.

    A stop ends the long polls and finishes what is being answered. With `sockets` it serves clients
    that watch, too, at the same address. Raises `ConfigError` if the port cannot be used.
    """

    def __init__(
        self,
        function: Function,
        port: int = 0,
        host: str = HOST,
        clock: Clock | None = None,
        sockets: MemorySockets | None = None,
    ) -> None:
        self._gateway = HttpGateway(function, clock or SystemClock(), sockets)
        self._ws: Literal["none", "websockets-sansio"]
        self._ws = "none" if sockets is None else "websockets-sansio"
        listening = listen("The HTTP front", host, port, BACKLOG)
        self.url = url_of(listening)
        super().__init__("The HTTP front", listening, self._made)

    def run(self) -> None:
        """Serve in this thread until SIGINT or SIGTERM."""
        self._made(lambda: None).until_stopped(self._socket)

    def _made(self, on_started: Callable[[], None]) -> Server:
        return Server(
            self._gateway,
            self._gateway.hurry,
            on_started,
            lifespan="off",
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE,
            ws=self._ws,
            ws_max_size=MAX_MESSAGE,
        )
