"""Access control and configuration of the pages of the cloud's match log.

| variable            | means                                                                |
|---------------------|----------------------------------------------------------------------|
| CARDSHARP_STORE     | dynamodb:TABLE                                                       |
| CARDSHARP_PUBLIC    | yes: everybody sees a spectator's view, without our decisions        |
| CARDSHARP_SERVICE_SECRET | without PUBLIC: parameter with the password that shows everything |

Private pages are behind a gate: a visitor with neither the password nor a valid token gets a
login form and nothing else. The form can be posted to the address of any page, and leads back
to that page. The password sets a cookie for all pages; an address with a token, `?pass=`, sets
one for the page of that match.

A token is a signed text with an expiry time and a scope. Its owner could try passwords against
the signature offline, so the key is derived from the password by scrypt. A new password makes
all tokens invalid.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.aws.ssm_credentials import fetch_credentials
from cardsharp.core.clock import utc_now
from cardsharp.core.limits import MATCHES_PER_PAGE
from cardsharp.errors import ConfigError
from cardsharp.pages.assets import BASE_ASSET_SET, HEADERS
from cardsharp.pages.match_pages import login_page
from cardsharp.pages.templates import SiteInfo
from cardsharp.server.limited_body import read_limited_body
from cardsharp.server.match_site import (
    MAX_LISTED_MATCHES,
    MatchSite,
    PagesConfig,
    build_pages_application,
)
from cardsharp.server.web_application import WebSettings
from cardsharp.store.locations import dynamodb_table_name
from cardsharp.store.match_log import MatchRecord, MatchStatus, MoveRecord

if TYPE_CHECKING:
    from cardsharp.store.dynamodb_match_reader import DynamoMatchReader

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


STORE_SETTING = "CARDSHARP_STORE"
PUBLIC_SETTING = "CARDSHARP_PUBLIC"
PASSWORD_SETTING = "CARDSHARP_SERVICE_SECRET"  # noqa: S105 - a variable or parameter name, no secret

PROJECTED_ATTRIBUTES = (
    *("pk", "sk", "match_status", "started_at", "finished_at"),
    *("header", "outcome", "facts"),
    *("header_json", "outcome_json", "facts_json"),  # what version 0.3 called them
)
"""Attributes of the match log that public pages show; the role allows no other ones."""

INTENT_ATTRIBUTES = ("intent", "intent_json")  # additional attributes of private pages

MATCH_LOG_POLL_INTERVAL = timedelta(milliseconds=500)
"""Pause of a page after a response without news.

A change is then seen within a second: on average half of this pause, and one round trip.
"""

MAX_LIST_LENGTH = 200  # characters of a match's id, more than any has

_DAY = 86_400
_YEAR = 365 * _DAY


@dataclass(frozen=True, slots=True)
class DynamoMatchSource:
    """Match source in DynamoDB; a match changes with the facts of a move, not with its lease."""

    reader: "DynamoMatchReader"
    poll_interval: timedelta = MATCH_LOG_POLL_INTERVAL

    def matches(
        self, day: date | None, status: MatchStatus | None, limit: int
    ) -> list[MatchRecord]:
        """The newest matches."""
        return self.reader.matches(day, status, limit)

    def match(self, match_id: str) -> MatchRecord | None:
        """Return a match; its `lease_version` counts the moves while it runs."""
        if len(match_id) > MAX_LIST_LENGTH:
            return None  # DynamoDB would reject a longer key, which would look like our failure
        record = self.reader.match(match_id)
        if record is None or record.status is MatchStatus.FINISHED:
            return record
        return replace(record, lease_version=self.reader.last_sequence_with_facts(match_id) + 1)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """Return the moves of a match, without those that cannot be read."""
        return [move for move in self.reader.moves(match_id) if move.read_error is None]


def build_pages(environment: Mapping[str, str]) -> Starlette:
    """Return the pages; they never long-poll, which costs money. Raises `ConfigError`."""
    # boto3's errors are slow to import, and not there where a function only starts.
    from cardsharp.store.dynamodb_match_reader import DynamoMatchReader  # noqa: PLC0415

    table = dynamodb_table_name(environment.get(STORE_SETTING, ""))
    if table is None:
        raise ConfigError(
            f"{STORE_SETTING} must be dynamodb:TABLE. For a match log on your own machine use "
            "`cardsharp watch`."
        )
    public = environment.get(PUBLIC_SETTING) == "yes"
    parameter = environment.get(PASSWORD_SETTING, "")
    if not public and not parameter:
        raise ConfigError(
            f"Private pages need a password. Set {PASSWORD_SETTING}, or {PUBLIC_SETTING}=yes to "
            "make them public."
        )
    projection = PROJECTED_ATTRIBUTES if public else (*PROJECTED_ATTRIBUTES, *INTENT_ATTRIBUTES)
    manner = _build_pages_config(public=public)
    pages = MatchSite(DynamoMatchSource(DynamoMatchReader(table, projection=projection)), manner)
    if public:
        return build_pages_application(pages)

    def load_password() -> SecretStr:
        return SecretStr(fetch_credentials(parameter).password)

    gate = Middleware(AccessGate, site_info=manner.site, password=load_password)
    return build_pages_application(pages, WebSettings(gate=gate))


def _build_pages_config(*, public: bool) -> PagesConfig:
    """Return the pages' configuration.

    Addresses of assets contain a version, so a browser loads new ones with the first new page.
    """
    return PagesConfig(
        site=SiteInfo(
            "Cardsharp",
            assets_path=f"/page/{BASE_ASSET_SET.version()}",
            has_analysis=not public,
            poll_milliseconds=MATCH_LOG_POLL_INTERVAL // timedelta(milliseconds=1),
        ),
        hide_private=public,
        long_poll_timeout=timedelta(),
        # Each listed match costs a read unit, and strangers can request the list without end. The
        # filter by day leads to older matches.
        max_matches=MATCHES_PER_PAGE if public else MAX_LISTED_MATCHES,
        finished_cache_control=f"{'public' if public else 'private'}, max-age={_DAY}, immutable",
        assets_cache_control=f"public, max-age={_YEAR}, immutable",
    )
