"""Lambda handler for a game's HTTP service that is an ASGI application.

A Lambda function answers one event at a time, so it has one event loop, which it keeps. In tests
several threads answer several events, each with a loop of its own.
docs/decisions/0017-the-arena-in-the-cloud.md says why this is not a third-party library.
"""

import asyncio
import base64
import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.types import ASGIApp, Message

from cardsharp.errors import InvalidInput
from cardsharp.server.gateway_events import (
    GatewayEvent,
    GatewayResponse,
    LambdaContext,
    LambdaHandler,
    with_event_validation,
)
from cardsharp.server.gateway_request import GatewayRequest, event_body, make_remaining_wait
from cardsharp.server.lambda_handler import log_failure
from cardsharp.server.request_parsing import Json

MIN_COMPRESS_BYTES = 100_000  # bytes from which bodies are compressed, which an HTTP API never does
MAX_RESPONSE_BYTES = (
    6_000_000  # characters of the largest answer: a little less than Lambda lets through
)

_TEXT_TYPE_PREFIXES = ("text/", "application/json", "image/svg")
_TOO_LARGE_BODY = b'{"error":"The response is too large. Request less, for example by filters."}'
_INTERNAL_ERROR_BODY = b'{"error":"Internal Server Error."}'
_JSON_HEADERS = ((b"content-type", b"application/json; charset=utf-8"),)

Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AsgiService:
    """HTTP service of a game as an ASGI application; attributes as in `HttpService`."""

    store_setting: str
    build_application: Callable[[Mapping[str, str]], ASGIApp]
    base_path: str = ""
    websocket_feed: None = None
    supports_invites: bool = False

    def build_handler(self, environment: Mapping[str, str]) -> LambdaHandler:
        """Return the handler for an environment; raise `ConfigError` if it is invalid."""
        return lambda_handler_for_asgi(self.build_application(environment))

    def openapi_documents(self) -> Mapping[str, Json]:
        """Return nothing, because the application serves its own documents."""
        return {}


def lambda_handler_for_asgi(application: ASGIApp) -> LambdaHandler:
    """Return the handler that answers events with an ASGI application."""

    def answer(event: GatewayEvent, context: LambdaContext) -> GatewayResponse:
        exchange = _AsgiExchange(event)
        try:
            with _event_loops.borrow() as loop:
                loop.run(exchange.carry_out(application, context))
        except InvalidInput as error:
            body = json.dumps({"error": str(error)}).encode()
            return _build_response(HTTPStatus.BAD_REQUEST, _JSON_HEADERS, body)
        except Exception as error:  # noqa: BLE001 - the edge: a client gets an answer in any case
            log_failure(error)
        return exchange.response()

    return with_event_validation(answer)


class _EventLoops:
    """Event loops that are kept from one event to the next, as a new one costs 0.1 ms."""

    def __init__(self) -> None:
        self._idle: list[asyncio.Runner] = []

    @contextmanager
    def borrow(self) -> Iterator[asyncio.Runner]:
        """Yield a loop that nobody else uses meanwhile."""
        try:
            loop = self._idle.pop()
        except IndexError:
            # A factory, because without one the thread's default event loop would change.
            loop = asyncio.Runner(loop_factory=asyncio.new_event_loop)
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

    async def carry_out(self, application: ASGIApp, context: LambdaContext) -> None:
        """Run the application; raise `InvalidInput` if the request's body cannot be read."""
        self.unread.append(event_body(self.event))
        request = GatewayRequest(self.event)
        cookies = self.event.get("cookies") or ()
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "https",
            "path": request.path,
            "raw_path": request.path.encode(),
            "query_string": str(self.event.get("rawQueryString") or "").encode(),
            "headers": [
                (name.lower().encode(), value.encode())
                for name, value in (self.event.get("headers") or {}).items()
            ]
            # API Gateway takes them out of the headers.
            + [(b"cookie", "; ".join(cookies).encode())] * bool(cookies),
            "client": (self.event["requestContext"]["http"].get("sourceIp"), 0),
            "state": {"time_left": make_remaining_wait(context)},
        }
        try:
            await application(scope, self._receive, self._send)
        finally:
            await _cancel_other_tasks()  # else they would go on while the next event is answered

    def response(self) -> GatewayResponse:
        """Return the response of the application."""
        body, headers = bytes(self.body), list(self.headers)
        if len(body) > MIN_COMPRESS_BYTES and "gzip" in (
            GatewayRequest(self.event).header("accept-encoding") or ""
        ):
            headers = [(name, value) for name, value in headers if name != b"content-length"]
            headers.append((b"content-encoding", b"gzip"))
            body = gzip.compress(body, compresslevel=5)
        return _build_response(self.status, headers, body)

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
