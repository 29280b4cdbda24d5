"""Before private pages: whoever has neither the password nor a pass is shown a form, nothing else.

The password is taken at the address of any page, so that the form leads back there. It brings a
cookie for all pages; the address with a pass in it, `?pass=`, one for the page of that match.

Passes are signed texts that say until when they admit to what. Whoever has one could try out
passwords on it, so the key is made of the password by scrypt. With another password all passes end.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import parse_qs

from pydantic import SecretStr
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.cloud.clock import utc_now
from cardsharp.viewer.assets import HEADERS
from cardsharp.viewer.base import Site
from cardsharp.viewer.pages import door_page

EVERYTHING = "*"  # what a password admits to; a pass may name a match instead

_PASS = re.compile(r"(\d{1,11})\.([\w-]{43})", re.ASCII)


def pass_to(what: str, until: datetime, password: str) -> str:
    """A pass to one match, or to everything."""
    end = int(until.timestamp())
    return f"{end}.{_seal(what, end, password)}"


def admits(given: str, what: str, now: datetime, password: str) -> bool:
    """Whether a pass admits to this; told in the same time whatever is wrong with its seal."""
    found = _PASS.fullmatch(given)
    if found is None:
        return False
    end = int(found[1])
    same = hmac.compare_digest(found[2], _seal(what, end, password))
    return same and now < datetime.fromtimestamp(end, UTC)


def _seal(what: str, end: int, password: str) -> str:
    signed = hmac.digest(_key(password), f"{end} {what}".encode(), "sha256")
    return base64.urlsafe_b64encode(signed).decode().rstrip("=")


@lru_cache(maxsize=2)
def _key(password: str) -> bytes:
    return hashlib.scrypt(password.encode(), salt=b"cardsharp viewer", n=2**14, r=8, p=1)


LIFE = timedelta(days=14)  # how long a browser that was told the password need not be told it again
ADMISSION = "pass"  # the parameter of an address, and the cookie, that have a pass
OWNER = "__Host-owner"  # a browser takes this cookie over TLS only, and from us alone
_LONGEST = 4_000  # bytes of a form that are read


class Door:
    """ASGI middleware before the pages of a site; `word` brings the password.

    Whoever comes by a pass is called a guest in the state of the request.
    """

    def __init__(
        self,
        app: ASGIApp,
        site: Site,
        word: Callable[[], SecretStr],
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._app, self._site, self._word, self._clock = app, site, word, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or have the pages do so; raises `StoreError` without a password."""
        request = Request(scope, receive)
        if not request.url.path.startswith(self._site.matches):
            await self._app(scope, receive, send)  # what pages load, and what leads to them
            return
        password = (await run_in_threadpool(self._word)).get_secret_value()
        response = await self._answer(request, password)
        await (self._app if response is None else response)(scope, receive, send)

    async def _answer(self, request: Request, password: str) -> Response | None:
        """What is answered here; None for who may go on."""
        now = self._clock()
        match = request.url.path.removeprefix(self._site.matches).lstrip("/").partition("/")[0]
        page = f"{self._site.matches}/{match}".rstrip("/")
        if request.method == "POST":
            if not hmac.compare_digest((await _given(request)).encode(), password.encode()):
                return self._form(page, "That is not the password.")
            return _led_to(page, OWNER, pass_to(EVERYTHING, now + LIFE, password), "/")
        if given := request.query_params.get(ADMISSION):
            if not admits(given, match, now, password):
                return self._form(page, "This link has expired, or it was for another page.")
            return _led_to(page, ADMISSION, given, page)
        if not admits(request.cookies.get(OWNER, ""), EVERYTHING, now, password):
            request.state.guest = admits(request.cookies.get(ADMISSION, ""), match, now, password)
            return None if request.state.guest else self._form(page)
        return None

    def _form(self, page: str, why: str = "") -> Response:
        told = door_page(self._site, page, why)
        return HTMLResponse(told, HTTPStatus.FORBIDDEN, headers=HEADERS)


def _led_to(page: str, name: str, value: str, path: str) -> Response:
    """To a page, with a cookie for what lies below a path."""
    response = RedirectResponse(page, HTTPStatus.SEE_OTHER, headers=HEADERS)
    age = int(LIFE.total_seconds())
    response.set_cookie(name, value, age, path=path, secure=True, httponly=True, samesite="lax")
    return response


async def _given(request: Request) -> str:
    """The password in a form, empty where there is none."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST:
            return ""
    return parse_qs(body.decode("ascii", "replace")).get("password", [""])[0]
