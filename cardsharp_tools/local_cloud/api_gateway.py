"""An HTTP API on this machine: requests become events for a function in this process.

Of a WebSocket API handshakes and ends do, and texts go out to clients.

with HttpFront(Function("api", handler, timeout)) as front:
    requests.get(f"{front.url}/v2/version")
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from cardsharp.core.clock import Clock, SystemClock
from cardsharp.server.client_address import client_address_of
from cardsharp.server.websocket_feed import InMemoryConnections
from cardsharp_tools.local_cloud.api_gateway_events import (
    INTERNAL_ERROR_RESPONSE,
    HttpRequest,
    HttpResponse,
    parse_response,
    to_event,
)
from cardsharp_tools.local_cloud.lambda_events import (
    REGION,
    Event,
    LambdaFunction,
    LocalLambdaContext,
    invoke,
)
from cardsharp_tools.local_server.http_server import HOST, BackgroundServer

MAX_CONCURRENCY = 256  # invocations at once, of which most are in a long poll; others wait
MAX_CONCURRENCY_PER_CLIENT = 64  # of one caller: more of its requests wait, for each other alone
MAX_GATEWAY_BODY_BYTES = 1_000_000  # bytes of the largest request body that is passed on
GATEWAY_KEEP_ALIVE_SECONDS = (
    60  # seconds of an idle connection: who thinks must not find it just closing
)

_TOO_LONG_RESPONSE = HttpResponse(
    413, (("Content-Type", "application/json"),), b'{"message":"Too Long"}'
)
_log = logging.getLogger(__name__)

MAX_QUEUED_MESSAGES = 64  # texts that wait for one client; who is slower than that is let go
MAX_MESSAGE_BYTES = 128 * 1024  # bytes that a client may send, though nobody reads them
CLOSE_TRY_AGAIN_LATER = 1013  # the code with which a slow client is let go

_SUCCESS_STATUSES = range(200, 300)
_CLOSE_TIMEOUT_SECONDS = 1.0

Invoke = Callable[[dict[str, Any]], Awaitable[HttpResponse]]  # has the function answer an event


class SendQueue:
    """Queue of texts to send to one WebSocket client; any thread may add one."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._texts: asyncio.Queue[str] = asyncio.Queue()
        self._lock = threading.Lock()
        self._queued_text_count = 0
        self.is_closed = asyncio.Event()

    def put(self, text: str) -> bool:
        """Add a text without waiting; return False if the queue is full or closed."""
        with self._lock:
            if self._queued_text_count >= MAX_QUEUED_MESSAGES:
                return False
            self._queued_text_count += 1
        return self._schedule_in_loop(lambda: self._texts.put_nowait(text))

    def close(self) -> None:
        """Send no more texts."""
        self._schedule_in_loop(self.is_closed.set)

    async def send(self, socket: WebSocket) -> None:
        """Send texts as they arrive, without end."""
        while True:
            text = await self._texts.get()
            await socket.send_text(text)
            with self._lock:
                self._queued_text_count -= 1

    def _schedule_in_loop(self, callback: Callable[[], None]) -> bool:
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:  # the server has ended
            return False
        return True


async def serve_websocket(socket: WebSocket, invoke: Invoke, sockets: InMemoryConnections) -> None:
    """Serve one client as a WebSocket API of API Gateway does.

    Let the client in, if the function does, and send it what comes until it goes.
    """
    connection, outbox = uuid4().hex, SendQueue()
    # From before the function knows of it, so that nothing is lost.
    sockets.add(connection, outbox.put, outbox.close)
    try:
        answered = await invoke(_build_websocket_event("$connect", connection, socket))
        if answered.status not in _SUCCESS_STATUSES:
            await socket.send_denial_response(Response(answered.body, answered.status))
            return
        await socket.accept()
        await _serve_until_closed(socket, outbox)
    finally:
        sockets.remove(connection)
        await invoke(_build_websocket_event("$disconnect", connection, socket))


async def _serve_until_closed(socket: WebSocket, outbox: SendQueue) -> None:
    """Send texts until the client disconnects or the server closes the connection."""
    tasks = [
        asyncio.ensure_future(coroutine)
        for coroutine in (
            _drain_client_messages(socket),
            outbox.send(socket),
            outbox.is_closed.wait(),
        )
    ]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if outbox.is_closed.is_set():
        # One that reads nothing cannot be told so; the server then breaks the connection off.
        with suppress(TimeoutError, RuntimeError, WebSocketDisconnect):
            await asyncio.wait_for(socket.close(CLOSE_TRY_AGAIN_LATER), _CLOSE_TIMEOUT_SECONDS)


async def _drain_client_messages(socket: WebSocket) -> None:
    """Read and ignore the client's messages until it disconnects."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def _build_websocket_event(route: str, connection: str, socket: WebSocket) -> dict[str, Any]:
    """Return the event of a handshake or of a disconnection.

    Empty fields are absent, as in API Gateway.
    """
    about = {
        "routeKey": route,
        "eventType": route.removeprefix("$").upper(),
        "connectionId": connection,
        "domainName": f"local.execute-api.{REGION}.amazonaws.com",
        "stage": "live",
        "apiId": "local",
        "requestId": str(uuid4()),
        "identity": {"sourceIp": socket.client.host if socket.client else ""},
    }
    event: dict[str, Any] = {"requestContext": about, "isBase64Encoded": False}
    if route != "$connect":
        return event
    event["headers"] = dict(socket.headers)
    if socket.query_params:
        event["queryStringParameters"] = dict(socket.query_params)
    return event


class HttpGateway:
    """ASGI application that does what API Gateway does between client and function."""

    def __init__(
        self, function: LambdaFunction, clock: Clock, sockets: InMemoryConnections | None = None
    ) -> None:
        self._function, self._clock, self._sockets = function, clock, sockets
        self._invocation_pool = ThreadPoolExecutor(
            MAX_CONCURRENCY, thread_name_prefix=function.name
        )
        self._running_contexts: set[LocalLambdaContext] = set()
        self._semaphores_by_client: WeakValueDictionary[str, asyncio.Semaphore] = (
            WeakValueDictionary()
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or serve one client that watches."""
        if scope["type"] == "websocket":
            if self._sockets is not None:
                await serve_websocket(
                    WebSocket(scope, receive, send), self._invoke_function, self._sockets
                )
            return
        request = Request(scope, receive)
        with suppress(ClientDisconnect):
            answered = await self._handle_request(request)
            response = Response(answered.body, answered.status)
            # Exactly the function's headers, and the length that Starlette counted.
            for name, value in answered.headers:
                response.headers.append(name, value)
            await response(scope, receive, send)

    def expire_all_invocations(self) -> None:
        """Expire all running invocations, so that long polls return."""
        for context in list(self._running_contexts):
            context.expire()

    async def _handle_request(self, request: Request) -> HttpResponse:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_GATEWAY_BODY_BYTES:
                return _TOO_LONG_RESPONSE
        http_request = _to_http_request(request, bytes(body))
        # A caller's requests wait for each other; this machine's do not.
        semaphore: AbstractAsyncContextManager[object] = nullcontext()
        if caller := client_address_of(http_request.source_ip):
            semaphore = self._semaphores_by_client.setdefault(
                caller, asyncio.Semaphore(MAX_CONCURRENCY_PER_CLIENT)
            )
        async with semaphore:
            return await self._invoke_function(to_event(http_request, self._clock.now()))

    async def _invoke_function(self, event: Event) -> HttpResponse:
        """Return the function's response to an event, or `INTERNAL_ERROR_RESPONSE` if it fails."""
        context = self._function.context(self._clock)
        self._running_contexts.add(context)
        try:
            invocation = await asyncio.get_running_loop().run_in_executor(
                self._invocation_pool, invoke, self._function, event, context
            )
        finally:
            self._running_contexts.discard(context)
        if invocation.error is not None:
            _log.error("%s failed: %s", invocation.function, invocation.error)
            return INTERNAL_ERROR_RESPONSE
        return parse_response(invocation.response)


def _to_http_request(request: Request, body: bytes) -> HttpRequest:
    raw_path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    query: bytes = request.scope["query_string"]
    target = raw_path + (b"?" + query if query else b"")
    return HttpRequest(
        method=request.method,
        target=target.decode("latin-1"),
        headers=tuple(request.headers.items()),
        body=body,
        source_ip=request.client.host if request.client else HOST,
    )


class ApiGatewayServer(BackgroundServer):
    """An HTTP API on a thread of its own; a context manager that starts and stops it.

    A stop ends the long polls and finishes what is being answered. With `sockets` it serves clients
    that watch, too, at the same address. Raises `ConfigError` if the port cannot be used.
    """

    def __init__(
        self,
        function: LambdaFunction,
        port: int = 0,
        host: str = HOST,
        clock: Clock | None = None,
        sockets: InMemoryConnections | None = None,
    ) -> None:
        gateway = HttpGateway(function, clock or SystemClock(), sockets)
        super().__init__(
            "The HTTP front",
            gateway,
            gateway.expire_all_invocations,
            host=host,
            port=port,
            lifespan="off",
            date_header=False,
            timeout_keep_alive=GATEWAY_KEEP_ALIVE_SECONDS,
            ws="none" if sockets is None else "websockets-sansio",
            ws_max_size=MAX_MESSAGE_BYTES,
        )
