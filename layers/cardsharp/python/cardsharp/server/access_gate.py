"""Access gate of private pages: a password for all of them, or a link to one match.

A visitor with neither the password nor a valid token gets a login form and nothing else. The form
can be posted to the address of any page, and leads back to that page. The password sets a cookie
for all pages; an address with a token, `?pass=`, sets one for the page of that match.

A token is a signed text with an expiry time and a scope. Its owner could try passwords against
the signature offline, so the key is derived from the password by scrypt. A new password makes
all tokens invalid.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from http import HTTPStatus
from urllib.parse import parse_qs

from pydantic import SecretStr
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.core.clock import utc_now
from cardsharp.pages.assets import HEADERS
from cardsharp.pages.match_pages import login_page
from cardsharp.pages.templates import SiteInfo
from cardsharp.server.limited_body import read_limited_body

ALL_MATCHES = "*"  # scope of the password; the scope of a link's token is one match

_TOKEN_PATTERN = re.compile(r"(\d{1,11})\.([\w-]{43})", re.ASCII)


def sign_access_token(scope: str, expires_at: datetime, password: str) -> str:
    """Return a token that grants access to one match, or to all."""
    end = int(expires_at.timestamp())
    return f"{end}.{_sign(scope, end, password)}"


def verify_access_token(token: str, scope: str, current_time: datetime, password: str) -> bool:
    """Return True if a token grants this scope; takes constant time for any wrong signature."""
    match = _TOKEN_PATTERN.fullmatch(token)
    if match is None:
        return False
    end = int(match[1])
    same = hmac.compare_digest(match[2], _sign(scope, end, password))
    return same and current_time < datetime.fromtimestamp(end, UTC)


def _sign(scope: str, expires_at: int, password: str) -> str:
    signed = hmac.digest(_derive_key(password), f"{expires_at} {scope}".encode(), "sha256")
    return base64.urlsafe_b64encode(signed).decode().rstrip("=")


@lru_cache(maxsize=2)
def _derive_key(password: str) -> bytes:
    return hashlib.scrypt(password.encode(), salt=b"cardsharp viewer", n=2**14, r=8, p=1)


TOKEN_TTL = timedelta(days=14)  # how long a browser stays signed in
TOKEN_PARAMETER = "pass"  # name of the query parameter and of the cookie with a link's token  # noqa: S105 - a variable or parameter name, no secret
# The prefix makes browsers accept the cookie only over TLS and only from this host itself, so no
# other host of the same domain can plant one.
OWNER_COOKIE = "__Host-owner"
_MAX_FORM_BYTES = 4_000  # bytes of a form that are read


@dataclass(frozen=True, slots=True)
class AccessGate:
    """ASGI middleware that protects the pages of a site; `password` returns the password.

    A visitor with a token for one match is marked as a guest in the state of the request.
    """

    app: ASGIApp
    site_info: SiteInfo
    password: Callable[[], SecretStr]
    clock: Callable[[], datetime] = utc_now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or pass it on to the pages; raise `StoreError` without a password."""
        request = Request(scope, receive)
        if not request.url.path.startswith(self.site_info.matches_path):
            await self.app(scope, receive, send)  # assets, and the redirect to the pages
            return
        password = (await run_in_threadpool(self.password)).get_secret_value()
        response = await self._check_request(request, password)
        await (self.app if response is None else response)(scope, receive, send)

    async def _check_request(self, request: Request, password: str) -> Response | None:
        """Return the response of the gate, None if the request may pass."""
        current_time = self.clock()
        match = (
            request.url.path.removeprefix(self.site_info.matches_path).lstrip("/").partition("/")[0]
        )
        page = f"{self.site_info.matches_path}/{match}".rstrip("/")
        if request.method == "POST":
            # Constant time, so that the response time does not show how much of a guess is right.
            if not hmac.compare_digest(
                (await _read_submitted_password(request)).encode(), password.encode()
            ):
                return self._render_login_form(page, "This password is wrong.")
            return _redirect_with_cookie(
                page,
                OWNER_COOKIE,
                sign_access_token(ALL_MATCHES, current_time + TOKEN_TTL, password),
                "/",
            )
        # The redirect moves a valid token from the address into a cookie. So the token does not
        # stay in the browser's address bar or history, nor in links that a visitor copies.
        if token := request.query_params.get(TOKEN_PARAMETER):
            if not verify_access_token(token, match, current_time, password):
                return self._render_login_form(
                    page, "This link has expired or is for another match. Ask for a new link."
                )
            return _redirect_with_cookie(page, TOKEN_PARAMETER, token, page)
        if not verify_access_token(
            request.cookies.get(OWNER_COOKIE, ""), ALL_MATCHES, current_time, password
        ):
            request.state.guest = verify_access_token(
                request.cookies.get(TOKEN_PARAMETER, ""), match, current_time, password
            )
            return None if request.state.guest else self._render_login_form(page)
        return None

    def _render_login_form(self, page: str, reason: str = "") -> Response:
        html = login_page(self.site_info, page, reason)
        return HTMLResponse(html, HTTPStatus.FORBIDDEN, headers=HEADERS)


def _redirect_with_cookie(page: str, name: str, value: str, path: str) -> Response:
    """Return a redirect to a page, with a cookie for the addresses below `path`."""
    response = RedirectResponse(page, HTTPStatus.SEE_OTHER, headers=HEADERS)
    age = int(TOKEN_TTL.total_seconds())
    response.set_cookie(name, value, age, path=path, secure=True, httponly=True, samesite="lax")
    return response


async def _read_submitted_password(request: Request) -> str:
    """Return the password in a form, or "" if there is none."""
    body = await read_limited_body(request, _MAX_FORM_BYTES) or b""
    return parse_qs(body.decode("ascii", "replace")).get("password", [""])[0]
