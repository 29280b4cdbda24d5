"""Threads for the requests of an application that blocks its event loop.

The arena of the cloud reads its table while it answers. A function answers one request at a time,
so there that delays nobody. A server on this machine answers many clients with one event loop.
"""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cardsharp.server.failure_log import log_failure
from cardsharp.server.routing import RequestState


def run_in_threads(app: ASGIApp) -> ASGIApp:
    """Return an application that answers each request on an event loop and thread of its own.

    The server must have read the whole body, and must run use cases in threads, as
    `RequestLimiter` does. A client that disconnects is not noticed.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        state: RequestState = scope["state"]
        body = await receive()
        # Without the rest of the state: what the server's connections offer is for its loop alone.
        request_scope = {**scope, "state": {"time_left": state["time_left"]}}
        messages = await state["run_use_case"](
            lambda: asyncio.run(_collect_response(app, request_scope, body))
        )
        for message in messages:
            await send(message)

    return answer


async def _collect_response(app: ASGIApp, scope: Scope, body: Message) -> list[Message]:
    """Return what the application sends; its error is logged if it has sent a response to it."""
    unread, messages = [body], list[Message]()

    async def receive() -> Message:
        if not unread:
            await asyncio.Event().wait()
        return unread.pop()

    async def send(message: Message) -> None:
        messages.append(message)

    try:
        await app(scope, receive, send)
    except Exception as error:
        if not messages:
            raise
        log_failure(error)
    return messages
