"""Access gate of private pages: login, access tokens, cookies and views of a guest."""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache

from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from starlette.middleware import Middleware
from support.lambda_events import invocation_context
from support.stored_matches import SingleMatchSource, sample_match

from cardsharp.pages.assets import BASE_ASSETS
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
from cardsharp.server.web_application import WebSettings
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
def sample_source(*, is_running: bool = False) -> SingleMatchSource:
    record, [*moves] = sample_match("deadmansdraw")
    del moves[9:]  # to judge all of them takes a while
    assert any(move.intent for move in moves)
    record = replace(record, match_id="abc")
    if is_running:
        record = replace(record, status=MatchStatus.RUNNING, outcome=None)
    return SingleMatchSource(record, moves)


@dataclass
class GateClient:
    """Browser in front of the access gate that keeps its cookies."""

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
        gate = Middleware(AccessGate, site_info=pages.manner.site, **gate_options)
        application = build_pages_application(pages, WebSettings(gate=gate))
        self._handle = lambda_handler_for_asgi(application)

    def send(
        self, target: str, body: str = "", extra_headers: Sequence[tuple[str, str]] = ()
    ) -> HttpResponse:
        cookie_header = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = (*FORM, ("Cookie", cookie_header)) if cookie_header else FORM
        headers = (*headers, *extra_headers)
        request = HttpRequest("POST" if body else "GET", target, headers, body.encode())
        response = parse_response(
            self._handle(to_event(request, self.current_time), invocation_context())
        )
        for name, value in response.headers:
            if name == "Set-Cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return response

    def status(self, target: str, body: str = "") -> int:
        return self.send(target, body).status

    def log_in(self) -> "GateClient":
        assert self.status("/matches", "password=correct+horse+battery") == 303
        return self

    def open_link(self, match_id: str = "abc") -> "GateClient":
        link = sign_access_token(match_id, self.current_time + HOUR, self.password)
        assert self.status(f"/matches/{match_id}?{TOKEN_PARAMETER}={link}") == 303
        return self


PAGES = ("/matches", "/matches/abc", "/matches/abc/steps", "/matches/abc/analysis", "/matches/no")


def test_a_stranger_gets_the_login_page_and_learns_nothing_else() -> None:
    """The response does not even reveal whether a match exists."""
    names = (*sample_source().record.header["names"], "/steps")  # type: ignore[misc]
    for path in PAGES:
        response = GateClient().send(path)
        assert (response.status, b"password" in response.body) == (403, True)
        assert not [name for name in names if str(name).encode() in response.body]
        assert dict(response.headers)["content-security-policy"]
    existing_page, missing_page = (
        GateClient().send(f"/matches/{name}").body for name in ("abc", "abd")
    )
    assert existing_page.replace(b"abc", b"abd") == missing_page
    assert all(GateClient().status(f"/page/{name}") == 200 for name in BASE_ASSETS.names)


def test_the_password_opens_all_pages_until_the_cookie_or_password_expires() -> None:
    client = GateClient().log_in()
    assert [client.status(path) for path in PAGES] == [200, 200, 200, 200, 404]
    client.current_time += TOKEN_TTL
    assert client.status("/matches") == 403
    client = GateClient().log_in()
    guest_client = GateClient().open_link()
    client.password = guest_client.password = "another"
    assert client.status("/matches") == guest_client.status("/matches/abc") == 403


def test_login_redirects_to_the_requested_page_and_reads_a_limited_body() -> None:
    """A client without a password cannot fill the memory with its body."""
    client = GateClient()
    response = client.send("/matches/abc?step=3", "password=correct+horse+battery")
    assert dict(response.headers)["location"] == "/matches/abc"
    assert client.status("//evil.example/", "password=correct+horse+battery") == 404
    assert GateClient().status("/matches", f"x={'a' * 3_900}&password=correct+horse+battery") == 303
    assert GateClient().status("/matches", f"x={'a' * 4_000}&password=correct+horse+battery") == 403


def test_a_wrong_password_opens_nothing() -> None:
    client = GateClient()
    for body in ("password=wrong", "password=", "x=y", "%ff", "a" * 9_000):
        assert client.status("/matches", body) == 403
    assert not client.cookies


def test_an_access_token_costs_scrypt_per_guess_and_admits_to_a_single_match() -> None:
    """The test derives the key itself, with 16 MB and 2^14 rounds a guess."""
    key = hashlib.scrypt(PASSWORD.encode(), salt=b"cardsharp viewer", n=2**14, r=8, p=1)
    expiry = int((CURRENT_TIME + HOUR).timestamp())
    signature = base64.urlsafe_b64encode(
        hmac.digest(key, f"{expiry} abc".encode(), "sha256")
    ).decode()
    assert (
        sign_access_token("abc", CURRENT_TIME + HOUR, PASSWORD)
        == f"{expiry}.{signature.rstrip('=')}"
    )
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
        headers = GateClient().send(target, body).headers
        (cookie,) = [value for name, value in headers if name == "Set-Cookie"]
        assert {"HttpOnly", "Secure", "SameSite=lax", f"Path={path}"} <= set(cookie.split("; "))
    assert OWNER_COOKIE.startswith("__Host-")


def test_a_link_admits_to_its_match_and_to_nothing_else_until_it_ends() -> None:
    client = GateClient().open_link()
    assert client.status("/matches/abc") == client.status("/matches/abc/steps") == 200
    assert client.status("/matches") == client.status("/matches/no") == 403
    client.current_time += HOUR
    assert client.status("/matches/abc") == 403
    expired_token = sign_access_token("abc", CURRENT_TIME, PASSWORD)
    assert client.status(f"/matches/abc?{TOKEN_PARAMETER}={expired_token}") == 403


def test_a_guest_sees_our_reasons_once_the_match_is_over_and_an_owner_always() -> None:
    """A guest of a running match could pass our reasons on to the opponent."""

    def analysis_visibility(client: GateClient) -> tuple[bool, bool]:
        steps = json.loads(client.send("/matches/abc/steps").body)["steps"]
        analysis = json.loads(client.send("/matches/abc/analysis").body)
        return any(step["ours"] for step in steps), bool(analysis)

    assert analysis_visibility(GateClient(sample_source(is_running=True)).open_link()) == (
        False,
        False,
    )
    assert analysis_visibility(GateClient(sample_source(is_running=False)).open_link()) == (
        True,
        True,
    )
    assert analysis_visibility(GateClient(sample_source(is_running=True)).log_in())[0]


@given(st.text("0189.-_aZé", max_size=80), st.sampled_from(["abc", ALL_MATCHES]))
def test_no_random_text_is_a_valid_token(text: str, resource: str) -> None:
    assert not verify_access_token(text, resource, CURRENT_TIME, PASSWORD)


@given(st.integers(0, 60), st.characters(codec="ascii"))
def test_a_token_with_another_letter_is_invalid(index: int, letter: str) -> None:
    link = sign_access_token("abc", CURRENT_TIME + HOUR, PASSWORD)
    index %= len(link)
    changed_token = link[:index] + letter + link[index + 1 :]
    assert verify_access_token(changed_token, "abc", CURRENT_TIME, PASSWORD) is (
        changed_token == link
    )


def test_a_page_of_another_site_cannot_log_a_visitor_in() -> None:
    client, body = GateClient(), "password=correct+horse+battery"
    for headers, status in (
        ((), 303),
        ((("Host", "cards.example"), ("Origin", "https://cards.example")), 303),
        ((("Host", "cards.example"), ("Origin", "https://evil.example")), 403),
        ((("Sec-Fetch-Site", "cross-site"),), 403),
    ):
        assert client.send("/matches", body, headers).status == status
