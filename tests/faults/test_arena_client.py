"""The arena client at a server that misbehaves; R03's ground: an action is sent exactly once.

A read is asked again as long as that may help. A write never is: doubt about it is told.
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
    CLOSE,
    EARLY_HINTS,
    ENDLESS,
    HANG,
    SMTP_BANNER,
    Fault,
    FaultServer,
    Handler,
    full_response,
    html,
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
from cardsharp.games.deadmansdraw.arena_bot.wire_views import EventType
from cardsharp.games.deadmansdraw.cards import Card, Suit

CANARY = "cänary-7f3a-☠"
CREDENTIALS = Credentials("636438380ee778617e6e5be8", CANARY)
SOON = timedelta(milliseconds=100)
ENOUGH = timedelta(seconds=HANG_SECONDS)
LIMITS = RequestLimits(
    connect_timeout=ENOUGH,
    read_timeout=ENOUGH,
    long_poll_timeout=ENOUGH,
    action_timeout=ENOUGH,
    total_timeout=ENOUGH,
    max_attempts=3,
    backoff=timedelta(milliseconds=2),
    max_body_bytes=200_000,
)

Ask = Callable[[ArenaClient], object]
READS: dict[str, Ask] = {
    "view": lambda client: client.get_match(bodies.MATCH),
    "wait": lambda client: client.wait_for_turn(bodies.MATCH),
}
WRITES: dict[str, Ask] = {
    "act": lambda client: client.act(bodies.MATCH, DRAW),
    "create": lambda client: client.create_match(MatchParams()),
    "terminate": lambda client: client.terminate(bodies.MATCH),
}
every_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


@contextmanager
def asking(
    *script: Fault, limits: RequestLimits = LIMITS, digest: bool = False
) -> Iterator[tuple[FaultServer, ArenaClient]]:
    """A server with that script, and a client that asks it."""
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
    lists = (full_response(body=b"[]"), full_response(body=b"[" + bodies.RUNNING + b"]"))
    with asking(*lists, full_response(body=bodies.RUNNING)) as (arena, client):
        assert client.matches(["a", "b"], active=True, wait=True) == []
        assert [match.id for match in client.matches(ids=[bodies.MATCH])] == [bodies.MATCH]
        assert client.get_match(bodies.MATCH).moves
        client.get_match(bodies.MATCH, events=False)
        client.wait_for_turn(bodies.MATCH)
        assert [seen.path for seen in arena.requests] == [
            "/api/matches?active=true&wait=true&tags=a%2Cb",
            f"/api/matches?id={bodies.MATCH}",
            f"/api/matches/{bodies.MATCH}?showevents=true",
            f"/api/matches/{bodies.MATCH}",
            f"/api/matches/{bodies.MATCH}?waitactive=true&showevents=true",
        ]
        assert all(seen.headers["Authorization"].startswith("Basic ") for seen in arena.requests)
        assert {seen.headers["Accept-Encoding"] for seen in arena.requests} == {"identity"}
        counts = client.session_state.request_counts
        assert counts == {"list_wait": 1, "list": 1, "view": 2, "view_wait": 1, "retries": 0}


def test_every_write_is_sent_as_the_arena_reads_it() -> None:
    script = (bodies.DRAW_RESPONSE, bodies.CREATED, bodies.FINISHED)
    with asking(*(full_response(body=body) for body in script)) as (arena, client):
        events = client.act(bodies.MATCH, respond(EffectType.MAP, Card(Suit.KEY, 3)))
        created_match = client.create_match(MatchParams(tags=("t",), timeout=timedelta(minutes=1)))
        assert client.terminate(created_match.id, comment="late").finished
        assert [(seen.method, seen.path) for seen in arena.requests] == [
            ("POST", f"/api/matches/{bodies.MATCH}"),
            ("POST", "/api/matches"),
            ("DELETE", f"/api/matches/{created_match.id}/terminate"),
        ]
        assert [json.loads(seen.body) for seen in arena.requests] == [
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
    long = b"[" + b",".join([bodies.RUNNING] * 3000) + b"]"
    with asking(full_response(body=long), full_response(body=b"[]")) as (arena, client):
        assert client.matches(active=True) == client.matches(active=True) == []
        assert [seen.path for seen in arena.requests] == [
            "/api/matches?active=true",
            "/api/matches?active=true&limit=20",
            "/api/matches?active=true&limit=20",
        ]


def test_waiting_for_a_turn_has_three_ends() -> None:
    """Our turn: the view. Still not: None. The match ended: the last view, and a clear no."""
    script = (
        full_response(body=bodies.RUNNING),
        full_response(409, bodies.NOT_YOUR_TURN),
        full_response(410, bodies.FINISHED),
        full_response(410, bodies.CLOSING),
    )
    with asking(*script) as (arena, client):
        view = client.wait_for_turn(bodies.MATCH)
        assert view is not None
        assert view.active_player_index == 0
        assert client.wait_for_turn(bodies.MATCH) is None
        last = client.wait_for_turn(bodies.MATCH)
        assert len(arena.requests) == 3
        with pytest.raises(MatchOver) as caught:
            client.act(bodies.MATCH, DRAW)
        assert not caught.value.outcome_unknown
    assert last is not None
    assert last.state.winner_idx == 1


# --- faults that pass, and those that no repetition would mend -----------------------------------

PASSING: list[tuple[Fault, type[ArenaError], str]] = [
    (
        full_response(500, b'{"error":"on fire"}'),
        RequestRejected,
        "The server answered 500: on fire",
    ),
    (full_response(502, b"<html>"), RequestRejected, "The server answered 502: it gave no reason"),
    (full_response(503), RequestRejected, "503"),
    (reset_connection, Unreachable, "the connection broke"),
    (CLOSE, Unreachable, "the connection broke"),
    (truncated_response(b"{"), Unreachable, "the connection broke"),
    (SMTP_BANNER, Unreachable, "the connection broke"),
    (full_response(503, headers={"Retry-After": "0"}), RateLimited, "too many requests"),
]
LASTING: list[tuple[Fault, type[ArenaError], str]] = [
    (html(), MalformedResponse, "it is an HTML page; check the arena's address"),
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
    (html(410), MalformedResponse, "410: it gave no reason|it is an HTML page"),
    *(
        (html(status), GatewayRejection, f"{status}: it gave no reason")
        for status in (400, 401, 403, 404, 408, 409, 421)
    ),
]
"""Answers of strangers, or that cannot be read: of a write they leave a doubt."""

CLEAR: list[tuple[Fault, type[ArenaError], str]] = [
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


@pytest.mark.parametrize(("fault", "kind", "sentence"), PASSING)
def test_a_read_is_repeated_until_the_fault_has_passed_or_the_last_attempt(
    fault: Fault, kind: type[ArenaError], sentence: str
) -> None:
    with asking(fault, fault, full_response(body=bodies.RUNNING)) as (_, client):
        assert client.get_match(bodies.MATCH).id == bodies.MATCH
        assert client.session_state.request_counts == {"view": 3, "retries": 2}
    with asking(fault) as (arena, client):
        with pytest.raises(kind, match=sentence) as caught:
            client.get_match(bodies.MATCH)
        assert not caught.value.outcome_unknown, "a read is never doubtful"
        assert len(arena.requests) == LIMITS.max_attempts


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize(("fault", "kind", "sentence"), [*LASTING, *CLEAR])
def test_a_lasting_error_is_raised_without_a_retry(
    fault: Fault, kind: type[ArenaError], sentence: str, name: str
) -> None:
    """A stranger's page is no end of a wait."""
    with asking(fault) as (arena, client):
        with pytest.raises(kind, match=sentence):
            READS[name](client)
        assert len(arena.requests) == 1


IN_DOUBT = [*PASSING, *LASTING]
CLEAR_NO = [
    *CLEAR,
    (full_response(409, bodies.NOT_YOUR_TURN), NotYourTurn, "not the current player"),
    (full_response(429), RateLimited, "too many requests"),
]


@every_write
@pytest.mark.parametrize(("fault", "kind", "sentence"), [*IN_DOUBT, *CLEAR_NO])
def test_no_write_is_ever_repeated_and_only_a_clear_no_leaves_no_doubt(
    write: Ask, fault: Fault, kind: type[ArenaError], sentence: str
) -> None:
    """The arena reads the request once, whatever it answers, and the error has that flag."""
    with asking(fault) as (arena, client):
        with pytest.raises(kind, match=sentence) as caught:
            write(client)
        assert caught.value.outcome_unknown is ((fault, kind, sentence) in IN_DOUBT)
        assert len(arena.requests) == 1


@every_write
def test_a_refused_connection_is_reported_and_leaves_no_doubt(write: Ask) -> None:
    with (
        ArenaClient(f"http://127.0.0.1:{unused_port()}", CREDENTIALS, LIMITS) as client,
        pytest.raises(Unreachable, match="no connection; is the server running") as caught,
    ):
        write(client)
    assert not caught.value.outcome_unknown


# --- time ----------------------------------------------------------------------------------------


SLOW = {
    "hangs": HANG,
    "stalls": stalled_response(bodies.RUNNING),
    "drips": slow_response(bodies.RUNNING, pause=0.1),  # a whole answer after a hundred seconds
    **ENDLESS,  # each byte in time, and never the last one: no limit of a socket ends that
}


def test_no_silence_and_no_drip_holds_a_request_beyond_its_limits() -> None:
    """All of them are waited for at the same time."""
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
        with asking(SLOW[slowness], limits=limits) as (arena, client):
            with pytest.raises(Unreachable, match=r"no answer within|too slowly") as caught:
                {**READS, **WRITES}[name](client)
            assert caught.value.outcome_unknown is (name in WRITES)
            if name in WRITES:
                assert client.session_state.request_counts.total() == 1
                # A slow server finds the connection reset before it has read.
                assert len(arena.requests) <= 1

    # In `make test` one request meets each kind of slowness, and each request meets one kind.
    asks = [
        (slowness, name)
        for slowness, name in product(SLOW, (*READS, *WRITES))
        if ALL or slowness == "drips" or name in {"view", "act"}
    ]
    with ThreadPoolExecutor(len(asks)) as pool:
        failed = {ask: pool.submit(assert_times_out, *ask).exception for ask in asks}
    assert {ask: wrong for ask, get_exception in failed.items() if (wrong := get_exception())} == {}


def test_a_response_following_an_early_hint_answers_no_later_request() -> None:
    with asking(EARLY_HINTS, full_response(body=bodies.WHOAMI_RESPONSE)) as (_, client):
        with pytest.raises(MalformedResponse, match="status 103"):
            client.get_match(bodies.MATCH)
        assert client.whoami().name == "Alice"


def test_the_last_attempt_gets_only_the_remaining_total_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After 1.5 s of waiting the second attempt hangs: it has the rest of 2 s, not 2 s more."""
    limits = replace(LIMITS, read_timeout=SOON * 20, total_timeout=SOON * 20)
    timeouts: list[timedelta] = []
    send_once = ArenaTransport._send_once

    def record_timeout(
        transport: ArenaTransport, call: ArenaRequest, limit: timedelta
    ) -> ArenaResponse:
        timeouts.append(limit)
        return send_once(transport, call, limit)

    monkeypatch.setattr(ArenaTransport, "_send_once", record_timeout)
    busy = full_response(503, b"", {"Retry-After": "1.5"})
    with asking(busy, HANG, limits=limits) as (_, client), pytest.raises(Unreachable):
        client.get_match(bodies.MATCH)
    assert timeouts[0] <= SOON * 20
    assert all(timeout <= SOON * 5 for timeout in timeouts[1:])


@every_write
def test_r26_a_write_is_not_sent_when_it_took_too_long_to_connect(
    write: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that was looked up for an hour; no limit of a socket holds for that."""
    hour, real_monotonic = 0.0, time.monotonic
    look_up = socket.getaddrinfo

    def slow(*question: Any, **more: Any) -> Any:  # noqa: ANN401 - whatever the real one takes
        nonlocal hour
        hour = 3600
        return look_up(*question, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    monkeypatch.setattr(
        connections, "time", SimpleNamespace(monotonic=lambda: real_monotonic() + hour)
    )
    with asking(full_response(body=bodies.DRAW_RESPONSE)) as (arena, client):
        with pytest.raises(Unreachable, match="not sent") as caught:
            write(client)
        assert not caught.value.outcome_unknown
        arena.wait_until_hung_up()
        assert arena.requests == []


def test_r31_an_action_without_time_to_arrive_is_not_sent() -> None:
    with asking(full_response(body=bodies.DRAW_RESPONSE)) as (arena, client):
        with pytest.raises(Unreachable, match="too late") as caught:
            client.act(bodies.MATCH, DRAW, timeout=timedelta(0))
        assert not caught.value.outcome_unknown
        assert client.act(bodies.MATCH, DRAW, timeout=timedelta(hours=1))
        assert len(arena.requests) == 1


@pytest.mark.parametrize(
    ("date", "readable"),
    [
        ("Fri, 20 Nov 2026 12:00:01 GMT", True),
        ("yesterday", False),
        (f"Fri, 20 Nov 2026 12:00:01 +{'9' * 20}", False),
    ],
)
@pytest.mark.parametrize("name", READS)
def test_the_arenas_clock_is_set_by_the_date_of_a_short_response(
    date: str, readable: bool, name: str
) -> None:
    arena_time = datetime(2026, 11, 20, 12, 0, 1, tzinfo=UTC)
    with asking(full_response(body=bodies.RUNNING, headers={"Date": date})) as (_, client):
        start = time.monotonic()
        READS[name](client)
        end = time.monotonic()
        when = client.session_state.remote_clock.to_local_bounds(arena_time, end)
    if name == "wait" or not readable:
        assert when == NEVER_BOUNDS
    else:
        assert start - 2 <= when.earliest <= when.latest <= end + 1


# --- what a server asks us to wait ---------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
def test_a_read_is_retried_only_once_retry_after_has_passed(status: int) -> None:
    busy = full_response(status, b"", {"Retry-After": "0.2"})
    with asking(busy, full_response(body=bodies.RUNNING)) as (arena, client):
        client.get_match(bodies.MATCH)
        assert arena.requests[1].received_at - arena.requests[0].received_at >= 0.2


DATED = {"Date": "Fri, 20 Nov 2026 15:19:37 GMT"}


def test_a_wait_beyond_our_patience_is_the_callers_to_keep() -> None:
    """A date is read by the arena's own clock."""
    headers = {**DATED, "Retry-After": "Fri, 20 Nov 2026 15:19:57 GMT"}
    with asking(full_response(429, b"", headers)) as (arena, client):
        with pytest.raises(RateLimited) as caught:
            client.get_match(bodies.MATCH)
        assert caught.value.retry_after == timedelta(seconds=20)
        assert len(arena.requests) == 1


@pytest.mark.parametrize(
    ("header_value", "believed"),
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
def test_r15_no_wait_that_a_server_asks_for_is_believed_to_be_long(
    header_value: str, believed: timedelta | None
) -> None:
    assert parse_retry_after({**DATED, "Retry-After": header_value}) == believed


def test_throttling_by_the_arena_is_logged_once_and_is_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nor is an action in doubt that comes late for it."""
    current_time = datetime.now(UTC)
    rich, spent = (
        {
            "X-SlowDown-Limit": "100",
            "X-SlowDown-Reset": str(int(current_time.timestamp()) + 60),
            "X-SlowDown-Remaining": remaining,
            "Date": format_datetime(current_time, usegmt=True),
        }
        for remaining in ("1", "0")
    )
    throttle_responses = [
        full_response(body=bodies.WHOAMI_RESPONSE, headers=headers) for headers in (rich, spent)
    ]
    # 0.7 s and 0.8 s at the least: above the limit, within the slow-down.
    late = (
        slow_response(bodies.WHOAMI_RESPONSE, pause=0.01),
        slow_response(bodies.DRAW_RESPONSE, pause=0.005),
    )
    limits = replace(LIMITS, read_timeout=SOON * 5, action_timeout=SOON)
    with asking(*throttle_responses, *late, limits=limits) as (arena, client):
        budget = client.session_state.request_budget
        assert budget.window_limit is None
        client.whoami()
        assert (budget.window_limit, budget.remaining_requests(time.monotonic())) == (100, 1)
        client.whoami()
        client.whoami()
        arena.wait_until_hung_up()
        assert client.action_timeout() == SOON + limits.max_throttle_delay
        assert len(client.act(bodies.MATCH, DRAW)) == 2
    assert caplog.text.count("The arena slows us down until ") == 1


# --- connections ---------------------------------------------------------------------------------


def test_an_action_is_sent_once_whether_its_connection_idled_away_or_dies_under_it() -> None:
    """The trap of kept-alive connections: many clients silently send again on a new one."""
    view, draw_response = (
        full_response(body=bodies.RUNNING),
        full_response(body=bodies.DRAW_RESPONSE),
    )
    with asking(truncated_response(bodies.RUNNING, missing=0), draw_response) as (arena, client):
        client.get_match(bodies.MATCH)
        arena.wait_until_hung_up()
        assert len(client.act(bodies.MATCH, DRAW)) == 2
        assert [seen.method for seen in arena.requests] == ["GET", "POST"]
        assert client.session_state.request_counts["retries"] == 0
    with asking(view, CLOSE, draw_response) as (arena, client):
        client.get_match(bodies.MATCH)
        with pytest.raises(Unreachable) as caught:
            client.act(bodies.MATCH, DRAW)
        assert caught.value.outcome_unknown
        assert [seen.method for seen in arena.requests] == ["GET", "POST"]


CHALLENGE = {"WWW-Authenticate": 'Digest realm="SLCEE-2023-PC", nonce="abc123", qop="auth"'}


def challenging(then: Fault) -> Fault:
    """Challenges what comes without Digest; whether that is right, the real arena has to say."""

    def fault(handler: Handler) -> None:
        answers = handler.headers.get("Authorization", "").startswith("Digest ")
        (then if answers else full_response(401, b"Unauthorized", CHALLENGE))(handler)

    return fault


def test_a_digest_challenge_is_answered_and_nothing_is_executed_twice() -> None:
    """Only the challenge makes us send again; the second action goes without one."""
    executed = []

    def draw(handler: Handler) -> None:
        executed.append(handler.path)
        full_response(body=bodies.DRAW_RESPONSE)(handler)

    with asking(challenging(draw), digest=True) as (arena, client):
        client.act(bodies.MATCH, DRAW)
        client.act(bodies.MATCH, DRAW)
        assert client.session_state.request_counts == {"act": 3}
        challenged = [not seen.headers.get("Authorization") for seen in arena.requests]
        assert challenged == [True, False, False]
        assert {seen.body for seen in arena.requests} == {b'{"etype": "Draw"}'}
    assert len(executed) == 2


@pytest.mark.parametrize(
    ("fault", "kind", "request_count"),
    [
        (challenging(CLOSE), Unreachable, 2),
        (challenging(full_response(401, b"Unauthorized")), Unauthorized, 2),
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
    fault: Fault, kind: type[ArenaError], request_count: int
) -> None:
    with asking(fault, digest=True) as (arena, client):
        with pytest.raises(kind) as caught:
            client.act(bodies.MATCH, DRAW)
        assert caught.value.outcome_unknown is (kind is not Unauthorized)
        assert len(arena.requests) == request_count


# --- errors --------------------------------------------------------------------------------------


def test_an_arena_error_message_becomes_one_short_line() -> None:
    words = b'{"error":"first\\nERROR forged line\\u001b[31m' + b"x" * 5000 + b'"}'
    with asking(full_response(400, words)) as (_, client), pytest.raises(RequestRejected) as caught:
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
