"""Requests and responses of an HTTP API's Lambda function (format 2.0)."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Protocol

from cardsharp.server.request_parsing import is_valid_text

GatewayEvent = dict[str, Any]  # a request
GatewayResponse = dict[str, Any]  # an answer: `statusCode`, `headers`, `body`, `isBase64Encoded`


class LambdaContext(Protocol):
    """The part of an invocation's context that is used here."""

    def get_remaining_time_in_millis(self) -> int:
        """Return how much time the invocation has, in milliseconds."""


LambdaHandler = Callable[
    [GatewayEvent, LambdaContext], GatewayResponse
]  # several threads may call it at once

_JSON_HEADERS = {"Content-Type": "application/json"}
_INVALID_EVENT_MESSAGE = (
    "This function expects an event of an HTTP API (format 2.0){also}: {part} must be {kind}."
)


def gateway_response(
    status: int, body: str, headers: Mapping[str, str] = _JSON_HEADERS
) -> GatewayResponse:
    """Return a response with that text."""
    response = {"statusCode": int(status), "headers": dict(headers), "body": body}
    return {**response, "isBase64Encoded": False}


def with_event_validation(
    handler: LambdaHandler, *, accept_websockets: bool = False
) -> LambdaHandler:
    """Return the handler, called only for valid events; any other gets a 400.

    API Gateway sends only valid events, but a person who invokes the function may send
    anything. With `accept_websockets` events of a WebSocket API are valid, too.
    """
    also = " or of a WebSocket API" if accept_websockets else ""

    def answer(event: GatewayEvent, context: LambdaContext) -> GatewayResponse:
        fault = _find_invalid_part(event, accept_websockets=accept_websockets)
        if fault is None:
            return handler(event, context)
        field_path, kind = fault
        error_body = {"error": _INVALID_EVENT_MESSAGE.format(also=also, part=field_path, kind=kind)}
        return gateway_response(HTTPStatus.BAD_REQUEST, json.dumps(error_body))

    return answer


def _find_invalid_part(event: object, *, accept_websockets: bool) -> tuple[str, str] | None:
    """Return the first invalid part of an event and what it must be; None if there is none."""
    if not isinstance(event, dict):
        return "the event", "an object"
    about = event.get("requestContext")
    if not isinstance(about, dict):
        return "requestContext", "an object"
    needed = _WEBSOCKET_FIELDS if accept_websockets and "connectionId" in about else _HTTP_FIELDS
    for field_path, kind in {**needed, **_OPTIONAL_FIELDS}.items():
        value: Any = event
        for name in field_path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if not (_CHECK_BY_KIND[kind](value) or (field_path in _OPTIONAL_FIELDS and not value)):
            return field_path, kind
    # The body's characters are checked when it is read.
    return None if isinstance(event.get("body") or "", str) else ("body", "a text")


_WEBSOCKET_FIELDS = {"requestContext.connectionId": "a text", "requestContext.routeKey": "a text"}
_HTTP_FIELDS = {"requestContext.http.method": "a text", "rawPath": "a text"}
"""Required parts of an event, which name its API and path."""

_OPTIONAL_FIELDS = {
    "requestContext.identity": "an object",
    "requestContext.stage": "a text",
    "headers": "an object of texts",
    "queryStringParameters": "an object of texts",
    "rawQueryString": "a text",
    "cookies": "a list of texts",
}
"""Optional parts of an event; each may be missing or null."""


_CHECK_BY_KIND: Mapping[str, Callable[[Any], bool]] = {
    "a text": is_valid_text,
    "an object": lambda value: isinstance(value, dict),
    "an object of texts": lambda value: (
        isinstance(value, dict)
        and all(is_valid_text(item) for pair in value.items() for item in pair)
    ),
    "a list of texts": lambda value: isinstance(value, list) and all(map(is_valid_text, value)),
}
