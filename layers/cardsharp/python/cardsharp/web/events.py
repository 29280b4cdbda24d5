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
    checked = (*_source(event, about, sockets=sockets), *_sent(event))
    return next(((part, kind) for part, given, kind in checked if not _KINDS[kind](given)), None)


_Check = tuple[str, object, str]


def _source(event: Event, about: Mapping[str, object], *, sockets: bool) -> list[_Check]:
    """What says by which API and to which path an event came."""
    if sockets and "connectionId" in about:
        return [
            ("requestContext.connectionId", about["connectionId"], "a text"),
            ("requestContext.routeKey", about.get("routeKey"), "a text"),
            ("requestContext.identity", about.get("identity") or {}, "an object"),
        ]
    http = about.get("http")
    method = http.get("method") if isinstance(http, dict) else None
    return [
        ("requestContext.http.method", method, "a text"),
        ("requestContext.stage", about.get("stage", ""), "a text"),
        ("rawPath", event.get("rawPath"), "a text"),
    ]


def _sent(event: Event) -> list[_Check]:
    """What came with a request, each of which may be missing or null."""
    return [
        ("headers", event.get("headers") or {}, "an object of texts"),
        ("queryStringParameters", event.get("queryStringParameters") or {}, "an object of texts"),
        ("rawQueryString", event.get("rawQueryString") or "", "a text"),
        ("cookies", event.get("cookies") or [], "a list of texts"),
        # Its characters are looked at by whoever reads it.
        *([] if isinstance(event.get("body") or "", str) else [("body", None, "a text")]),
    ]


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
