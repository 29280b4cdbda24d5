"""What an HTTP API sends to its function, and what it takes for an answer (format 2.0)."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Protocol

Event = dict[str, Any]  # a request
Response = dict[str, Any]  # an answer: `statusCode`, `headers`, `body`, `isBase64Encoded`


class Context(Protocol):
    """What is used of an invocation's context."""

    def get_remaining_time_in_millis(self) -> int:
        """How long the invocation may still take."""


Handler = Callable[[Event, Context], Response]  # several threads may call it at once

_JSON = {"Content-Type": "application/json"}
_OTHER = "This function expects an event of an HTTP API (format 2.0){also}: {part} must be {kind}."


def response(status: int, body: str, headers: Mapping[str, str] = _JSON) -> Response:
    """An answer of that text."""
    told = {"statusCode": int(status), "headers": dict(headers), "body": body}
    return {**told, "isBase64Encoded": False}


def checked(handler: Handler, *, sockets: bool = False) -> Handler:
    """The handler, asked only about what is such an event; a person who sends another gets a 400.

    API Gateway sends nothing else; a person who invokes the function may send anything. With
    `sockets` it may be an event of a WebSocket API, too.
    """
    also = " or of a WebSocket API" if sockets else ""

    def answer(event: Event, context: Context) -> Response:
        fault = _fault(event, sockets=sockets)
        if fault is None:
            return handler(event, context)
        part, kind = fault
        told = {"error": _OTHER.format(also=also, part=part, kind=kind)}
        return response(HTTPStatus.BAD_REQUEST, json.dumps(told))

    return answer


def _fault(event: object, *, sockets: bool) -> tuple[str, str] | None:
    """The first part of an event that is not what it must be, and what it must be."""
    if not isinstance(event, dict):
        return "the event", "an object"
    about = event.get("requestContext")
    if not isinstance(about, dict):
        return "requestContext", "an object"
    needed = _OF_A_SOCKET if sockets and "connectionId" in about else _OF_A_REQUEST
    for part, kind in {**needed, **_SENT}.items():
        given: Any = event
        for name in part.split("."):
            given = given.get(name) if isinstance(given, dict) else None
        if not (_KINDS[kind](given) or (part in _SENT and not given)):
            return part, kind
    # Its characters are looked at by whoever reads it.
    return None if isinstance(event.get("body") or "", str) else ("body", "a text")


_OF_A_SOCKET = {"requestContext.connectionId": "a text", "requestContext.routeKey": "a text"}
_OF_A_REQUEST = {"requestContext.http.method": "a text", "rawPath": "a text"}
"""What says by which API and to which path an event came."""

_SENT = {
    "requestContext.identity": "an object",
    "requestContext.stage": "a text",
    "headers": "an object of texts",
    "queryStringParameters": "an object of texts",
    "rawQueryString": "a text",
    "cookies": "a list of texts",
}
"""What came with it, each of which may be missing or null."""


def is_text(given: object) -> bool:
    """Whether it can be sent on: half a surrogate pair, which JSON can hold, is no character."""
    try:
        return isinstance(given, str) and given.encode() is not None
    except UnicodeEncodeError:
        return False


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "a text": is_text,
    "an object": lambda given: isinstance(given, dict),
    "an object of texts": lambda given: (
        isinstance(given, dict) and all(is_text(one) for pair in given.items() for one in pair)
    ),
    "a list of texts": lambda given: isinstance(given, list) and all(map(is_text, given)),
}
