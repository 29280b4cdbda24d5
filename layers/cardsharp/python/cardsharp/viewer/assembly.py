"""The pages of the cloud's match log, as their environment describes them.

| variable            | means                                                                |
|---------------------|----------------------------------------------------------------------|
| CARDSHARP_STORE     | dynamodb:TABLE                                                       |
| CARDSHARP_PUBLIC    | yes: everybody sees what a spectator may know, and nobody our thoughts |
| CARDSHARP_SERVICE_SECRET | else the parameter with the password of those who see all            |

Before private pages stands a door: whoever has neither the password nor a pass is shown a form,
nothing else. The password is taken at the address of any page, so that the form leads back there.
It brings a cookie for all pages; the address with a pass in it, `?pass=`, one for the page of that
match.

Passes are signed texts that say until when they admit to what. Whoever has one could try out
passwords on it, so the key is made of the password by scrypt. With another password all passes end.
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

from cardsharp.cloud.clock import utc_now
from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.cloud.secrets import fetched
from cardsharp.errors import ConfigError
from cardsharp.viewer.assets import ASSETS, HEADERS, asset
from cardsharp.viewer.base import Site
from cardsharp.viewer.pages import door_page
from cardsharp.viewer.site import MOST, PAGE, Manner, Pages, application

if TYPE_CHECKING:
    from cardsharp.cloud.dynamodb_reader import DynamoReader

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


@dataclass(frozen=True, slots=True)
class Door:
    """ASGI middleware before the pages of a site; `word` brings the password.

    Whoever comes by a pass is called a guest in the state of the request.
    """

    app: ASGIApp
    site: Site
    word: Callable[[], SecretStr]
    clock: Callable[[], datetime] = utc_now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or have the pages do so; raises `StoreError` without a password."""
        request = Request(scope, receive)
        if not request.url.path.startswith(self.site.matches):
            await self.app(scope, receive, send)  # what pages load, and what leads to them
            return
        password = (await run_in_threadpool(self.word)).get_secret_value()
        response = await self._answer(request, password)
        await (self.app if response is None else response)(scope, receive, send)

    async def _answer(self, request: Request, password: str) -> Response | None:
        """What is answered here; None for who may go on."""
        now = self.clock()
        match = request.url.path.removeprefix(self.site.matches).lstrip("/").partition("/")[0]
        page = f"{self.site.matches}/{match}".rstrip("/")
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
        told = door_page(self.site, page, why)
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


STORE = "CARDSHARP_STORE"
PUBLIC = "CARDSHARP_PUBLIC"
PARAMETER = "CARDSHARP_SERVICE_SECRET"

SHOWN = (
    *("pk", "sk", "match_status", "started_at", "finished_at"),
    *("header_json", "outcome_json", "facts_json"),
)
"""The attributes of the match log that public pages are made of; the role may read no other."""

THOUGHTS = "intent_json"  # what private pages show besides

PAUSE = timedelta(milliseconds=500)
"""How long a page waits after an answer that brought nothing: half of that on average, and the way
there and back, are within a second."""

LONGEST = 200  # characters of a match's id, more than any has

_DAY = 86_400
_YEAR = 365 * _DAY


@dataclass(frozen=True, slots=True)
class TableSource:
    """A match log in DynamoDB; a match is new only with a move's facts, not with a lease."""

    reader: "DynamoReader"
    pause: timedelta = PAUSE

    def matches(self, day: date | None, status: Status | None, limit: int) -> list[MatchRecord]:
        """The newest matches."""
        return self.reader.matches(day, status, limit)

    def match(self, match_id: str) -> MatchRecord | None:
        """A match; its `beat` counts its moves."""
        if len(match_id) > LONGEST:
            return None  # of a longer key DynamoDB makes a fault of ours
        record = self.reader.match(match_id)
        if record is None or record.status is Status.FINISHED:
            return record
        return replace(record, beat=self.reader.last_move(match_id) + 1)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """The moves that can be read."""
        return [move for move in self.reader.moves(match_id) if move.fault is None]


def viewer_of(environment: Mapping[str, str]) -> Starlette:
    """The pages, which never hold a question, for that is paid; raises `ConfigError`."""
    # boto3's errors are slow to import, and not there where a function only starts.
    from cardsharp.cloud.dynamodb_reader import DynamoReader  # noqa: PLC0415

    kind, _, table = environment.get(STORE, "").partition(":")
    if kind != "dynamodb" or not table:
        raise ConfigError(f"{STORE} must be dynamodb:TABLE; at home `cardsharp watch` shows them.")
    public = environment.get(PUBLIC) == "yes"
    parameter = environment.get(PARAMETER, "")
    if not public and not parameter:
        raise ConfigError(f"Private pages need a password: set {PARAMETER}, or {PUBLIC}=yes.")
    shown = SHOWN if public else (*SHOWN, THOUGHTS)
    manner = _manner(public=public)
    pages = Pages(TableSource(DynamoReader(table, shown=shown)), manner)
    if public:
        return application(pages)

    def word() -> SecretStr:
        return SecretStr(fetched(parameter).password)

    return application(pages, [Middleware(Door, site=manner.site, word=word)])


def _manner(*, public: bool) -> Manner:
    """Addresses of assets say their version: a browser has the new ones with the first new page."""
    version = hashlib.sha256("".join(map(asset, ASSETS)).encode()).hexdigest()[:12]
    return Manner(
        site=Site(
            "Cardsharp",
            assets=f"/page/{version}",
            judged=not public,
            pause=PAUSE // timedelta(milliseconds=1),
        ),
        public=public,
        hold=timedelta(),
        # Each is a unit read, which strangers could ask for without end; days lead further back.
        most=PAGE if public else MOST,
        over=f"{'public' if public else 'private'}, max-age={_DAY}, immutable",
        assets=f"public, max-age={_YEAR}, immutable",
    )
