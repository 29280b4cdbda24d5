"""WebSockets of a service on this machine: a client watches a feed until it goes.

Handshakes and ends are told to the feed, and texts go out to clients.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from cardsharp.server.feed_subscriptions import NO_FEED, FeedSubscriptions
from cardsharp.server.routing import ApiResponse
from cardsharp.server.websocket_feed import InMemoryConnections

MAX_QUEUED_MESSAGES = 64  # texts that wait for one client; who is slower than that is let go
MAX_MESSAGE_BYTES = 128 * 1024  # bytes that a client may send, though nobody reads them
CLOSE_TRY_AGAIN_LATER = 1013  # the code with which a slow client is let go

_SUCCESS_STATUSES = range(200, 300)
_CLOSE_TIMEOUT_SECONDS = 1.0


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


@dataclass(frozen=True, slots=True)
class FeedEndpoint:
    """WebSocket endpoint of clients that watch a feed.

    `find_subscriptions` returns None if there is no feed.
    """

    find_subscriptions: Callable[[], FeedSubscriptions | None]
    connections: InMemoryConnections

    async def serve(self, socket: WebSocket, executor: Executor) -> None:
        """Let one client in, if its subscription is accepted, and send it texts until it goes.

        `executor` runs what may wait for a store.
        """
        subscriptions = self.find_subscriptions()
        if subscriptions is None:
            await socket.send_denial_response(_denial_response(NO_FEED))
            return
        run, connection, outbox = (
            asyncio.get_running_loop().run_in_executor,
            uuid4().hex,
            SendQueue(),
        )
        parameters = {**socket.headers, **socket.query_params}
        source = socket.client.host if socket.client else ""
        # From before the feed knows of it, so that nothing is lost.
        self.connections.add(connection, outbox.put, outbox.close)
        try:
            answered = await run(executor, subscriptions.connect, connection, parameters, source)
            if answered.status not in _SUCCESS_STATUSES:
                await socket.send_denial_response(_denial_response(answered))
                return
            await socket.accept()
            await _serve_until_closed(socket, outbox)
        finally:
            self.connections.remove(connection)
            await run(executor, subscriptions.disconnect, connection)


def _denial_response(answered: ApiResponse) -> Response:
    body = answered.body
    return Response(body if isinstance(body, str) else body.model_dump_json(), answered.status)


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
