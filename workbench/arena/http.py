"""The HTTP edge: bodies in, answers out, and the guard that stands before every endpoint."""

import asyncio
import hashlib
import html
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from cardsharp.errors import Malformed, RulesError, StoreError
from workbench.arena.auth import Asked, Gatekeeper
from workbench.arena.inputs import parse_body
from workbench.arena.players import User
from workbench.arena.refusals import AdminOnly, Refused
from workbench.arena.slowdown import Pace, SlowDown
from workbench.arena.waiting import ClientGone

MAX_BODY = 64 * 1024
"""Bytes of the largest request body that is read."""

MAX_DISCARDED = 32 * 1024 * 1024
"""Bytes that are let pass unread, so that the client hears why before the line is cut."""

Handler = Callable[[Request, User], Awaitable[Response]]

_log = logging.getLogger(__name__)


def json_answer(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON answer with the weak ETag that the original sends."""
    raw = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    digest = hashlib.blake2b(raw, digest_size=12).hexdigest()
    tagged = {"ETag": f'W/"{len(raw):x}-{digest}"', **(headers or {})}
    return Response(raw, status, tagged, "application/json; charset=utf-8")


def error_answer(status: int, message: str) -> Response:
    """`{"error": ...}`."""
    return json_answer({"error": message}, status)


def not_found(request: Request) -> Response:
    """The HTML page of the original's framework for a path or method that it does not know."""
    asked = html.escape(f"Cannot {request.method} {request.url.path}")
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>Error</title>\n</head>\n<body>\n<pre>{asked}</pre>\n</body>\n</html>\n"
    )
    headers = {"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff"}
    return HTMLResponse(page, 404, headers)


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object of a body, `{}` where there is none.

    Raises:
        Refused: it is too large.
        Malformed: it is not JSON.
    """
    raw = bytearray()
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= MAX_BODY:
            raw += chunk
        elif size > MAX_DISCARDED:
            break
    if size > MAX_BODY:
        raise Refused(413, f"The body is larger than {MAX_BODY} bytes.")
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return parse_body(bytes(raw), is_json=media_type == "application/json")


async def hung_up(request: Request) -> None:
    """Wait until the client has closed its connection; call it after the body was read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def client_ip(request: Request) -> str | None:
    """The address that a request came from."""
    return None if request.client is None else request.client.host


class Guard:
    """What every request passes: pace, identity, and the statuses of whatever is refused."""

    def __init__(
        self,
        gatekeeper: Gatekeeper,
        limits: tuple[SlowDown, SlowDown] | None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._gatekeeper = gatekeeper
        self._limits = limits
        self._sleep = sleep

    def known(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint for authenticated users."""

        async def endpoint(request: Request) -> Response:
            pace = await self._slow_address(request)
            asked = _asked(request)
            user = self._gatekeeper.user(asked)
            if user is None:
                return self._ask_who(asked)
            if not user.is_admin:
                pace = await self._slow_user(request, user) or pace
            return _paced(await _answered(handler(request, user)), pace)

        return endpoint

    def open(
        self, handler: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint for everybody."""

        async def endpoint(request: Request) -> Response:
            pace = await self._slow_address(request)
            return _paced(await _answered(handler(request)), pace)

        return endpoint

    def _ask_who(self, asked: Asked) -> Response:
        response = Response(b"Unauthorized", 401)
        for challenge in self._gatekeeper.challenges(asked):
            response.headers.append("WWW-Authenticate", challenge)
        return response

    async def _slow_address(self, request: Request) -> Pace | None:
        if self._limits is None:
            return None
        pace = self._limits[0].count(str(client_ip(request)))
        await self._wait(pace.delay)
        return pace

    async def _slow_user(self, request: Request, user: User) -> Pace | None:
        if self._limits is None:
            return None
        pace = self._limits[1].count(f"{client_ip(request)} {user.id}")
        await self._wait(pace.delay)
        return pace

    async def _wait(self, delay: timedelta) -> None:
        if delay:
            await self._sleep(delay.total_seconds())


def _asked(request: Request) -> Asked:
    raw_path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    query: bytes = request.scope["query_string"]
    target = raw_path + (b"?" + query if query else b"")
    return Asked(request.method, target.decode("latin-1"), request.headers.get("authorization", ""))


def _paced(response: Response, pace: Pace | None) -> Response:
    if pace is not None:
        response.headers.update(pace.headers)
    return response


async def _answered(handling: Awaitable[Response]) -> Response:
    """The handler's answer, or the error answer of what it raised."""
    try:
        return await handling
    except Refused as refused:
        answer = error_answer(refused.status, str(refused))
        if refused.status == 413:  # noqa: PLR2004 - the rest of the body is not read
            answer.headers["Connection"] = "close"
        return answer
    except AdminOnly:
        return PlainTextResponse("Unauthorized", 401)
    except (Malformed, RulesError) as error:
        return error_answer(400, str(error))
    except (ClientGone, ClientDisconnect):
        return Response(status_code=499)  # nobody reads it
    except StoreError as error:
        _log.exception("A move could not be stored")
        return error_answer(503, str(error))
