"""A WebSocket API on this machine: handshakes and ends become events, texts go out to clients."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from cardsharp.cloud.sockets import MemorySockets
from workbench.cloud.events import REGION
from workbench.cloud.http_events import Answered

MOST_WAITING = 64  # texts that wait for one client; who is slower than that is let go

MAX_MESSAGE = 128 * 1024
"""Bytes of the largest message that a client may send, though nobody reads it; as API Gateway."""

TRY_AGAIN = 1013  # the code with which a slow client is let go

_OK = range(200, 300)
_CLOSING = 1.0

Ask = Callable[[dict[str, Any]], Awaitable[Answered]]  # has the function answer an event


class Outbox:
    """Texts on their way to one client; any thread may put one there."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._texts: asyncio.Queue[str] = asyncio.Queue()
        self._lock = threading.Lock()
        self._waiting = 0
        self.ended = asyncio.Event()

    def put(self, text: str) -> bool:
        """Put a text there, at once; return False where too many wait, or nobody sends any."""
        with self._lock:
            if self._waiting >= MOST_WAITING:
                return False
            self._waiting += 1
        return self._soon(lambda: self._texts.put_nowait(text))

    def end(self) -> None:
        """Have nothing sent any more."""
        self._soon(self.ended.set)

    async def send(self, socket: WebSocket) -> None:
        """Send what comes, for ever."""
        while True:
            text = await self._texts.get()
            await socket.send_text(text)
            with self._lock:
                self._waiting -= 1

    def _soon(self, act: Callable[[], None]) -> bool:
        try:
            self._loop.call_soon_threadsafe(act)
        except RuntimeError:  # the server has ended
            return False
        return True


class SocketGateway:
    """What a WebSocket API of API Gateway does between a client and a function."""

    def __init__(self, ask: Ask, sockets: MemorySockets) -> None:
        self._ask, self._sockets = ask, sockets

    async def serve(self, socket: WebSocket) -> None:
        """Let one client in, if the function does, and send it what comes until it goes."""
        connection, outbox = uuid4().hex, Outbox()
        # From before the function knows of it, so that nothing is lost.
        self._sockets.opened(connection, outbox.put, outbox.end)
        try:
            answered = await self._ask(_event("$connect", connection, socket))
            if answered.status not in _OK:
                await socket.send_denial_response(Response(answered.body, answered.status))
                return
            await socket.accept()
            await _until_it_goes(socket, outbox)
        finally:
            self._sockets.closed(connection)
            await self._ask(_event("$disconnect", connection, socket))


async def _until_it_goes(socket: WebSocket, outbox: Outbox) -> None:
    """Send texts until the client goes, or is let go."""
    tasks = [
        asyncio.ensure_future(one)
        for one in (_listen(socket), outbox.send(socket), outbox.ended.wait())
    ]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if outbox.ended.is_set():
        # One that reads nothing cannot be told so; the server then breaks the connection off.
        with suppress(TimeoutError, RuntimeError, WebSocketDisconnect):
            await asyncio.wait_for(socket.close(TRY_AGAIN), _CLOSING)


async def _listen(socket: WebSocket) -> None:
    """Read what the client says, which nobody asked for, until it goes."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def _event(route: str, connection: str, socket: WebSocket) -> dict[str, Any]:
    """The event of a handshake or of an end; what is empty is absent, as there."""
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
