"""Tests of the REST API beyond the recordings of tests/replay: limits, lists, and login."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from requests.auth import HTTPDigestAuth
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    DUMMY,
    OUTSIDER,
    PASSWORDS,
    ArenaHttpClient,
    ManualClock,
    basic_auth,
)
from support.arena_server import running_arena as at_home
from support.cloud_arena import ArenaFactory
from support.waiting import HANG_SECONDS

from cardsharp.games.deadmansdraw.arena.access.auth import NONCE_TTL
from cardsharp_tools.local_server.arena_server import ArenaServer

RunningArena = tuple[ArenaServer, ArenaHttpClient, ManualClock]


@pytest.fixture(scope="module")
def running_arena(
    opened: ArenaFactory, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningArena]:
    clock = ManualClock()
    folder = tmp_path_factory.mktemp("arena")
    poll_timeout = timedelta(milliseconds=1)
    with opened(folder, clock=clock, long_poll_timeout=poll_timeout) as (arena, client):
        yield arena, client, clock


@pytest.fixture
def client(running_arena: RunningArena) -> ArenaHttpClient:
    return running_arena[1]


@pytest.fixture
def match(running_arena: RunningArena) -> str:
    return f"/api/matches/{running_arena[0].create_match_and_get_id([ALICE, BOB], seed='norandom')}"


INVALID_BODIES = {
    "deep list": b"[" * 60_000,
    "deep object": b'{"a":' * 10_000,
    "deep but closed": b'{"effect":{"card":' + b"[" * 900 + b"]" * 900 + b"}}",
    "deep etype": b'{"etype":' + b"[" * 900 + b"]" * 900 + b"}",
    "deep effect type": b'{"effect":{"effectType":' + b"[" * 900 + b"]" * 900 + b'}, "etype":"x"}',
    "not a number": b'{"timeout":NaN, "etype":NaN}',
    "infinite": b'{"timeout":1e999, "etype":1e999}',
    "many digits": b'{"etype":' + b"9" * 5000 + b"}",
    "huge card": b'{"drawPile":[["Hook",1' + b"0" * 400 + b']],"effect":{"card":["Hook",1'
    + b"0" * 400 + b"]}}",
    "half a surrogate pair": b'{"tags":["\\ud800"],"etype":"\\ud800"}',
    "not UTF-8": b'{"tags":["\xff"]}',
}  # fmt: skip


@pytest.mark.parametrize("body", INVALID_BODIES.values(), ids=INVALID_BODIES)
def test_an_invalid_body_is_rejected_or_harmless(
    client: ArenaHttpClient, match: str, body: bytes
) -> None:
    """The response is never a 5xx; no match changes, and a created match can be read."""
    response = client.request("POST", match, ALICE, body)
    assert response.status == 400
    assert response.json()["error"]
    assert client.get(match).json()["moveCount"] == 1
    response = client.request("POST", "/api/matches", ALICE, body)
    assert response.status in {200, 400}
    if response.status == 200:
        assert client.get(f"/api/matches/{response.json()['id']}").status == 200


DEFLATE_HEADERS, GZIP_HEADERS = ({"Content-Encoding": encoding} for encoding in ("deflate", "gzip"))
LATIN1_HEADERS = {"Content-Type": "application/json; charset=latin1"}
REJECTED_REQUESTS: tuple[tuple[dict[str, str], bytes, int, str], ...] = (
    ({}, b'{"tags":["' + b"x" * 102_401 + b'"]}', 413, "The body is larger than 102400 bytes."),
    ({}, b'{"tags":["' + b"x" * 900_000 + b'"]}', 413, "The body is larger than 102400 bytes."),
    (DEFLATE_HEADERS, zlib.compress(b" " * 102_401), 413, "The body is larger than 102400 bytes."),
    (GZIP_HEADERS, b"{}", 400, "The body is not compressed with gzip."),
    (LATIN1_HEADERS, b"{}", 415, 'unsupported charset "LATIN1"'),
)


def test_a_body_that_is_too_large_or_in_an_unknown_form_is_refused(client: ArenaHttpClient) -> None:
    """A body is checked before its user is, and later requests succeed.

    Up to 100 kB are allowed. The size of a compressed body is its unpacked size.
    """
    for headers, body, status, message in REJECTED_REQUESTS:
        for user in (ALICE, None):
            response = client.request("POST", "/api/matches", user, body, headers)
            assert (response.status, message in response.json()["error"]) == (status, True)
            client.close()
    largest_body = json.dumps({"nobody": ["x" * 102_300]}).encode()
    assert len(largest_body) < 102_400
    for body, headers in ((largest_body, {}), (gzip.compress(largest_body), GZIP_HEADERS)):
        assert client.request("POST", "/api/matches", ALICE, body, headers).status == 200


def test_pages_of_a_list_follow_each_other(opened: ArenaFactory, tmp_path: Path) -> None:
    """The limit 1 gives 11 matches (sic); the offset continues a list in both orders."""
    with opened(tmp_path, clock=ManualClock()) as (arena, client):
        match_ids = [
            arena.create_match_and_get_id([ALICE, BOB], tags=[str(number)]) for number in range(25)
        ]

        def list_match_ids(query: str) -> list[str]:
            response = client.get(f"/api/matches?condensed=1&{query}", ALICE)
            return [entry["id"] for entry in response.json()]

        newest = match_ids[::-1]
        assert list_match_ids("") == newest
        assert list_match_ids("sortasc=1") == match_ids
        assert list_match_ids("limit=1") == newest[:11]
        assert list_match_ids(f"limit=1&offset={newest[10]}") == newest[11:22]
        assert list_match_ids(f"limit=1&sortasc=1&offset={match_ids[10]}") == match_ids[11:22]
        assert list_match_ids(f"offset={newest[10]}") == newest
        assert (
            list_match_ids("limit=0")
            == list_match_ids("limit=-1")
            == list_match_ids("limit=x")
            == list_match_ids("limit=1.5")
            == newest
        )
        assert list_match_ids("tags=3,24,none") == [match_ids[24], match_ids[3]]


def test_busy_days_are_those_of_the_caller_around_a_month(
    opened: ArenaFactory, tmp_path: Path
) -> None:
    """The busy days of a player are those of its matches; the admin's are those of all matches.

    Without a date the request means this month; an unreadable date means any time.
    """
    clock = ManualClock()
    with opened(tmp_path, clock=clock) as (arena, client):
        today = clock.current_time
        for players in ([ALICE, BOB], [OUTSIDER, BOB], [ALICE, ALICE]):
            arena.create_match_and_get_id(players)
            clock.advance(timedelta(days=20))
        first, second, third = (
            (today + timedelta(days=list_busy_days)).astimezone().strftime("%a %b %d %Y")
            for list_busy_days in (0, 20, 40)
        )

        def list_busy_days(user: str, query: str = "") -> list[str]:
            return client.get(f"/api/matches/busydays{query}", user).json()

        assert list_busy_days(ALICE, "?at=2026-11-03") == [first]
        assert list_busy_days(ADMIN, "?at=2026-12-02") == [second, third]
        assert list_busy_days(ADMIN) == [third]  # it is January
        assert list_busy_days(ALICE, "?at=any") == [first, third]
        assert list_busy_days(DUMMY, "?at=any") == []


def test_a_forwarded_address_is_ignored(client: ArenaHttpClient) -> None:
    response = client.request(
        "GET", "/api/sessioninfo", ALICE, headers={"X-Forwarded-For": "6.6.6.6"}
    )
    assert response.json()["ip"] == "127.0.0.1"


# --- who is let in: Basic and Digest, nonces that expire -------------------------------------


RequestWhoami = Callable[[], requests.Response]


def request_whoami_status(client: ArenaHttpClient, authorization: str) -> int:
    return client.request("GET", "/api/whoami", headers={"Authorization": authorization}).status


@contextmanager
def open_digest_session(
    arena: ArenaServer, password: str = PASSWORDS[ALICE]
) -> Iterator[RequestWhoami]:
    """Open a Digest session of Alice, and yield a function that requests whoami."""
    with requests.Session() as session:
        session.auth = HTTPDigestAuth(ALICE, password)
        yield lambda: session.get(f"{arena.url}/api/whoami", timeout=HANG_SECONDS)


@pytest.fixture
def request_with_digest(running_arena: RunningArena) -> Iterator[RequestWhoami]:
    with open_digest_session(running_arena[0]) as session:
        yield session


def test_wrong_credentials_are_challenged(running_arena: RunningArena) -> None:
    """The challenge after wrong credentials is not marked as stale, so the user is asked again."""
    for authorization in (
        basic_auth(ALICE, {ALICE: PASSWORDS[BOB]}),
        basic_auth(ALICE.upper(), {ALICE.upper(): PASSWORDS[ALICE]}),
        'Digest username="x", realm="SLCEE-2023-PC", nonce="\xe9", uri="/api/whoami", qop=auth',
        f'Digest username="{ALICE}", uri="/api/whoami", qop="auth", nonce="", response=""',
    ):
        assert request_whoami_status(running_arena[1], authorization) == 401
    with open_digest_session(running_arena[0], "guess") as request_with_wrong_password:
        response = request_with_wrong_password()
    assert response.status_code == 401
    assert "stale" not in response.headers["www-authenticate"]


def test_an_expired_nonce_is_reported_as_stale(
    running_arena: RunningArena, request_with_digest: RequestWhoami
) -> None:
    """A nonce is reusable during its life; later the browser gets a new one."""
    _, _, clock = running_arena
    assert request_with_digest().history != []
    clock.advance(NONCE_TTL - timedelta(seconds=5))
    assert request_with_digest().history == []
    clock.advance(timedelta(seconds=10))
    response = request_with_digest()
    assert response.status_code == 200
    assert "stale=true" in response.history[0].headers["www-authenticate"]


def test_a_digest_response_is_accepted_once(
    client: ArenaHttpClient, request_with_digest: RequestWhoami, tmp_path: Path
) -> None:
    """The count of a nonce rises with each request, so a replayed response is stale.

    A response is valid for one path and one method. Nonces are sealed with a key of the
    process.
    """
    first, second = (str(request_with_digest().request.headers["Authorization"]) for _ in range(2))
    assert ("nc=00000001" in first, "nc=00000002" in second) == (True, True)
    for authorization in (first, second):
        replay = client.request("GET", "/api/whoami", headers={"Authorization": authorization})
        assert replay.status == 401
        assert "stale=true" in replay.headers["www-authenticate"][0]
    assert request_with_digest().history == []
    for method, path, status in (
        ("GET", "sessioninfo", 400),
        ("GET", "whoami?x=1", 400),
        ("POST", "whoami", 404),
        ("HEAD", "whoami", 401),
    ):
        response = client.request(method, f"/api/{path}", headers={"Authorization": second})
        assert response.status == status
    for count in ("", "x", "-1", "0", "00000001 "):
        assert request_whoami_status(client, first.replace("nc=00000001", f'nc="{count}"')) == 401
    with at_home(tmp_path) as (other_arena, _), open_digest_session(other_arena) as session:
        foreign_authorization = str(session().request.headers["Authorization"])
    assert request_whoami_status(client, foreign_authorization) == 401


def test_an_arena_without_an_admin_password_has_no_admin(
    opened: ArenaFactory, tmp_path: Path
) -> None:
    with opened(tmp_path, admin_password=None) as (_, client):
        assert request_whoami_status(client, basic_auth(ADMIN, {ADMIN: ""})) == 401
        assert client.get("/api/whoami", ADMIN).status == 401
        assert client.get("/api/whoami", ALICE).status == 200


def test_a_cross_site_form_is_rejected(running_arena: RunningArena) -> None:
    """A cross-site text/plain form to the watchdog is rejected by its Sec-Fetch-Site header."""
    cross_site_headers = {"Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}
    responses = (
        running_arena[1].request("POST", "/api/matches/watchdog", ADMIN, b"", headers)
        for headers in ({}, cross_site_headers)
    )
    assert [response.status for response in responses] == [200, 403]


def test_a_form_with_a_foreign_origin_is_rejected(running_arena: RunningArena) -> None:
    """Browsers send no Sec-Fetch-Site header by plain http, as in a classroom."""
    arena, client, _ = running_arena
    origins = (None, arena.url, "http://evil.example", f"{arena.url}0", "null")
    for path in ("/api/matches/watchdog", "/api/matches", "/matches"):
        statuses = [
            client.request(
                "POST",
                path,
                ADMIN,
                b"",
                {"Content-Type": "text/plain"} | ({} if origin is None else {"Origin": origin}),
            ).status
            for origin in origins
        ]
        assert 403 not in statuses[:2]
        assert statuses[2:] == [403, 403, 403]
