"""Tests of the limits on a player or an address: passwords, requests, matches, bytes, time."""

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
from support.api_gateway import function_server
from support.arena_server import (
    ADMIN,
    ALICE,
    BOB,
    ArenaHttpClient,
    ArenaHttpResponse,
    BackgroundRequest,
    ManualClock,
    basic_auth,
    running_arena,
)
from support.cloud_arena import ArenaFactory
from support.waiting import HANG_SECONDS

from cardsharp.games.deadmansdraw.arena.access import throttling
from cardsharp.games.deadmansdraw.arena.access.quotas import PlayerQuotas
from cardsharp.games.deadmansdraw.arena.access.throttling import (
    FREE_GUESSES,
    LoginThrottle,
    MemoryWindowCounter,
)
from cardsharp_tools.local_cloud.lambda_events import LambdaFunction
from cardsharp_tools.local_server import http_server

ClientAndClock = tuple[ArenaHttpClient, ManualClock]
SMALL_QUOTAS = PlayerQuotas(max_matches_per_day=2, max_concurrent_requests=3)


@pytest.fixture
def client_and_clock(
    opened: ArenaFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ClientAndClock]:
    monkeypatch.setattr(throttling, "MAX_GUESSES_PER_ADDRESS", FREE_GUESSES + 1)
    monkeypatch.setattr(throttling, "MAX_GUESSES_UNDELAYED", FREE_GUESSES + 1)
    clock = ManualClock()
    with opened(tmp_path, clock=clock, quotas=SMALL_QUOTAS) as (_, client):
        yield client, clock


def request_with_admin_password(client: ArenaHttpClient, password: str) -> ArenaHttpResponse:
    headers = {"Authorization": basic_auth(ADMIN, {ADMIN: password})}
    return client.request("GET", "/api/whoami", headers=headers)


LOCAL_ADDRESS, OTHER_ADDRESS = "127.0.0.1", "127.0.0.2"


def request_status(url: str, user: str | None, address: str) -> int:
    headers = {} if user is None else {"Authorization": basic_auth(user)}
    connection = HTTPConnection(urlsplit(url).netloc, source_address=(address, 0))
    connection.request("GET", "/api/hello" if user is None else "/api/whoami", None, headers)
    status = connection.getresponse().status
    connection.close()
    return status


# --- wrong passwords -----------------------------------------------------------------------


def test_wrong_passwords_are_delayed_ever_longer_and_right_ones_never() -> None:
    """Wrong passwords are counted by address for all users, and by user for all addresses."""
    throttle = LoginThrottle(MemoryWindowCounter(clock := ManualClock()), clock)
    delays = [
        throttle.record_failure_and_get_delay("10.0.0.1", f"user {number}").total_seconds()
        for number in range(FREE_GUESSES + 3)
    ]
    assert delays == [0] * FREE_GUESSES + [0.1, 0.2, 0.3]
    delays = [
        throttle.record_failure_and_get_delay(f"10.0.1.{number}", "admin").total_seconds()
        for number in range(FREE_GUESSES + 200)
    ]
    assert delays[FREE_GUESSES - 1 : FREE_GUESSES + 2] == [0, 0.1, 0.2]
    assert delays[-1] == 10
    throttle.check_attempt_allowed("10.0.0.1", "admin")
    clock.advance(timedelta(minutes=1))
    assert throttle.record_failure_and_get_delay("10.0.0.1", "admin") == timedelta()


def test_too_many_wrong_passwords_block_the_address(
    client_and_clock: ClientAndClock, caplog: pytest.LogCaptureFixture
) -> None:
    """An address from which the user signed in earlier stays allowed.

    The log reports the attempts once, without a password.
    """
    client, clock = client_and_clock
    assert (
        request_status(client.url, ADMIN, OTHER_ADDRESS) == client.get("/api/whoami").status == 200
    )
    responses = [
        request_with_admin_password(client, f"secret-{number}")
        for number in range(FREE_GUESSES + 3)
    ]
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
    ("limits", "requesters"),
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
    tmp_path: Path, limits: tuple[int, int], requesters: list[tuple[str | None, str]]
) -> None:
    """The first request beyond a limit waits 100 ms, the second 200 ms.

    Another user or address does not wait. The users' limit does not apply to the admin
    (docs/spec/arena.md section 2).
    """
    delays: list[float] = []
    options = {"throttle": True, "max_per_address": limits[0], "max_per_user": limits[1]}
    with running_arena(tmp_path, **options) as (arena, _):

        async def sleep(seconds: float) -> None:
            delays.append(round(seconds, 3))

        arena._arena._guard._sleep = sleep
        assert {request_status(arena.url, user, address) for user, address in requesters} == {200}
    assert delays == [0.1, 0.2]


def test_a_client_that_disconnects_while_throttled_has_no_effect(tmp_path: Path) -> None:
    """A throttled action whose client disconnects is never played, as at the original arena."""
    is_throttled, is_cancelled = threading.Event(), threading.Event()

    async def sleep(_seconds: float) -> None:
        is_throttled.set()
        try:
            await asyncio.sleep(60)
        finally:
            is_cancelled.set()

    with running_arena(tmp_path, throttle=True, max_per_user=1) as (arena, client):
        match = arena.create_match_and_get_id([ALICE, BOB], seed="norandom")
        assert client.get(f"/api/matches/{match}").status == 200
        arena._arena._guard._sleep = sleep
        connection = HTTPConnection(urlsplit(arena.url).netloc)
        headers = {"Authorization": basic_auth(ALICE), "Content-Type": "application/json"}
        connection.request("POST", f"/api/matches/{match}", b'{"etype": "Draw"}', headers)
        assert is_throttled.wait(HANG_SECONDS)
        connection.close()
        assert is_cancelled.wait(HANG_SECONDS)
        assert arena.admin_view(match)["moveCount"] == 1


# --- matches, requests, bytes --------------------------------------------------------------


def test_a_player_creates_few_matches_a_day(
    client_and_clock: ClientAndClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    client, clock = client_and_clock
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


def test_concurrent_requests_of_a_player_are_limited(tmp_path: Path) -> None:
    """A further request is rejected at once and its connection closed; other players go on."""
    with running_arena(tmp_path, quotas=SMALL_QUOTAS) as (arena, client):
        path = "/api/matches?active=1&wait=1"
        polls = [
            BackgroundRequest(arena, "GET", path, ALICE)
            for _ in range(SMALL_QUOTAS.max_concurrent_requests)
        ]
        rejected_response = client.get("/api/whoami")
        assert (rejected_response.status, rejected_response.headers["connection"]) == (
            429,
            ["close"],
        )
        assert client.get("/api/whoami", BOB).status == 200
        arena.create_match_and_get_id([ALICE, ALICE])
        assert [poll.response().status for poll in polls] == [
            200
        ] * SMALL_QUOTAS.max_concurrent_requests
        assert client.get("/api/whoami").status == 200


TOO_LARGE_MATCHES: tuple[tuple[dict[str, object], str], ...] = (
    ({"tags": ["x" * 1000]}, "All tags together may have at most 1000 characters."),
    ({"tags": [""] * 1001}, "All tags together may have at most 1000 characters."),
    ({"playArea": [["Hook", 3]] * 61}, "A pile has at most 60 cards."),
    ({"randomSeed": "x" * 201}, "longer than 200"),
    ({"randomSeed": [[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]}, "nested too deeply"),
    ({"timeout": 1e10}, "a year"),
)


def test_a_match_cannot_be_large(tmp_path: Path) -> None:
    """Oversized matches are rejected, because thousands of them would fill the disk."""
    with running_arena(tmp_path) as (_, client):
        for body, message in TOO_LARGE_MATCHES:
            response = client.post("/api/matches", ALICE, body)
            assert (response.status, message in response.json()["error"]) == (400, True)
        match = client.post("/api/matches", ALICE).json()["id"]
        termination = {"comment": "x" * 1001}
        assert (
            client.request("DELETE", f"/api/matches/{match}/terminate", ALICE, termination).status
            == 400
        )


# --- a body that never comes whole: both of our servers end the wait ----------------------------


def send_raw_request(url: str, request: str) -> bytes:
    """Send a raw request as Alice and return all bytes until the server closes the connection."""
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
    """An incomplete body gets a 408 after the body's time limit.

    A long poll, whose body is complete, may take longer.
    """
    monkeypatch.setattr(http_server, "BODY_TIMEOUT", timedelta(seconds=0.3))
    incomplete_request = 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"tags":'
    front = function_server(
        LambdaFunction("any", lambda *_: {"statusCode": 200}, timedelta(seconds=29))
    )
    with running_arena(tmp_path, long_poll_timeout=timedelta(seconds=0.9)) as (arena, _), front:
        for url in (arena.url, front.url):
            response = send_raw_request(url, f"POST /api/matches\r\n{incomplete_request}")
            assert response.startswith(b"HTTP/1.1 408 ")
            assert b"did not arrive" in response
            assert b"connection: close" in response.lower()
            poll_response = send_raw_request(
                url, "GET /api/matches?wait=1\r\nConnection: close\r\n\r\n"
            )
            assert poll_response.startswith(b"HTTP/1.1 200 ")
