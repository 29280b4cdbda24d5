"""Tests of the arena client at a faulty server, also that actions are sent once (R03).

A read is retried as long as that may help. A write is never retried: its error says if
the outcome is unknown.
"""

import json
import logging
import pickle
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from support import recorded_arena_responses as bodies
from support.case_counts import ALL
from support.fault_server import (
    CLOSED_CONNECTION,
    EARLY_HINTS,
    ENDLESS,
    HANG,
    SMTP_BANNER,
    Fault,
    FaultServer,
    Handler,
    full_response,
    html_response,
    oversized_response,
    reset_connection,
    slow_response,
    stalled_response,
    truncated_response,
)
from support.ports import unused_port
from support.waiting import HANG_SECONDS

from cardsharp.client import connections
from cardsharp.client.config import RequestLimits
from cardsharp.client.remote_clock import NEVER_BOUNDS
from cardsharp.client.response_errors import MAX_RETRY_AFTER, parse_retry_after
from cardsharp.client.transport import ArenaRequest, ArenaResponse, ArenaTransport
from cardsharp.core.credentials import Credentials
from cardsharp.errors import (
    ArenaError,
    GatewayRejection,
    MalformedResponse,
    MatchOver,
    NotFound,
    NotYourTurn,
    RateLimited,
    RequestRejected,
    Unauthorized,
    Unreachable,
)
from cardsharp.games.deadmansdraw.actions import DRAW, EffectType, respond
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp.games.deadmansdraw.cards import Card, Suit
from cardsharp.games.deadmansdraw.events import EventType

CANARY = "cänary-7f3a-☠"
CREDENTIALS = Credentials("636438380ee778617e6e5be8", CANARY)
SHORT_TIMEOUT = timedelta(milliseconds=100)
LONG_TIMEOUT = timedelta(seconds=HANG_SECONDS)
LIMITS = RequestLimits(
    connect_timeout=LONG_TIMEOUT,
    read_timeout=LONG_TIMEOUT,
    long_poll_timeout=LONG_TIMEOUT,
    action_timeout=LONG_TIMEOUT,
    total_timeout=LONG_TIMEOUT,
    max_attempts=3,
    backoff=timedelta(milliseconds=2),
    max_body_bytes=200_000,
)

ClientRequest = Callable[[ArenaClient], object]
READS: dict[str, ClientRequest] = {
    "view": lambda client: client.get_match(bodies.MATCH),
    "wait": lambda client: client.wait_for_turn(bodies.MATCH),
}
WRITES: dict[str, ClientRequest] = {
    "act": lambda client: client.act(bodies.MATCH, DRAW),
    "create": lambda client: client.create_match(MatchParams()),
    "terminate": lambda client: client.terminate(bodies.MATCH),
}
every_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


@contextmanager
def client_of_script(
    *script: Fault, limits: RequestLimits = LIMITS, digest: bool = False
) -> Iterator[tuple[FaultServer, ArenaClient]]:
    """Yield a server with that script, and a client of it."""
    with (
        FaultServer(*script) as arena,
        ArenaClient(arena.url, CREDENTIALS, limits, use_digest_auth=digest) as client,
    ):
        yield arena, client


@pytest.fixture(autouse=True)
def no_password_in_any_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Assert that a test logs the password at no level."""
    caplog.set_level(logging.DEBUG)
    yield
    assert CANARY not in caplog.text


# --- what is asked, and how it is read ---------------------------------------------------------


def test_every_read_is_requested_as_the_arena_expects() -> None:
    list_responses = (full_response(body=b"[]"), full_response(body=b"[" + bodies.RUNNING + b"]"))
    with client_of_script(*list_responses, full_response(body=bodies.RUNNING)) as (arena, client):
        assert client.matches(["a", "b"], active=True, wait=True) == []
        assert [match.id for match in client.matches(ids=[bodies.MATCH])] == [bodies.MATCH]
        assert client.get_match(bodies.MATCH).moves
        client.get_match(bodies.MATCH, events=False)
        client.wait_for_turn(bodies.MATCH)
        assert [request.path for request in arena.requests] == [
            "/api/matches?active=true&wait=true&tags=a%2Cb",
            f"/api/matches?id={bodies.MATCH}",
            f"/api/matches/{bodies.MATCH}?showevents=true",
            f"/api/matches/{bodies.MATCH}",
            f"/api/matches/{bodies.MATCH}?waitactive=true&showevents=true",
        ]
        assert all(
            request.headers["Authorization"].startswith("Basic ") for request in arena.requests
        )
        assert {request.headers["Accept-Encoding"] for request in arena.requests} == {"identity"}
        counts = client.session_state.request_counts
        assert counts == {"list_wait": 1, "list": 1, "view": 2, "view_wait": 1, "retries": 0}


def test_every_write_is_sent_as_the_arena_reads_it() -> None:
    script = (bodies.DRAW_RESPONSE, bodies.CREATED, bodies.FINISHED)
    with client_of_script(*(full_response(body=body) for body in script)) as (arena, client):
        events = client.act(bodies.MATCH, respond(EffectType.MAP, Card(Suit.KEY, 3)))
        created_match = client.create_match(MatchParams(tags=("t",), timeout=timedelta(minutes=1)))
        assert client.terminate(created_match.id, comment="late").finished
        assert [(request.method, request.path) for request in arena.requests] == [
            ("POST", f"/api/matches/{bodies.MATCH}"),
            ("POST", "/api/matches"),
            ("DELETE", f"/api/matches/{created_match.id}/terminate"),
        ]
        assert [json.loads(request.body) for request in arena.requests] == [
            {
                "etype": "ResponseToEffect",
                "effect": {"effectType": "Map", "card": {"suit": "Key", "value": 3}},
            },
            {"tags": ["t"], "timeout": 60},
            {"comment": "late"},
        ]
    assert [event.event_type for event in events] == [
        EventType.DRAW,
        EventType.CARD_PLACED_TO_PLAY_AREA,
    ]


def test_a_list_that_is_too_long_is_requested_again_for_the_newest() -> None:
    long_list = b"[" + b",".join([bodies.RUNNING] * 3000) + b"]"
    with client_of_script(full_response(body=long_list), full_response(body=b"[]")) as (
        arena,
        client,
    ):
        assert client.matches(active=True) == client.matches(active=True) == []
        assert [request.path for request in arena.requests] == [
            "/api/matches?active=true",
            "/api/matches?active=true&limit=20",
            "/api/matches?active=true&limit=20",
        ]


def test_waiting_for_a_turn_has_three_results() -> None:
    """The result is the view on our turn, None if it is not our turn, or the last view."""
    script = (
        full_response(body=bodies.RUNNING),
        full_response(409, bodies.NOT_YOUR_TURN),
        full_response(410, bodies.FINISHED),
        full_response(410, bodies.CLOSING),
    )
    with client_of_script(*script) as (arena, client):
        view = client.wait_for_turn(bodies.MATCH)
        assert view is not None
        assert view.active_player_index == 0
        assert client.wait_for_turn(bodies.MATCH) is None
        last_view = client.wait_for_turn(bodies.MATCH)
        assert len(arena.requests) == 3
        with pytest.raises(MatchOver) as caught:
            client.act(bodies.MATCH, DRAW)
        assert not caught.value.outcome_unknown
    assert last_view is not None
    assert last_view.state.winner_idx == 1


# --- faults that pass, and those that no repetition would mend -----------------------------------

TRANSIENT_FAULTS: list[tuple[Fault, type[ArenaError], str]] = [
    (
        full_response(500, b'{"error":"on fire"}'),
        RequestRejected,
        "The server answered 500: on fire",
    ),
    (full_response(502, b"<html>"), RequestRejected, "The server answered 502: it gave no reason"),
    (full_response(503), RequestRejected, "503"),
    (reset_connection, Unreachable, "the connection broke"),
    (CLOSED_CONNECTION, Unreachable, "the connection broke"),
    (truncated_response(b"{"), Unreachable, "the connection broke"),
    (SMTP_BANNER, Unreachable, "the connection broke"),
    (full_response(503, headers={"Retry-After": "0"}), RateLimited, "too many requests"),
]
LASTING_FAULTS: list[tuple[Fault, type[ArenaError], str]] = [
    (html_response(), MalformedResponse, "it is an HTML page; check the arena's address"),
    (full_response(body=bodies.RUNNING[:-30]), MalformedResponse, "Invalid JSON|too little"),
    (full_response(body=b'"done"'), MalformedResponse, "not a match|not a created|events"),
    *(
        (full_response(status), MalformedResponse, f"answered with status {status}")
        for status in (201, 204)
    ),
    (oversized_response(10_000_000), MalformedResponse, "too long, more than 200,000 bytes"),
    (
        oversized_response(10_000_000, 302, {"Location": "/x"}),
        MalformedResponse,
        "too long, more than 200,000 bytes",
    ),
    *(
        (
            full_response(302, headers={"Location": place}),
            RequestRejected,
            "answered 302: it redirects to ",
        )
        for place in ("https://elsewhere.example/x", "http://[::1", "/\xff\xfe")
    ),
    (full_response(408, b'{"error":"too slow"}'), GatewayRejection, "408: too slow"),
    (full_response(404, b'{"message":"Not Found"}'), GatewayRejection, "404: it gave no reason"),
    (html_response(410), MalformedResponse, "410: it gave no reason|it is an HTML page"),
    *(
        (html_response(status), GatewayRejection, f"{status}: it gave no reason")
        for status in (400, 401, 403, 404, 408, 409, 421)
    ),
]
"""Answers of strangers, or that cannot be read: of a write they leave a doubt."""

CLEAR_REFUSALS: list[tuple[Fault, type[ArenaError], str]] = [
    (
        full_response(400, b'{"error":"Argument passed in"}'),
        RequestRejected,
        "400: Argument passed in",
    ),
    (full_response(401, b"Unauthorized"), Unauthorized, "401: check the user and the password"),
    (full_response(401, bodies.NOT_VISIBLE), Unauthorized, "only to participating players"),
    (full_response(404, bodies.NO_MATCH), NotFound, "Match does not exist"),
]
"""What the arena itself says, in its own words."""


@pytest.mark.parametrize(("fault", "error_type", "message"), TRANSIENT_FAULTS)
def test_a_read_is_repeated_until_the_fault_has_passed_or_the_last_attempt(
    fault: Fault, error_type: type[ArenaError], message: str
) -> None:
    with client_of_script(fault, fault, full_response(body=bodies.RUNNING)) as (_, client):
        assert client.get_match(bodies.MATCH).id == bodies.MATCH
        assert client.session_state.request_counts == {"view": 3, "retries": 2}
    with client_of_script(fault) as (arena, client):
        with pytest.raises(error_type, match=message) as caught:
            client.get_match(bodies.MATCH)
        assert not caught.value.outcome_unknown, "a read is never doubtful"
        assert len(arena.requests) == LIMITS.max_attempts


@pytest.mark.parametrize("read_name", READS)
@pytest.mark.parametrize(("fault", "error_type", "message"), [*LASTING_FAULTS, *CLEAR_REFUSALS])
def test_a_lasting_error_is_raised_without_a_retry(
    fault: Fault, error_type: type[ArenaError], message: str, read_name: str
) -> None:
    """A lasting error is raised after one request; a gateway's page does not end a wait."""
    with client_of_script(fault) as (arena, client):
        with pytest.raises(error_type, match=message):
            READS[read_name](client)
        assert len(arena.requests) == 1


UNKNOWN_OUTCOMES = [*TRANSIENT_FAULTS, *LASTING_FAULTS]
CERTAIN_REFUSALS = [
    *CLEAR_REFUSALS,
    (full_response(409, bodies.NOT_YOUR_TURN), NotYourTurn, "not the current player"),
    (full_response(429), RateLimited, "too many requests"),
]


@every_write
@pytest.mark.parametrize(("fault", "error_type", "message"), [*UNKNOWN_OUTCOMES, *CERTAIN_REFUSALS])
def test_no_write_is_repeated_and_only_a_clear_refusal_leaves_no_doubt(
    write: ClientRequest, fault: Fault, error_type: type[ArenaError], message: str
) -> None:
    """A write is sent once; its error says if its outcome is unknown."""
    with client_of_script(fault) as (arena, client):
        with pytest.raises(error_type, match=message) as caught:
            write(client)
        assert caught.value.outcome_unknown is ((fault, error_type, message) in UNKNOWN_OUTCOMES)
        assert len(arena.requests) == 1


@every_write
def test_a_refused_connection_is_reported_and_leaves_no_doubt(write: ClientRequest) -> None:
    with (
        ArenaClient(f"http://127.0.0.1:{unused_port()}", CREDENTIALS, LIMITS) as client,
        pytest.raises(Unreachable, match="no connection; is the server running") as caught,
    ):
        write(client)
    assert not caught.value.outcome_unknown


# --- time ----------------------------------------------------------------------------------------


SLOW_RESPONSES = {
    "hangs": HANG,
    "stalls": stalled_response(bodies.RUNNING),
    "drips": slow_response(bodies.RUNNING, pause=0.1),  # a whole answer after a hundred seconds
    **ENDLESS,  # each byte in time, and never the last one: no limit of a socket ends that
}


def test_no_slow_response_delays_a_request_beyond_its_limits() -> None:
    """Each kind of slow response ends in an error in time; all are tried concurrently."""
    # A write is not sent at all where others have the machine for longer than its limit.
    limit = timedelta(seconds=5)
    limits = replace(
        LIMITS,
        read_timeout=limit,
        long_poll_timeout=limit,
        action_timeout=limit,
        total_timeout=limit * 1.2,
    )

    def assert_times_out(slowness: str, name: str) -> None:
        with client_of_script(SLOW_RESPONSES[slowness], limits=limits) as (arena, client):
            with pytest.raises(Unreachable, match=r"no answer within|too slowly") as caught:
                {**READS, **WRITES}[name](client)
            assert caught.value.outcome_unknown is (name in WRITES)
            if name in WRITES:
                assert client.session_state.request_counts.total() == 1
                # A slow server finds the connection reset before it has read.
                assert len(arena.requests) <= 1

    # In `make test` one request meets each kind of slowness, and each request meets one kind.
    cases = [
        (slowness, name)
        for slowness, name in product(SLOW_RESPONSES, (*READS, *WRITES))
        if ALL or slowness == "drips" or name in {"view", "act"}
    ]
    with ThreadPoolExecutor(len(cases)) as pool:
        exceptions = {case: pool.submit(assert_times_out, *case).exception for case in cases}
    assert {
        case: exception
        for case, get_exception in exceptions.items()
        if (exception := get_exception())
    } == {}


def test_a_response_following_an_early_hint_answers_no_later_request() -> None:
    with client_of_script(EARLY_HINTS, full_response(body=bodies.WHOAMI_RESPONSE)) as (_, client):
        with pytest.raises(MalformedResponse, match="status 103"):
            client.get_match(bodies.MATCH)
        assert client.whoami().name == "Alice"


def test_the_last_attempt_gets_only_the_remaining_total_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a wait of 1.5 s the second attempt has the rest of 2 s, not 2 s more."""
    limits = replace(LIMITS, read_timeout=SHORT_TIMEOUT * 20, total_timeout=SHORT_TIMEOUT * 20)
    timeouts: list[timedelta] = []
    send_once = ArenaTransport._send_once

    def record_timeout(
        transport: ArenaTransport, call: ArenaRequest, limit: timedelta
    ) -> ArenaResponse:
        timeouts.append(limit)
        return send_once(transport, call, limit)

    monkeypatch.setattr(ArenaTransport, "_send_once", record_timeout)
    busy = full_response(503, b"", {"Retry-After": "1.5"})
    with client_of_script(busy, HANG, limits=limits) as (_, client), pytest.raises(Unreachable):
        client.get_match(bodies.MATCH)
    assert timeouts[0] <= SHORT_TIMEOUT * 20
    assert all(timeout <= SHORT_TIMEOUT * 5 for timeout in timeouts[1:])


@every_write
def test_r26_a_write_is_not_sent_when_it_took_too_long_to_connect(
    write: ClientRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name lookup that takes an hour ends the request, though no socket timeout covers it."""
    lookup_seconds, real_monotonic = 0.0, time.monotonic
    real_getaddrinfo = socket.getaddrinfo

    def slow_getaddrinfo(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the real one takes
        nonlocal lookup_seconds
        lookup_seconds = 3600
        return real_getaddrinfo(*args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", slow_getaddrinfo)
    monkeypatch.setattr(
        connections, "time", SimpleNamespace(monotonic=lambda: real_monotonic() + lookup_seconds)
    )
    with client_of_script(full_response(body=bodies.DRAW_RESPONSE)) as (arena, client):
        with pytest.raises(Unreachable, match="not sent") as caught:
            write(client)
        assert not caught.value.outcome_unknown
        arena.wait_until_connection_closed()
        assert arena.requests == []


def test_r31_an_action_without_time_to_arrive_is_not_sent() -> None:
    with client_of_script(full_response(body=bodies.DRAW_RESPONSE)) as (arena, client):
        with pytest.raises(Unreachable, match="too late") as caught:
            client.act(bodies.MATCH, DRAW, timeout=timedelta(0))
        assert not caught.value.outcome_unknown
        assert client.act(bodies.MATCH, DRAW, timeout=timedelta(hours=1))
        assert len(arena.requests) == 1


@pytest.mark.parametrize(
    ("date", "is_readable"),
    [
        ("Fri, 20 Nov 2026 12:00:01 GMT", True),
        ("yesterday", False),
        (f"Fri, 20 Nov 2026 12:00:01 +{'9' * 20}", False),
    ],
)
@pytest.mark.parametrize("read_name", READS)
def test_the_arenas_clock_is_set_by_the_date_of_a_short_response(
    date: str, is_readable: bool, read_name: str
) -> None:
    arena_time = datetime(2026, 11, 20, 12, 0, 1, tzinfo=UTC)
    with client_of_script(full_response(body=bodies.RUNNING, headers={"Date": date})) as (
        _,
        client,
    ):
        start = time.monotonic()
        READS[read_name](client)
        end = time.monotonic()
        local_bounds = client.session_state.remote_clock.to_local_bounds(arena_time, end)
    if read_name == "wait" or not is_readable:
        assert local_bounds == NEVER_BOUNDS
    else:
        assert start - 2 <= local_bounds.earliest <= local_bounds.latest <= end + 1


# --- what a server asks us to wait ---------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
def test_a_read_is_retried_only_once_retry_after_has_passed(status: int) -> None:
    busy = full_response(status, b"", {"Retry-After": "0.2"})
    with client_of_script(busy, full_response(body=bodies.RUNNING)) as (arena, client):
        client.get_match(bodies.MATCH)
        assert arena.requests[1].received_at - arena.requests[0].received_at >= 0.2


DATE_HEADER = {"Date": "Fri, 20 Nov 2026 15:19:37 GMT"}


def test_a_requested_wait_beyond_the_total_timeout_is_raised_to_the_caller() -> None:
    """A Retry-After with a date is read by the arena's own clock."""
    headers = {**DATE_HEADER, "Retry-After": "Fri, 20 Nov 2026 15:19:57 GMT"}
    with client_of_script(full_response(429, b"", headers)) as (arena, client):
        with pytest.raises(RateLimited) as caught:
            client.get_match(bodies.MATCH)
        assert caught.value.retry_after == timedelta(seconds=20)
        assert len(arena.requests) == 1


@pytest.mark.parametrize(
    ("header_value", "expected_delay"),
    [
        ("6", timedelta(seconds=6)),
        ("3600", MAX_RETRY_AFTER),
        ("1e308", MAX_RETRY_AFTER),
        ("9" * 400, MAX_RETRY_AFTER),
        ("inf", MAX_RETRY_AFTER),
        ("Fri, 20 Nov 9999 16:19:37 GMT", MAX_RETRY_AFTER),
        (f"Fri, 20 Nov 2026 16:19:37 +{'9' * 20}", None),
        ("-5", timedelta(0)),
        ("-inf", None),
        ("nan", None),
        ("soon", None),
        ("", None),
    ],
)
def test_r15_a_requested_wait_is_limited_to_a_maximum(
    header_value: str, expected_delay: timedelta | None
) -> None:
    assert parse_retry_after({**DATE_HEADER, "Retry-After": header_value}) == expected_delay


def test_throttling_by_the_arena_is_logged_once_and_is_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A slowed response is waited for, and an action that comes late for it is not in doubt."""
    current_time = datetime.now(UTC)
    budget_headers, exhausted_headers = (
        {
            "X-SlowDown-Limit": "100",
            "X-SlowDown-Reset": str(int(current_time.timestamp()) + 60),
            "X-SlowDown-Remaining": remaining,
            "Date": format_datetime(current_time, usegmt=True),
        }
        for remaining in ("1", "0")
    )
    throttle_responses = [
        full_response(body=bodies.WHOAMI_RESPONSE, headers=headers)
        for headers in (budget_headers, exhausted_headers)
    ]
    # 0.7 s and 0.8 s at the least: above the limit, within the slow-down.
    slow_responses = (
        slow_response(bodies.WHOAMI_RESPONSE, pause=0.01),
        slow_response(bodies.DRAW_RESPONSE, pause=0.005),
    )
    limits = replace(LIMITS, read_timeout=SHORT_TIMEOUT * 5, action_timeout=SHORT_TIMEOUT)
    with client_of_script(*throttle_responses, *slow_responses, limits=limits) as (arena, client):
        budget = client.session_state.request_budget
        assert budget.max_requests_per_window is None
        client.whoami()
        assert (budget.max_requests_per_window, budget.remaining_requests(time.monotonic())) == (
            100,
            1,
        )
        client.whoami()
        client.whoami()
        arena.wait_until_connection_closed()
        assert client.max_action_flight_time() == SHORT_TIMEOUT + limits.max_throttle_delay
        assert len(client.act(bodies.MATCH, DRAW)) == 2
    assert caplog.text.count("The arena slows us down until ") == 1


# --- connections ---------------------------------------------------------------------------------


def test_an_action_is_sent_once_even_if_its_connection_was_closed_or_breaks() -> None:
    """An action is not resent if its kept-alive connection was closed or breaks."""
    view_response, draw_response = (
        full_response(body=bodies.RUNNING),
        full_response(body=bodies.DRAW_RESPONSE),
    )
    with client_of_script(truncated_response(bodies.RUNNING, missing=0), draw_response) as (
        arena,
        client,
    ):
        client.get_match(bodies.MATCH)
        arena.wait_until_connection_closed()
        assert len(client.act(bodies.MATCH, DRAW)) == 2
        assert [request.method for request in arena.requests] == ["GET", "POST"]
        assert client.session_state.request_counts["retries"] == 0
    with client_of_script(view_response, CLOSED_CONNECTION, draw_response) as (arena, client):
        client.get_match(bodies.MATCH)
        with pytest.raises(Unreachable) as caught:
            client.act(bodies.MATCH, DRAW)
        assert caught.value.outcome_unknown
        assert [request.method for request in arena.requests] == ["GET", "POST"]


CHALLENGE = {"WWW-Authenticate": 'Digest realm="SLCEE-2023-PC", nonce="abc123", qop="auth"'}


def require_digest(authenticated_fault: Fault) -> Fault:
    """Answer requests without Digest credentials by a challenge; check no credentials."""

    def fault(handler: Handler) -> None:
        has_digest = handler.headers.get("Authorization", "").startswith("Digest ")
        (authenticated_fault if has_digest else full_response(401, b"Unauthorized", CHALLENGE))(
            handler
        )

    return fault


def test_a_digest_challenge_is_answered_and_nothing_is_executed_twice() -> None:
    """Only a challenge causes a second request; the second action needs no challenge."""
    executed_paths = []

    def draw(handler: Handler) -> None:
        executed_paths.append(handler.path)
        full_response(body=bodies.DRAW_RESPONSE)(handler)

    with client_of_script(require_digest(draw), digest=True) as (arena, client):
        client.act(bodies.MATCH, DRAW)
        client.act(bodies.MATCH, DRAW)
        assert client.session_state.request_counts == {"act": 3}
        lacks_credentials = [not request.headers.get("Authorization") for request in arena.requests]
        assert lacks_credentials == [True, False, False]
        assert {request.body for request in arena.requests} == {b'{"etype": "Draw"}'}
    assert len(executed_paths) == 2


@pytest.mark.parametrize(
    ("fault", "error_type", "request_count"),
    [
        (require_digest(CLOSED_CONNECTION), Unreachable, 2),
        (require_digest(full_response(401, b"Unauthorized")), Unauthorized, 2),
        (oversized_response(10_000_000, 401, CHALLENGE), MalformedResponse, 1),
        (
            full_response(401, b"Unauthorized", {"WWW-Authenticate": "Digest qop=auth"}),
            Unauthorized,
            1,
        ),
    ],
    ids=["lost after the challenge", "wrong password", "endless", "asks for nothing"],
)
def test_a_digest_write_answers_only_one_challenge(
    fault: Fault, error_type: type[ArenaError], request_count: int
) -> None:
    with client_of_script(fault, digest=True) as (arena, client):
        with pytest.raises(error_type) as caught:
            client.act(bodies.MATCH, DRAW)
        assert caught.value.outcome_unknown is (error_type is not Unauthorized)
        assert len(arena.requests) == request_count


# --- errors --------------------------------------------------------------------------------------


def test_an_arena_error_message_becomes_one_short_line() -> None:
    body = b'{"error":"first\\nERROR forged line\\u001b[31m' + b"x" * 5000 + b'"}'
    with (
        client_of_script(full_response(400, body)) as (_, client),
        pytest.raises(RequestRejected) as caught,
    ):
        client.whoami()
    assert caught.value.message.startswith("first ERROR forged line [31mxxx")
    assert len(caught.value.message) == 300


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("x", outcome_unknown=True),
        RequestRejected(500, "x", outcome_unknown=True),
        RateLimited("x", timedelta(seconds=2)),
        GatewayRejection(403, "x", outcome_unknown=True),
        MatchOver(),
    ],
)
def test_arena_errors_travel_between_processes(error: ArenaError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
