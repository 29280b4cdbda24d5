"""The REST API beyond what was recorded (tests/replay): limits, lists, and who is let in."""

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
from support.cloud_arena import Opened
from support.waiting import HANG_SECONDS

from cardsharp.games.deadmansdraw.arena.access.auth import NONCE_TTL
from cardsharp_tools.local_server.arena_server import ArenaServer

Running = tuple[ArenaServer, ArenaHttpClient, ManualClock]


@pytest.fixture(scope="module")
def running(opened: Opened, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    clock = ManualClock()
    folder = tmp_path_factory.mktemp("arena")
    short = timedelta(milliseconds=1)
    with opened(folder, clock=clock, long_poll_timeout=short) as (arena, client):
        yield arena, client, clock


@pytest.fixture
def client(running: Running) -> ArenaHttpClient:
    return running[1]


@pytest.fixture
def match(running: Running) -> str:
    return f"/api/matches/{running[0].create_match_and_get_id([ALICE, BOB], seed='norandom')}"


NASTY = {
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


@pytest.mark.parametrize("body", NASTY.values(), ids=NASTY)
def test_a_nasty_body_is_refused_or_harmless(
    client: ArenaHttpClient, match: str, body: bytes
) -> None:
    """Never a 5xx: no action by it changes a match, and what it creates can be looked at."""
    answer = client.request("POST", match, ALICE, body)
    assert answer.status == 400
    assert answer.json()["error"]
    assert client.get(match).json()["moveCount"] == 1
    answer = client.request("POST", "/api/matches", ALICE, body)
    assert answer.status in {200, 400}
    if answer.status == 200:
        assert client.get(f"/api/matches/{answer.json()['id']}").status == 200


DEFLATED, ZIPPED = ({"Content-Encoding": encoding} for encoding in ("deflate", "gzip"))
LATIN1 = {"Content-Type": "application/json; charset=latin1"}
REFUSED: tuple[tuple[dict[str, str], bytes, int, str], ...] = (
    ({}, b'{"tags":["' + b"x" * 102_401 + b'"]}', 413, "The body is larger than 102400 bytes."),
    ({}, b'{"tags":["' + b"x" * 900_000 + b'"]}', 413, "The body is larger than 102400 bytes."),
    (DEFLATED, zlib.compress(b" " * 102_401), 413, "The body is larger than 102400 bytes."),
    (ZIPPED, b"{}", 400, "The body is not compressed with gzip."),
    (LATIN1, b"{}", 415, 'unsupported charset "LATIN1"'),
)


def test_a_body_that_is_too_large_or_in_an_unknown_form_is_refused(client: ArenaHttpClient) -> None:
    """A body is checked before its user is, and other requests go on.

    Up to 100 kB are allowed. A compressed body is measured unpacked.
    """
    for headers, body, status, message in REFUSED:
        for user in (ALICE, None):
            answer = client.request("POST", "/api/matches", user, body, headers)
            assert (answer.status, message in answer.json()["error"]) == (status, True)
            client.close()
    allowed = json.dumps({"nobody": ["x" * 102_300]}).encode()
    assert len(allowed) < 102_400
    for body, headers in ((allowed, {}), (gzip.compress(allowed), ZIPPED)):
        assert client.request("POST", "/api/matches", ALICE, body, headers).status == 200


def test_pages_of_a_list_follow_each_other(opened: Opened, tmp_path: Path) -> None:
    """limit=1 gives 11 (sic); offset goes on after the last, in both orders."""
    with opened(tmp_path, clock=ManualClock()) as (arena, client):
        match_ids = [arena.create_match_and_get_id([ALICE, BOB], tags=[str(n)]) for n in range(25)]

        def ids(query: str) -> list[str]:
            answer = client.get(f"/api/matches?condensed=1&{query}", ALICE)
            return [entry["id"] for entry in answer.json()]

        newest = match_ids[::-1]
        assert ids("") == newest
        assert ids("sortasc=1") == match_ids
        assert ids("limit=1") == newest[:11]
        assert ids(f"limit=1&offset={newest[10]}") == newest[11:22]
        assert ids(f"limit=1&sortasc=1&offset={match_ids[10]}") == match_ids[11:22]
        assert ids(f"offset={newest[10]}") == newest
        assert ids("limit=0") == ids("limit=-1") == ids("limit=x") == ids("limit=1.5") == newest
        assert ids("tags=3,24,none") == [match_ids[24], match_ids[3]]


def test_busy_days_are_those_of_the_caller_around_a_month(opened: Opened, tmp_path: Path) -> None:
    """The admin's are all; without a day it is this month, without a readable one any."""
    clock = ManualClock()
    with opened(tmp_path, clock=clock) as (arena, client):
        today = clock.current_time
        for players in ([ALICE, BOB], [OUTSIDER, BOB], [ALICE, ALICE]):
            arena.create_match_and_get_id(players)
            clock.advance(timedelta(days=20))
        first, second, third = (
            (today + timedelta(days=days)).astimezone().strftime("%a %b %d %Y")
            for days in (0, 20, 40)
        )

        def days(user: str, query: str = "") -> list[str]:
            return client.get(f"/api/matches/busydays{query}", user).json()

        assert days(ALICE, "?at=2026-11-03") == [first]
        assert days(ADMIN, "?at=2026-12-02") == [second, third]
        assert days(ADMIN) == [third]  # it is January
        assert days(ALICE, "?at=any") == [first, third]
        assert days(DUMMY, "?at=any") == []


def test_a_forwarded_address_is_not_believed(client: ArenaHttpClient) -> None:
    answer = client.request(
        "GET", "/api/sessioninfo", ALICE, headers={"X-Forwarded-For": "6.6.6.6"}
    )
    assert answer.json()["ip"] == "127.0.0.1"


# --- who is let in: Basic and Digest, nonces that expire -------------------------------------


Digest = Callable[[], requests.Response]


def whoami(client: ArenaHttpClient, authorization: str) -> int:
    return client.request("GET", "/api/whoami", headers={"Authorization": authorization}).status


@contextmanager
def digesting(arena: ArenaServer, password: str = PASSWORDS[ALICE]) -> Iterator[Digest]:
    """Open a Digest session of Alice, and yield a function that requests whoami."""
    with requests.Session() as session:
        session.auth = HTTPDigestAuth(ALICE, password)
        yield lambda: session.get(f"{arena.url}/api/whoami", timeout=HANG_SECONDS)


@pytest.fixture
def digest(running: Running) -> Iterator[Digest]:
    with digesting(running[0]) as session:
        yield session


def test_wrong_credentials_are_challenged(running: Running) -> None:
    """And a wrong answer is not called stale: the user is to be asked."""
    for authorization in (
        basic_auth(ALICE, {ALICE: PASSWORDS[BOB]}),
        basic_auth(ALICE.upper(), {ALICE.upper(): PASSWORDS[ALICE]}),
        'Digest username="x", realm="SLCEE-2023-PC", nonce="\xe9", uri="/api/whoami", qop=auth',
        f'Digest username="{ALICE}", uri="/api/whoami", qop="auth", nonce="", response=""',
    ):
        assert whoami(running[1], authorization) == 401
    with digesting(running[0], "guess") as wrong:
        answer = wrong()
    assert answer.status_code == 401
    assert "stale" not in answer.headers["www-authenticate"]


def test_a_nonce_expires_and_its_answer_is_called_stale(running: Running, digest: Digest) -> None:
    """Within its life a nonce serves again; after it a browser is told to answer a new one."""
    _, _, clock = running
    assert digest().history != []
    clock.advance(NONCE_TTL - timedelta(seconds=5))
    assert digest().history == []
    clock.advance(timedelta(seconds=10))
    response = digest()
    assert response.status_code == 200
    assert "stale=true" in response.history[0].headers["www-authenticate"]


def test_an_answer_serves_once(client: ArenaHttpClient, digest: Digest, tmp_path: Path) -> None:
    """The count of a nonce rises with each request; what was overheard does not, and is stale.

    It opens neither another path nor another method. Nonces are sealed with a key of the process.
    """
    first, second = (str(digest().request.headers["Authorization"]) for _ in range(2))
    assert ("nc=00000001" in first, "nc=00000002" in second) == (True, True)
    for overheard in (first, second):
        replay = client.request("GET", "/api/whoami", headers={"Authorization": overheard})
        assert replay.status == 401
        assert "stale=true" in replay.headers["www-authenticate"][0]
    assert digest().history == []
    for method, path, status in (
        ("GET", "sessioninfo", 400),
        ("GET", "whoami?x=1", 400),
        ("POST", "whoami", 404),
        ("HEAD", "whoami", 401),
    ):
        answer = client.request(method, f"/api/{path}", headers={"Authorization": second})
        assert answer.status == status
    for count in ("", "x", "-1", "0", "00000001 "):
        assert whoami(client, first.replace("nc=00000001", f'nc="{count}"')) == 401
    with at_home(tmp_path) as (another, _), digesting(another) as session:
        foreign = str(session().request.headers["Authorization"])
    assert whoami(client, foreign) == 401


def test_an_arena_without_an_admin_password_has_no_admin(opened: Opened, tmp_path: Path) -> None:
    with opened(tmp_path, admin_password=None) as (_, client):
        assert whoami(client, basic_auth(ADMIN, {ADMIN: ""})) == 401
        assert client.get("/api/whoami", ADMIN).status == 401
        assert client.get("/api/whoami", ALICE).status == 200


def test_a_page_of_another_site_has_a_signed_in_browser_do_nothing(running: Running) -> None:
    """Its text/plain form would reach the watchdog; a browser says where such a form comes from."""
    cross = {"Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"}
    responses = (
        running[1].request("POST", "/api/matches/watchdog", ADMIN, b"", headers)
        for headers in ({}, cross)
    )
    assert [answer.status for answer in responses] == [200, 403]
