"""Limits on one player or address: passwords tried, request rate, matches, bytes and time."""

import asyncio
import logging
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    ArenaHttpClient,
    BackgroundRequest,
    HttpResponse,
    ManualClock,
    basic_auth,
    running_arena,
)
from support.cloud_arena import Opened
from support.waiting import HANG_SECONDS

from cardsharp.games.deadmansdraw.arena.access import throttling
from cardsharp.games.deadmansdraw.arena.access.quotas import PlayerQuotas
from cardsharp.games.deadmansdraw.arena.access.throttling import (
    FREE_GUESSES,
    LoginThrottle,
    MemoryWindowCounter,
)
from cardsharp_tools.local_cloud.api_gateway import function_server
from cardsharp_tools.local_cloud.lambda_events import LambdaFunction
from cardsharp_tools.local_server import http_server

ClientAndClock = tuple[ArenaHttpClient, ManualClock]
FEW = PlayerQuotas(max_matches_per_day=2, max_concurrent_requests=3)


@pytest.fixture
def home(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ClientAndClock]:
    monkeypatch.setattr(throttling, "MAX_GUESSES_PER_ADDRESS", FREE_GUESSES + 1)
    monkeypatch.setattr(throttling, "MAX_GUESSES_UNDELAYED", FREE_GUESSES + 1)
    clock = ManualClock()
    with opened(tmp_path, clock=clock, quotas=FEW) as (_, client):
        yield client, clock


def guess(client: ArenaHttpClient, password: str) -> HttpResponse:
    headers = {"Authorization": basic_auth(ADMIN, {ADMIN: password})}
    return client.request("GET", "/api/whoami", headers=headers)


LOCAL_ADDRESS, OTHER_ADDRESS = "127.0.0.1", "127.0.0.2"


def request_status(url: str, user: str | None, address: str) -> int:
    headers = {} if user is None else {"Authorization": basic_auth(user)}
    line = HTTPConnection(urlsplit(url).netloc, source_address=(address, 0))
    line.request("GET", "/api/hello" if user is None else "/api/whoami", None, headers)
    status = line.getresponse().status
    line.close()
    return status


# --- wrong passwords -----------------------------------------------------------------------


def test_wrong_passwords_are_delayed_ever_longer_and_right_ones_never() -> None:
    """By address, whoever's password it is, and by user, wherever it comes from."""
    throttle = LoginThrottle(MemoryWindowCounter(clock := ManualClock()), clock)
    waits = [
        throttle.record_failure_and_get_delay("10.0.0.1", f"user {n}").total_seconds()
        for n in range(FREE_GUESSES + 3)
    ]
    assert waits == [0] * FREE_GUESSES + [0.1, 0.2, 0.3]
    waits = [
        throttle.record_failure_and_get_delay(f"10.0.1.{n}", "admin").total_seconds()
        for n in range(FREE_GUESSES + 200)
    ]
    assert waits[FREE_GUESSES - 1 : FREE_GUESSES + 2] == [0, 0.1, 0.2]
    assert waits[-1] == 10
    throttle.check_attempt_allowed("10.0.0.1", "admin")
    clock.advance(timedelta(minutes=1))
    assert throttle.record_failure_and_get_delay("10.0.0.1", "admin") == timedelta()


def test_a_guesser_hangs_up_and_is_shut_out(
    home: ClientAndClock, caplog: pytest.LogCaptureFixture
) -> None:
    """But not to where it was let in before. The organiser reads of it once, without a password."""
    client, clock = home
    assert (
        request_status(client.url, ADMIN, OTHER_ADDRESS) == client.get("/api/whoami").status == 200
    )
    responses = [guess(client, f"secret-{n}") for n in range(FREE_GUESSES + 3)]
    assert [response.status for response in responses] == [401] * (FREE_GUESSES + 1) + [429] * 2
    for answer in responses:
        assert answer.headers["connection"] == ["close"]
    assert responses[-1].headers["retry-after"] == ["60"]
    assert [client.get("/api/whoami", user).status for user in (ADMIN, ALICE)] == [429, 200]
    assert [
        request_status(client.url, ADMIN, address) for address in ("127.0.0.3", OTHER_ADDRESS)
    ] == [429, 200]
    assert request_status(client.url, BOB, "127.0.0.3") == 200
    clock.advance(timedelta(minutes=1))
    assert client.get("/api/whoami", ADMIN).status == 200
    assert [record.message for record in caplog.records if "for admin" in record.message] == [
        f"{FREE_GUESSES} wrong passwords within a minute: for admin",
        f"{FREE_GUESSES + 1} wrong passwords within a minute: for admin",
    ]
    assert "secret" not in caplog.text


# --- how fast -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "asking"),
    [
        (
            (1000, 2),
            [(ALICE, LOCAL_ADDRESS)] * 4
            + [(BOB, LOCAL_ADDRESS), (ADMIN, LOCAL_ADDRESS)] * 2
            + [(ALICE, OTHER_ADDRESS)],
        ),
        ((1, 5), [(ALICE, LOCAL_ADDRESS), (None, LOCAL_ADDRESS), (None, LOCAL_ADDRESS)]),
    ],
    ids=["user", "address"],
)
def test_a_request_beyond_a_limit_is_delayed_and_answered(
    tmp_path: Path, limits: tuple[int, int], asking: list[tuple[str | None, str]]
) -> None:
    """The first request beyond it waits 100 ms, the second 200; another user or address does not.

    The admin is free of the users' limit (docs/spec/arena.md section 2).
    """
    slept: list[float] = []
    options = {"throttle": True, "max_per_address": limits[0], "max_per_user": limits[1]}
    with running_arena(tmp_path, **options) as (arena, _):

        async def sleep(seconds: float) -> None:
            slept.append(round(seconds, 3))

        arena._arena._guard._sleep = sleep
        assert {request_status(arena.url, user, address) for user, address in asking} == {200}
    assert slept == [0.1, 0.2]


def test_a_client_that_disconnects_while_throttled_has_no_effect(tmp_path: Path) -> None:
    """As at the original, where an action that is slowed and given up is never carried out."""
    slowed, cancelled = threading.Event(), threading.Event()

    async def sleep(_seconds: float) -> None:
        slowed.set()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    with running_arena(tmp_path, throttle=True, max_per_user=1) as (arena, client):
        match = arena.create_match_and_get_id([ALICE, BOB], seed="norandom")
        assert client.get(f"/api/matches/{match}").status == 200
        arena._arena._guard._sleep = sleep
        line = HTTPConnection(urlsplit(arena.url).netloc)
        headers = {"Authorization": basic_auth(ALICE), "Content-Type": "application/json"}
        line.request("POST", f"/api/matches/{match}", b'{"etype": "Draw"}', headers)
        assert slowed.wait(HANG_SECONDS)
        line.close()
        assert cancelled.wait(HANG_SECONDS)
        assert arena.admin_view(match)["moveCount"] == 1


# --- matches, requests, bytes --------------------------------------------------------------


def test_a_player_creates_few_matches_a_day(
    home: ClientAndClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    client, clock = home
    assert [client.post("/api/matches").status for _ in range(4)] == [200, 200, 429, 429]
    assert "may create 2 matches a day" in client.post("/api/matches").text
    assert client.post("/api/matches", BOB).status == 200
    statuses = [
        client.post("/api/matches", ADMIN, {"playerids": [ALICE, BOB]}).status for _ in "1234"
    ]
    assert statuses == [200] * 4
    clock.advance(timedelta(days=1))
    assert client.post("/api/matches").status == 200
    assert (
        f"A request of Alice ({ALICE}) was rejected: A player may create 2 matches" in caplog.text
    )


def test_so_many_requests_of_a_player_wait_at_a_time(tmp_path: Path) -> None:
    """The next is refused at once, and its connection closed; others go on."""
    with running_arena(tmp_path, quotas=FEW) as (arena, client):
        path = "/api/matches?active=1&wait=1"
        polls = [
            BackgroundRequest(arena, "GET", path, ALICE) for _ in range(FEW.max_concurrent_requests)
        ]
        refused = client.get("/api/whoami")
        assert (refused.status, refused.headers["connection"]) == (429, ["close"])
        assert client.get("/api/whoami", BOB).status == 200
        arena.create_match_and_get_id([ALICE, ALICE])
        assert [poll.response().status for poll in polls] == [200] * FEW.max_concurrent_requests
        assert client.get("/api/whoami").status == 200


LARGE: tuple[tuple[dict[str, object], str], ...] = (
    ({"tags": ["x" * 1000]}, "All tags together may have at most 1000 characters."),
    ({"tags": [""] * 1001}, "All tags together may have at most 1000 characters."),
    ({"playArea": [["Hook", 3]] * 61}, "A pile has at most 60 cards."),
    ({"randomSeed": "x" * 201}, "longer than 200"),
    ({"randomSeed": [[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]}, "nested too deeply"),
    ({"timeout": 1e10}, "a year"),
)


def test_a_match_cannot_be_large(tmp_path: Path) -> None:
    """Some thousands filled the organiser's disk."""
    with running_arena(tmp_path) as (_, client):
        for body, message in LARGE:
            answer = client.post("/api/matches", ALICE, body)
            assert (answer.status, message in answer.json()["error"]) == (400, True)
        match = client.post("/api/matches", ALICE).json()["id"]
        end = {"comment": "x" * 1001}
        assert client.request("DELETE", f"/api/matches/{match}/terminate", ALICE, end).status == 400


# --- a body that never comes whole: both of our servers end the wait ----------------------------


def everything(url: str, request: str) -> bytes:
    """All that Alice is answered before the server closes the connection."""
    parts = urlsplit(url)
    line, _, rest = request.partition("\r\n")
    head = f"{line} HTTP/1.1\r\nHost: x\r\nAuthorization: {basic_auth(ALICE)}\r\n{rest}"
    with socket.create_connection(
        (str(parts.hostname), parts.port or 0), timeout=HANG_SECONDS
    ) as client:
        client.sendall(head.encode())
        return b"".join(iter(lambda: client.recv(65_536), b""))


def test_half_a_body_is_answered_and_the_connection_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is that of the body: a long poll, whose body is whole, outlasts it."""
    monkeypatch.setattr(http_server, "BODY_TIMEOUT", timedelta(seconds=0.3))
    half = 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"tags":'
    front = function_server(
        LambdaFunction("any", lambda *_: {"statusCode": 200}, timedelta(seconds=29))
    )
    with running_arena(tmp_path, long_poll_timeout=timedelta(seconds=0.9)) as (arena, _), front:
        for url in (arena.url, front.url):
            answer = everything(url, f"POST /api/matches\r\n{half}")
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b"did not arrive" in answer
            assert b"connection: close" in answer.lower()
            poll_response = everything(url, "GET /api/matches?wait=1\r\nConnection: close\r\n\r\n")
            assert poll_response.startswith(b"HTTP/1.1 200 ")
