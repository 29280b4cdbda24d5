"""The one adapter from the events of API Gateway to an ASGI application.

A Lambda function answers one event at a time, so it has one event loop, which it keeps. In tests
several threads answer several events, each with a loop of its own.
docs/decisions/0017-the-arena-in-the-cloud.md says why this is not a third-party library.
"""

import asyncio
import base64
import binascii
import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urlencode

from starlette.types import ASGIApp, Message, Scope

from cardsharp.core.clock import RemainingTime
from cardsharp.errors import InvalidInput
from cardsharp.server.failure_log import log_failure
from cardsharp.server.gateway_events import (
    GatewayEvent,
    GatewayResponse,
    LambdaContext,
    LambdaHandler,
    with_event_validation,
)
from cardsharp.server.routing import (
    MAX_LONG_POLL,
    RESPONSE_MARGIN,
    RequestState,
)

MIN_COMPRESS_BYTES = 100_000  # bytes from which bodies are compressed, which an HTTP API never does
MAX_RESPONSE_BYTES = (
    6_000_000  # characters of the largest answer: a little less than Lambda lets through
)

_DEFAULT_STAGE = "$default"
_TEXT_TYPE_PREFIXES = ("text/", "application/json", "image/svg")
_TOO_LARGE_BODY = b'{"error":"The response is too large. Request less, for example by filters."}'
_INTERNAL_ERROR_BODY = b'{"error":"Internal Server Error."}'
_JSON_HEADERS = ((b"content-type", b"application/json; charset=utf-8"),)

Headers = Iterable[tuple[bytes, bytes]]
T = TypeVar("T")


def lambda_handler_for_asgi(
    application: ASGIApp, websocket_handler: LambdaHandler | None = None
) -> LambdaHandler:
    """Return the handler that answers events with an ASGI application.

    Events of a WebSocket API go to `websocket_handler`; without one they are rejected.
    """

    def answer(event: GatewayEvent, context: LambdaContext) -> GatewayResponse:
        if websocket_handler is not None and "connectionId" in event["requestContext"]:
            return websocket_handler(event, context)
        exchange = _AsgiExchange(event)
        try:
            with _event_loops.borrow() as loop:
                exchange.carry_out(application, context, loop)
        except InvalidInput as error:
            body = json.dumps({"error": str(error)}).encode()
            return _build_response(HTTPStatus.BAD_REQUEST, _JSON_HEADERS, body)
        except Exception as error:  # noqa: BLE001 - the edge: a client gets an answer in any case
            log_failure(error)
        return exchange.response()

    return with_event_validation(answer, accept_websockets=websocket_handler is not None)


class _EventLoops:
    """Event loops that are kept from one event to the next, as a new one costs 0.1 ms."""

    def __init__(self) -> None:
        self._idle: list[asyncio.AbstractEventLoop] = []

    @contextmanager
    def borrow(self) -> Iterator[asyncio.AbstractEventLoop]:
        """Yield a loop that nobody else uses meanwhile."""
        try:
            loop = self._idle.pop()
        except IndexError:
            loop = asyncio.new_event_loop()
        try:
            yield loop
        finally:
            self._idle.append(loop)


_event_loops = _EventLoops()


@dataclass(slots=True)
class _AsgiExchange:
    """Request to an ASGI application, and the response to it."""

    event: GatewayEvent
    status: int = HTTPStatus.INTERNAL_SERVER_ERROR
    headers: Headers = _JSON_HEADERS
    body: bytearray = field(default_factory=lambda: bytearray(_INTERNAL_ERROR_BODY))
    unread: list[bytes] = field(default_factory=list)
    use_cases: list[Callable[[], None]] = field(default_factory=list)

    def carry_out(
        self, application: ASGIApp, context: LambdaContext, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Run the application; raise `InvalidInput` if the request's body cannot be read.

        A use case runs between two runs of the loop. It needs no thread, because there is nobody
        else to answer meanwhile.
        """
        self.unread.append(_read_body(self.event))
        state: RequestState = {
            "time_left": _make_remaining_wait(context),
            "run_use_case": self._run_use_case,
        }
        running = loop.create_task(self._run(application, _build_scope(self.event, state)))
        running.add_done_callback(lambda _: loop.stop())
        while not running.done():
            loop.run_forever()
            while self.use_cases:
                self.use_cases.pop()()
        running.result()

    def response(self) -> GatewayResponse:
        """Return the response of the application."""
        body, headers = bytes(self.body), list(self.headers)
        accepted = ",".join(
            value.decode() for name, value in _headers_of(self.event) if name == b"accept-encoding"
        )
        if len(body) > MIN_COMPRESS_BYTES and "gzip" in accepted:
            headers = [(name, value) for name, value in headers if name != b"content-length"]
            headers.append((b"content-encoding", b"gzip"))
            body = gzip.compress(body, compresslevel=5)
        return _build_response(self.status, headers, body)

    async def _run(self, application: ASGIApp, scope: Scope) -> None:
        try:
            await application(scope, self._receive, self._send)
        finally:
            await _cancel_other_tasks()  # else they would go on while the next event is answered

    async def _run_use_case(self, use_case: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                result.set_result(use_case())
            except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
                result.set_exception(error)

        self.use_cases.append(run)
        loop.stop()
        return await result

    async def _receive(self) -> Message:
        if not self.unread:
            await asyncio.Event().wait()  # Lambda does not report that a client has disconnected
        return {"type": "http.request", "body": self.unread.pop(), "more_body": False}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], message["headers"]
            self.body.clear()
        else:
            self.body += message.get("body", b"")


def _build_scope(event: GatewayEvent, state: RequestState) -> Scope:
    """Return the scope of an event's request."""
    http, stage = event["requestContext"]["http"], event["requestContext"].get("stage")
    path = str(event["rawPath"])
    path = path if stage in {None, "", _DEFAULT_STAGE} else path.removeprefix(f"/{stage}")
    query = event.get("rawQueryString")
    if query is None:  # an event made by hand; in these API Gateway has joined what repeats
        query = urlencode(event.get("queryStringParameters") or {})
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": str(http["method"]).upper(),
        "scheme": "https",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": _headers_of(event),
        "client": (http.get("sourceIp"), 0),
        "state": state,
    }


def _headers_of(event: GatewayEvent) -> list[tuple[bytes, bytes]]:
    headers, cookies = event.get("headers") or {}, event.get("cookies") or ()
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    # API Gateway takes the cookies out of the headers.
    return pairs + [(b"cookie", "; ".join(cookies).encode())] * bool(cookies)


def _read_body(event: GatewayEvent) -> bytes:
    """Return an event's body of any size; raise `InvalidInput` if it is no base64 or text."""
    try:
        raw = (event.get("body") or "").encode()
        return base64.b64decode(raw, validate=True) if event.get("isBase64Encoded") else raw
    except (binascii.Error, UnicodeEncodeError):
        raise InvalidInput("The body is not valid text.") from None


def _make_remaining_wait(context: LambdaContext) -> RemainingTime:
    """Return a function that tells how long a long poll may still wait, from this call on."""
    end = context.get_remaining_time_in_millis()
    wait = min(MAX_LONG_POLL, timedelta(milliseconds=end) - RESPONSE_MARGIN)

    def remaining() -> timedelta:
        passed = timedelta(milliseconds=end - context.get_remaining_time_in_millis())
        return wait - passed

    return remaining


async def _cancel_other_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _build_response(status: int, headers: Headers, body: bytes) -> GatewayResponse:
    joined: dict[str, str] = {}
    cookies = [value.decode("latin-1") for name, value in headers if name == b"set-cookie"]
    for raw_name, value in headers:
        name = raw_name.decode("latin-1")
        if name == "set-cookie":
            continue  # one cannot be joined with another
        prefix = f"{joined[name]}, " if name in joined else ""
        joined[name] = prefix + value.decode("latin-1")
    is_text = (
        joined.get("content-type", "").startswith(_TEXT_TYPE_PREFIXES)
        and "content-encoding" not in joined
    )
    body_text = body.decode() if is_text else base64.b64encode(body).decode()
    if len(json.dumps(body_text)) > MAX_RESPONSE_BYTES:
        return _build_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _JSON_HEADERS, _TOO_LARGE_BODY)
    return {
        "statusCode": int(status),
        "headers": joined,
        "body": body_text,
        "isBase64Encoded": not is_text,
        **({"cookies": cookies} if cookies else {}),
    }
