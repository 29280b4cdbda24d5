"""What an HTTP API of API Gateway sends to its function, and how it reads the answer.

Format 2.0.
"""

import base64
import binascii
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import parse_qsl

from workbench.cloud.events import ACCOUNT, REGION, Event
from workbench.cloud.template import TEMPLATE

EVENTS = TEMPLATE.parent / "events"
NOTHING = "/nothing"  # a path that no service has

_API = "local"
_TEXT_TYPES = ("text/", "application/json", "application/javascript", "application/xml")
"""Bodies that are passed on as text; all others come as base64."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """An HTTP request as it came over the wire; `target` is path and query, undecoded."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    source: str = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Answered:
    """An HTTP response to send."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


FAILED = Answered(
    500, (("Content-Type", "application/json"),), b'{"message":"Internal Server Error"}'
)
"""What API Gateway answers where the function fails."""


def sample_requests(game: str) -> list[Event]:
    """A game's requests in events/, by which its service is seen to work; else for `NOTHING`."""
    files = sorted(EVENTS.glob(f"{game}_[0-9]_*.json"))
    told = [json.loads(file.read_text("utf-8")) for file in files]
    return told or [http_event(WireRequest("GET", NOTHING), datetime.now(UTC))]


def is_served(event: Event, status: int) -> bool:
    """Whether a sample request got the answer that it should get."""
    wanted = HTTPStatus.NOT_FOUND if event["rawPath"] == NOTHING else HTTPStatus.OK
    return status == wanted


def http_event(asked: WireRequest, at: datetime) -> Event:
    """The event of a request; what is empty is absent, as there."""
    path, _, query = asked.target.partition("?")
    headers = _joined((name.lower(), value) for name, value in asked.headers)
    cookies = headers.pop("cookie", "")
    event: Event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": _API,
            "domainName": f"{_API}.execute-api.{REGION}.amazonaws.com",
            "domainPrefix": _API,
            "http": {
                "method": asked.method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": asked.source,
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": str(uuid.uuid4()),
            "routeKey": "$default",
            "stage": "$default",
            "time": at.astimezone(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
            "timeEpoch": int(at.timestamp() * 1000),
        },
        "isBase64Encoded": False,
    }
    if query:
        pairs = parse_qsl(query, keep_blank_values=True, errors="replace")
        event["queryStringParameters"] = _joined(pairs)
    if cookies:
        event["cookies"] = cookies.split("; ")
    if asked.body:
        event |= _body(asked.body, headers.get("content-type", ""))
    return event


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Values by name; a name that repeats has them joined by commas."""
    values: dict[str, str] = {}
    for name, value in pairs:
        values[name] = f"{values[name]},{value}" if name in values else value
    return values


def _body(body: bytes, content_type: str) -> Event:
    if content_type.lower().startswith(_TEXT_TYPES):
        try:
            return {"body": body.decode(), "isBase64Encoded": False}
        except UnicodeDecodeError:
            pass
    return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}


def read_answer(answer: object) -> Answered:
    """The response of a function's answer: without a status a 200's body, unreadable `FAILED`."""
    if not isinstance(answer, dict) or "statusCode" not in answer:
        body = json.dumps(answer).encode()
        return Answered(200, (("Content-Type", "application/json"),), body)
    try:
        text, told = str(answer.get("body") or ""), answer.get("headers") or {}
        coded = bool(answer.get("isBase64Encoded"))
        headers = [(str(name), str(value)) for name, value in told.items()]
        headers += [("Set-Cookie", str(cookie)) for cookie in answer.get("cookies") or ()]
        body = base64.b64decode(text, validate=True) if coded else text.encode()
        return Answered(int(answer["statusCode"]), tuple(headers), body)
    except (AttributeError, TypeError, ValueError, binascii.Error):
        return FAILED
