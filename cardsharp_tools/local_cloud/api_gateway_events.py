"""Requests and responses between an HTTP API of API Gateway and its function, format 2.0."""

import base64
import binascii
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import parse_qsl

from cardsharp_tools.local_cloud.lambda_events import ACCOUNT, REGION, Event
from cardsharp_tools.local_cloud.template_files import TEMPLATE

EVENTS = TEMPLATE.parent / "events"
NOT_FOUND_PATH = "/nothing"  # a path that no service has

_API_ID = "local"
_TEXT_TYPES = ("text/", "application/json", "application/javascript", "application/xml")
"""Bodies that are passed on as text; all others come as base64."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """HTTP request as received; `target` is path and query, not decoded."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    source_ip: str = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """HTTP response to send to a client: status, headers and body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


INTERNAL_ERROR_RESPONSE = HttpResponse(
    500, (("Content-Type", "application/json"),), b'{"message":"Internal Server Error"}'
)
"""API Gateway's response if the function fails."""


def sample_requests(game: str) -> list[Event]:
    """Return a game's sample requests in events/, or one for a path that does not exist."""
    files = sorted(EVENTS.glob(f"{game}_[0-9]_*.json"))
    events = [json.loads(file.read_text("utf-8")) for file in files]
    return events or [to_event(HttpRequest("GET", NOT_FOUND_PATH), datetime.now(UTC))]


def is_expected_status(event: Event, status: int) -> bool:
    """Return True if a sample request got the status that it should get."""
    expected = HTTPStatus.NOT_FOUND if event["rawPath"] == NOT_FOUND_PATH else HTTPStatus.OK
    return status == expected


def to_event(request: HttpRequest, received_at: datetime) -> Event:
    """Return the event of a request; empty fields are left out, as API Gateway does."""
    path, _, query = request.target.partition("?")
    headers = _join_repeated_values((name.lower(), value) for name, value in request.headers)
    cookies = headers.pop("cookie", "")
    event: Event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": _API_ID,
            "domainName": f"{_API_ID}.execute-api.{REGION}.amazonaws.com",
            "domainPrefix": _API_ID,
            "http": {
                "method": request.method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": request.source_ip,
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": str(uuid.uuid4()),
            "routeKey": "$default",
            "stage": "$default",
            "time": received_at.astimezone(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
            "timeEpoch": int(received_at.timestamp() * 1000),
        },
        "isBase64Encoded": False,
    }
    if query:
        pairs = parse_qsl(query, keep_blank_values=True, errors="replace")
        event["queryStringParameters"] = _join_repeated_values(pairs)
    if cookies:
        event["cookies"] = cookies.split("; ")
    if request.body:
        event |= _encode_body(request.body, headers.get("content-type", ""))
    return event


def _join_repeated_values(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the values by name; join the values of a repeated name by commas."""
    values: dict[str, str] = {}
    for name, value in pairs:
        values[name] = f"{values[name]},{value}" if name in values else value
    return values


def _encode_body(body: bytes, content_type: str) -> Event:
    if content_type.lower().startswith(_TEXT_TYPES):
        try:
            return {"body": body.decode(), "isBase64Encoded": False}
        except UnicodeDecodeError:
            pass
    return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}


def parse_response(result: object) -> HttpResponse:
    """The response of a function's answer: without a status a 200's body, unreadable `FAILED`."""
    if not isinstance(result, dict) or "statusCode" not in result:
        body = json.dumps(result).encode()
        return HttpResponse(200, (("Content-Type", "application/json"),), body)
    try:
        text, raw_headers = str(result.get("body") or ""), result.get("headers") or {}
        coded = bool(result.get("isBase64Encoded"))
        headers = [(str(name), str(value)) for name, value in raw_headers.items()]
        headers += [("Set-Cookie", str(cookie)) for cookie in result.get("cookies") or ()]
        body = base64.b64decode(text, validate=True) if coded else text.encode()
        return HttpResponse(int(result["statusCode"]), tuple(headers), body)
    except (AttributeError, TypeError, ValueError, binascii.Error):
        return INTERNAL_ERROR_RESPONSE
