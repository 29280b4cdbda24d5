"""Any combination of headers: only our own pages and programs may change anything."""

import asyncio
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.types import Message
from support.case_counts import case_count

from cardsharp.server.request_origin import is_cross_site_change
from cardsharp_tools.games.blef.remote_lobby import remote_lobby_page

HOSTS = ("arena.example", "arena.example:8080", "192.168.1.7:8080", "[fe80::1]:8080", "localhost")
PEERS = ("192.168.1.9", "127.0.0.1", "::1", "testclient")
SITES = (None, "same-origin", "same-site", "none", "cross-site")
FOREIGN_ORIGINS = (
    *("https://evil.example", "http://evil.example:8080", "http://arena.example.evil.example"),
    *("http://evil.example/arena.example", "http://arena.example@evil.example", "http://"),
    *("http://arena.example:99999", "http://arena.example:8081", "file://arena.example", "", "x"),
    *("http://[fe80::1", "chrome-extension://arena.example", "http://sub.arena.example"),
)


def build_request(
    scheme: str, peer: str, headers: dict[str, str | None], method: str = "POST"
) -> Request:
    pairs = [(n.lower().encode(), v.encode()) for n, v in headers.items() if v is not None]
    scope = {"type": "http", "method": method, "scheme": scheme, "path": "/", "headers": pairs}
    return Request(scope | {"client": (peer, 1), "query_string": b"", "server": ("x", 1)})


requests_of_any_kind = {
    "scheme": st.sampled_from(("http", "https")),
    "host": st.sampled_from(HOSTS),
    "peer": st.sampled_from(PEERS),
    "site": st.sampled_from(SITES),
}


@settings(max_examples=case_count(150, full=5000))
@given(**requests_of_any_kind, method=st.sampled_from(("POST", "PUT", "DELETE", "PATCH", "post")))
def test_a_request_without_an_origin_passes_unless_the_browser_says_cross_site(
    scheme: str, host: str, peer: str, site: str | None, method: str
) -> None:
    headers = {"Host": host, "Sec-Fetch-Site": site}
    request = build_request(scheme, peer, headers, method)
    assert is_cross_site_change(request) == (site == "cross-site")


@settings(max_examples=case_count(150, full=5000))
@given(**requests_of_any_kind, forwards_scheme=st.booleans())
def test_our_own_origin_passes(
    scheme: str, host: str, peer: str, site: str | None, forwards_scheme: bool
) -> None:
    headers = {"Host": host, "Sec-Fetch-Site": site, "Origin": f"{scheme}://{host}"}
    headers |= {"X-Forwarded-Proto": scheme} if forwards_scheme else {}
    request = build_request(scheme, peer, headers)
    assert is_cross_site_change(request) == (site == "cross-site")


@settings(max_examples=case_count(300, full=10000))
@given(
    **requests_of_any_kind,
    origin=st.sampled_from(FOREIGN_ORIGINS) | st.from_regex(r"https?://[a-z.]{1,9}(:\d+)?"),
)
def test_a_foreign_origin_never_passes(
    scheme: str, host: str, peer: str, site: str | None, origin: str
) -> None:
    """Also not if a header that anybody can send claims another host, unless a proxy sent it."""
    forwarded = {} if peer in {"127.0.0.1", "::1"} else {"X-Forwarded-Host": origin[7:]}
    headers = {"Host": host, "Sec-Fetch-Site": site, "Origin": origin, **forwarded}
    request = build_request(scheme, peer, headers)
    if origin.partition("//")[2] == host:  # a generated one that is ours
        return
    assert is_cross_site_change(request)
    assert is_cross_site_change(request, accepts_opaque_origin=True)


@pytest.mark.parametrize(("site", "accepts"), [*product(SITES, (False, True))])
def test_an_opaque_origin_passes_only_where_a_secret_or_the_browser_vouches(
    site: str | None, accepts: bool
) -> None:
    headers = {"Host": "arena.example", "Sec-Fetch-Site": site, "Origin": "null"}
    request = build_request("http", "192.168.1.9", headers)
    passes = site != "cross-site" and (accepts or site == "same-origin")
    assert is_cross_site_change(request, accepts_opaque_origin=accepts) != passes


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_a_request_that_only_reads_passes(method: str) -> None:
    headers: dict[str, str | None] = {"Origin": "https://evil.example", "Host": "arena.example"}
    headers["Sec-Fetch-Site"] = "cross-site"
    assert not is_cross_site_change(build_request("http", "192.168.1.9", headers, method))


@pytest.mark.parametrize(
    ("peer", "headers", "passes"),
    [
        # Caddy passes the host on; nginx does so if it is told to, or names it beside its own.
        ("127.0.0.1", {"Host": "arena.example"}, True),
        ("127.0.0.1", {"Host": "localhost:8080", "X-Forwarded-Host": "arena.example"}, True),
        ("127.0.0.1", {"Host": "arena.example", "X-Forwarded-Proto": "https"}, True),
        ("127.0.0.1", {"Host": "arena.example", "X-Forwarded-Proto": "http"}, False),
        ("127.0.0.1", {"Host": "localhost:8080"}, False),
        # Whoever is on another machine is no proxy that we know.
        ("192.168.1.9", {"Host": "arena.example"}, False),
        ("192.168.1.9", {"Host": "localhost:8080", "X-Forwarded-Host": "arena.example"}, False),
        ("192.168.1.9", {"Host": "arena.example", "X-Forwarded-Proto": "https"}, False),
    ],
)
def test_a_proxy_on_this_machine_may_serve_https_for_us(
    peer: str, headers: dict[str, str | None], passes: bool
) -> None:
    request = build_request("http", peer, {"Origin": "https://arena.example", **headers})
    assert is_cross_site_change(request) != passes


@pytest.mark.parametrize(
    ("origin", "status"), [("http://localhost", 404), ("http://evil.example", 403), (None, 404)]
)
def test_the_lobby_for_another_service_forwards_nothing_for_other_sites(
    origin: str | None, status: int
) -> None:
    """404 is the answer of the lobby itself, to a request that it does not forward."""
    headers = {"Host": "localhost", "Origin": origin, "Content-Type": "application/json"}
    request = build_request("http", "127.0.0.1", headers)
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {**request.scope, "path": "/nowhere", "root_path": ""}
    asyncio.run(remote_lobby_page("http://127.0.0.1:9")(scope, receive, send))
    assert sent[0]["status"] == status
