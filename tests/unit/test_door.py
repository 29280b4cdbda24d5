"""Private pages: who is let in, to what, for how long, and what a guest is shown of a match."""

import base64
import hashlib
import hmac
import json
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache

from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from starlette.middleware import Middleware
from support.lambda_events import context
from support.stored_matches import SingleMatchSource, sample_match

from cardsharp.pages.assets import ASSETS
from cardsharp.server.access_gate import (
    ALL_MATCHES,
    OWNER_COOKIE,
    TOKEN_PARAMETER,
    TOKEN_TTL,
    AccessGate,
    sign_access_token,
    verify_access_token,
)
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.server.match_site import MatchSite, PagesConfig, build_pages_application
from cardsharp.store.match_log import MatchStatus
from cardsharp_tools.local_cloud.api_gateway_events import (
    HttpRequest,
    HttpResponse,
    parse_response,
    to_event,
)

CURRENT_TIME = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
PASSWORD = "correct horse battery"
FORM = (("Content-Type", "application/x-www-form-urlencoded"),)


@cache
def sample_source(*, runs: bool = False) -> SingleMatchSource:
    record, [*moves] = sample_match("deadmansdraw")
    del moves[9:]  # to judge all of them takes a while
    assert any(move.intent for move in moves)
    record = replace(record, match_id="abc")
    if runs:
        record = replace(record, status=MatchStatus.RUNNING, outcome=None)
    return SingleMatchSource(record, moves)


@dataclass
class Visitor:
    """A browser before the door: it keeps cookies, and goes where it is led."""

    source: SingleMatchSource = field(default_factory=sample_source)
    current_time: datetime = CURRENT_TIME
    password: str = PASSWORD
    cookies: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pages = MatchSite(self.source, PagesConfig(long_poll_timeout=timedelta()))
        gate_options = {
            "password": lambda: SecretStr(self.password),
            "clock": lambda: self.current_time,
        }
        door = Middleware(AccessGate, site_info=pages.manner.site, **gate_options)
        self._answer = lambda_handler_for_asgi(build_pages_application(pages, [door]))

    def ask(self, target: str, body: str = "") -> HttpResponse:
        sent = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = (*FORM, ("Cookie", sent)) if sent else FORM
        request = HttpRequest("POST" if body else "GET", target, headers, body.encode())
        read = parse_response(self._answer(to_event(request, self.current_time), context()))
        for name, value in read.headers:
            if name == "Set-Cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return read

    def status(self, target: str, body: str = "") -> int:
        return self.ask(target, body).status

    def came_in(self) -> "Visitor":
        assert self.status("/matches", "password=correct+horse+battery") == 303
        return self

    def by_link(self, match_id: str = "abc") -> "Visitor":
        link = sign_access_token(match_id, self.current_time + HOUR, self.password)
        assert self.status(f"/matches/{match_id}?{TOKEN_PARAMETER}={link}") == 303
        return self


PAGES = ("/matches", "/matches/abc", "/matches/abc/steps", "/matches/abc/analysis", "/matches/no")


def test_a_stranger_gets_the_login_page_and_learns_nothing_else() -> None:
    """Not even whether there is a match."""
    names = (*sample_source().record.header["names"], "/steps")  # type: ignore[misc]
    for path in PAGES:
        answer = Visitor().ask(path)
        assert (answer.status, b"password" in answer.body) == (403, True)
        assert not [name for name in names if str(name).encode() in answer.body]
        assert dict(answer.headers)["content-security-policy"]
    existing_page, missing_page = (
        Visitor().ask(f"/matches/{name}").body for name in ("abc", "abd")
    )
    assert existing_page.replace(b"abc", b"abd") == missing_page
    assert all(Visitor().status(f"/page/{name}") == 200 for name in ASSETS)


def test_the_password_opens_all_pages_until_the_cookie_or_password_expires() -> None:
    visitor = Visitor().came_in()
    assert [visitor.status(path) for path in PAGES] == [200, 200, 200, 200, 404]
    visitor.current_time += TOKEN_TTL
    assert visitor.status("/matches") == 403
    visitor = Visitor().came_in()
    guest = Visitor().by_link()
    visitor.password = guest.password = "another"
    assert visitor.status("/matches") == guest.status("/matches/abc") == 403


def test_login_redirects_to_the_requested_page_and_reads_a_limited_body() -> None:
    """A stranger may send as much as there is memory."""
    visitor = Visitor()
    response = visitor.ask("/matches/abc?step=3", "password=correct+horse+battery")
    assert dict(response.headers)["location"] == "/matches/abc"
    assert visitor.status("//evil.example/", "password=correct+horse+battery") == 404
    assert Visitor().status("/matches", f"x={'a' * 3_900}&password=correct+horse+battery") == 303
    assert Visitor().status("/matches", f"x={'a' * 4_000}&password=correct+horse+battery") == 403


def test_a_wrong_password_opens_nothing() -> None:
    visitor = Visitor()
    for body in ("password=wrong", "password=", "x=y", "%ff", "a" * 9_000):
        assert visitor.status("/matches", body) == 403
    assert not visitor.cookies


def test_an_access_token_costs_scrypt_per_guess_and_admits_to_a_single_match() -> None:
    """The key is worked out anew here, with 16 MB and 2^14 rounds a guess."""
    key = hashlib.scrypt(PASSWORD.encode(), salt=b"cardsharp viewer", n=2**14, r=8, p=1)
    end = int((CURRENT_TIME + HOUR).timestamp())
    seal = base64.urlsafe_b64encode(hmac.digest(key, f"{end} abc".encode(), "sha256")).decode()
    assert sign_access_token("abc", CURRENT_TIME + HOUR, PASSWORD) == f"{end}.{seal.rstrip('=')}"
    assert not verify_access_token(
        sign_access_token("abc", CURRENT_TIME + HOUR, PASSWORD), ALL_MATCHES, CURRENT_TIME, PASSWORD
    )
    assert re.fullmatch(r"[\w.-]+", sign_access_token("abc", CURRENT_TIME + HOUR, PASSWORD)), (
        "as it is, in an address"
    )


def test_cookies_go_to_us_over_tls_and_to_no_script() -> None:
    link = sign_access_token("abc", CURRENT_TIME + HOUR, PASSWORD)
    for target, body, path in (
        ("/matches", "password=correct+horse+battery", "/"),
        (f"/matches/abc?{TOKEN_PARAMETER}={link}", "", "/matches/abc"),
    ):
        headers = Visitor().ask(target, body).headers
        (cookie,) = [value for name, value in headers if name == "Set-Cookie"]
        assert {"HttpOnly", "Secure", "SameSite=lax", f"Path={path}"} <= set(cookie.split("; "))
    assert OWNER_COOKIE.startswith("__Host-")


def test_a_link_admits_to_its_match_and_to_nothing_else_until_it_ends() -> None:
    visitor = Visitor().by_link()
    assert visitor.status("/matches/abc") == visitor.status("/matches/abc/steps") == 200
    assert visitor.status("/matches") == visitor.status("/matches/no") == 403
    visitor.current_time += HOUR
    assert visitor.status("/matches/abc") == 403
    late = sign_access_token("abc", CURRENT_TIME, PASSWORD)
    assert visitor.status(f"/matches/abc?{TOKEN_PARAMETER}={late}") == 403


def test_a_guest_sees_our_thoughts_once_the_match_is_over_and_an_owner_always() -> None:
    """Else a guest could tell our opponent."""

    def seen(visitor: Visitor) -> tuple[bool, bool]:
        steps = json.loads(visitor.ask("/matches/abc/steps").body)["steps"]
        judged = json.loads(visitor.ask("/matches/abc/analysis").body)
        return any(step["ours"] for step in steps), bool(judged)

    assert seen(Visitor(sample_source(runs=True)).by_link()) == (False, False)
    assert seen(Visitor(sample_source(runs=False)).by_link()) == (True, True)
    assert seen(Visitor(sample_source(runs=True)).came_in())[0]


@given(st.text("0189.-_aZé", max_size=80), st.sampled_from(["abc", ALL_MATCHES]))
def test_no_text_is_a_pass(text: str, resource: str) -> None:
    assert not verify_access_token(text, resource, CURRENT_TIME, PASSWORD)


@given(st.integers(0, 60), st.characters(codec="ascii"))
def test_a_pass_with_another_letter_is_none(place: int, letter: str) -> None:
    link = sign_access_token("abc", CURRENT_TIME + HOUR, PASSWORD)
    place %= len(link)
    other = link[:place] + letter + link[place + 1 :]
    assert verify_access_token(other, "abc", CURRENT_TIME, PASSWORD) is (other == link)
