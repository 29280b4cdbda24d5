"""A game's HTTP service on this machine: its application, with the limits that a gateway has.

with ServiceServer(application) as server:
    requests.get(f"{server.url}/v2/version")
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from datetime import timedelta
from http import HTTPStatus
from typing import TypeVar
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from cardsharp.core.clock import Clock, RemainingTime, SystemClock
from cardsharp.server.client_address import client_address_of
from cardsharp.server.limited_body import read_limited_body
from cardsharp.server.routing import MAX_LONG_POLL, RequestState
from cardsharp_tools.local_server.feed_endpoint import MAX_MESSAGE_BYTES, FeedEndpoint
from cardsharp_tools.local_server.http_server import HOST, BackgroundServer

MAX_CONCURRENCY = 256  # use cases at once, of which most are in a long poll; others wait
MAX_CONCURRENCY_PER_CLIENT = 64  # of one caller: more of its requests wait, for each other alone
MAX_SERVICE_BODY_BYTES = 1_000_000  # bytes of the largest request body that is passed on
SERVICE_KEEP_ALIVE_SECONDS = (
    60  # seconds of an idle connection: who thinks must not find it just closing
)

ANY_FREE_PORT = (HOST, 0)  # where to listen, host and port: any free one of this machine

T = TypeVar("T")


class RequestLimiter:
    """ASGI application that passes requests on to another one, within the limits of a gateway."""

    def __init__(
        self, application: ASGIApp, clock: Clock, feed_endpoint: FeedEndpoint | None = None
    ) -> None:
        self._application, self._clock, self._feed_endpoint = application, clock, feed_endpoint
        self._pool = ThreadPoolExecutor(MAX_CONCURRENCY, thread_name_prefix="use case")
        self._semaphores_by_client: WeakValueDictionary[str, asyncio.Semaphore] = (
            WeakValueDictionary()
        )
        self._is_stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or serve one client that watches."""
        if scope["type"] == "websocket":
            if self._feed_endpoint is not None:
                await self._feed_endpoint.serve(WebSocket(scope, receive, send), self._pool)
            return
        with suppress(ClientDisconnect):
            body = await read_limited_body(Request(scope, receive), MAX_SERVICE_BODY_BYTES)
            if body is None:
                status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                await JSONResponse({"message": "Too Long"}, status)(scope, receive, send)
                return
            # A caller's requests wait for each other; this machine's do not.
            semaphore: AbstractAsyncContextManager[object] = nullcontext()
            if caller := client_address_of((scope.get("client") or (None,))[0]):
                semaphore = self._semaphores_by_client.setdefault(
                    caller, asyncio.Semaphore(MAX_CONCURRENCY_PER_CLIENT)
                )
            async with semaphore:
                state: RequestState = {
                    "time_left": self._make_remaining_wait(),
                    "run_use_case": self._run_use_case,
                }
                scope = {**scope, "state": {**scope.get("state", {}), **state}}
                await self._application(scope, _receive_again(body, receive), send)

    def end_long_polls(self) -> None:
        """Leave requests no time, so that long polls return."""
        self._is_stopping = True

    def _make_remaining_wait(self) -> RemainingTime:
        end = self._clock.monotonic() + MAX_LONG_POLL.total_seconds()
        return lambda: timedelta(seconds=0 if self._is_stopping else end - self._clock.monotonic())

    async def _run_use_case(self, use_case: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, use_case)


def _receive_again(body: bytes, receive: Receive) -> Receive:
    """Return what receives a body that was read already, and then the client's going."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return unread.pop() if unread else await receive()

    return received


class ServiceServer(BackgroundServer):
    """A service on a thread of its own; a context manager that starts and stops it.

    A stop ends the long polls and finishes what is being answered. With `feed_endpoint` it serves
    clients that watch, too, at the same address. Raises `ConfigError` if the port cannot be used.
    """

    def __init__(
        self,
        application: ASGIApp,
        address: tuple[str, int] = ANY_FREE_PORT,
        *,
        clock: Clock | None = None,
        feed_endpoint: FeedEndpoint | None = None,
    ) -> None:
        limiter = RequestLimiter(application, clock or SystemClock(), feed_endpoint)
        host, port = address
        super().__init__(
            "The HTTP service",
            limiter,
            limiter.end_long_polls,
            host=host,
            port=port,
            lifespan="off",
            date_header=False,
            timeout_keep_alive=SERVICE_KEEP_ALIVE_SECONDS,
            ws="none" if feed_endpoint is None else "websockets-sansio",
            ws_max_size=MAX_MESSAGE_BYTES,
        )
