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
from support import arena_bodies as bodies
from support.fault_server import (
    BABBLE,
    CLOSE,
    ENDLESS,
    HANG,
    HINT,
    Fault,
    FaultServer,
    Handler,
    answer,
    cut,
    drip,
    flood,
    html,
    reset,
    stall,
)
from support.ports import unused_port
from support.waiting import HANG_SECONDS

from cardsharp import connections
from cardsharp.access import Credentials, Limits
from cardsharp.deadmansdraw.actions import DRAW, EffectType, respond
from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.wire import MatchParams
from cardsharp.deadmansdraw.wire_views import EventType
from cardsharp.errors import (
    ArenaError,
    Foreign,
    Garbled,
    MatchOver,
    NotFound,
    NotYourTurn,
    RateLimited,
    Rejected,
    Unauthorized,
    Unreachable,
)
from cardsharp.exchange import Answer, Call, Exchange
from cardsharp.far_clock import NEVER
from cardsharp.refusal import LONGEST_WAIT, Patience, retry_after

CANARY = "cänary-7f3a-☠"
CREDENTIALS = Credentials("636438380ee778617e6e5be8", CANARY)
SOON = timedelta(milliseconds=100)
ENOUGH = timedelta(seconds=HANG_SECONDS)
LIMITS = Limits(
    connect=ENOUGH,
    read=ENOUGH,
    long_poll=ENOUGH,
    act=ENOUGH,
    total=ENOUGH,
    attempts=3,
    backoff=timedelta(milliseconds=2),
    body=200_000,
)

Ask = Callable[[ArenaClient], object]
READS: dict[str, Ask] = {
    "view": lambda client: client.view(bodies.MATCH),
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
    *script: Fault, limits: Limits = LIMITS, digest: bool = False
) -> Iterator[tuple[FaultServer, ArenaClient]]:
    """A server with that script, and a client that asks it."""
    with (
        FaultServer(*script) as arena,
        ArenaClient(arena.url, CREDENTIALS, limits, digest=digest) as client,
    ):
        yield arena, client


@pytest.fixture(autouse=True)
def no_password_in_any_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a test does, at no level does anybody log the password."""
    caplog.set_level(logging.DEBUG)
    yield
    assert CANARY not in caplog.text


# --- what is asked, and how it is read ---------------------------------------------------------


def test_every_question_is_asked_as_the_arena_expects_it() -> None:
    lists = (answer(body=b"[]"), answer(body=b"[" + bodies.RUNNING + b"]"))
    with asking(*lists, answer(body=bodies.RUNNING)) as (arena, client):
        assert client.matches(["a", "b"], active=True, wait=True) == []
        assert [match.id for match in client.matches(ids=[bodies.MATCH])] == [bodies.MATCH]
        assert client.view(bodies.MATCH).moves
        client.view(bodies.MATCH, events=False)
        client.wait_for_turn(bodies.MATCH)
        assert [seen.path for seen in arena.seen] == [
            "/api/matches?active=true&wait=true&tags=a%2Cb",
            f"/api/matches?id={bodies.MATCH}",
            f"/api/matches/{bodies.MATCH}?showevents=true",
            f"/api/matches/{bodies.MATCH}",
            f"/api/matches/{bodies.MATCH}?waitactive=true&showevents=true",
        ]
        assert all(seen.headers["Authorization"].startswith("Basic ") for seen in arena.seen)
        assert {seen.headers["Accept-Encoding"] for seen in arena.seen} == {"identity"}
        counts = client.contact.counts
        assert counts == {"list_wait": 1, "list": 1, "view": 2, "view_wait": 1, "retries": 0}


def test_every_write_is_sent_as_the_arena_reads_it() -> None:
    script = (bodies.DRAWN, bodies.CREATED, bodies.FINISHED)
    with asking(*(answer(body=body) for body in script)) as (arena, client):
        events = client.act(bodies.MATCH, respond(EffectType.MAP, Card(Suit.KEY, 3)))
        made = client.create_match(MatchParams(tags=("t",), timeout=timedelta(minutes=1)))
        assert client.terminate(made.id, comment="late").finished
        assert [(seen.method, seen.path) for seen in arena.seen] == [
            ("POST", f"/api/matches/{bodies.MATCH}"),
            ("POST", "/api/matches"),
            ("DELETE", f"/api/matches/{made.id}/terminate"),
        ]
        assert [json.loads(seen.body) for seen in arena.seen] == [
            {
                "etype": "ResponseToEffect",
                "effect": {"effectType": "Map", "card": {"suit": "Key", "value": 3}},
            },
            {"tags": ["t"], "timeout": 60},
            {"comment": "late"},
        ]
    assert [one.event_type for one in events] == [
        EventType.DRAW,
        EventType.CARD_PLACED_TO_PLAY_AREA,
    ]


def test_of_a_list_that_is_too_long_the_newest_are_asked_for() -> None:
    long = b"[" + b",".join([bodies.RUNNING] * 3000) + b"]"
    with asking(answer(body=long), answer(body=b"[]")) as (arena, client):
        assert client.matches(active=True) == client.matches(active=True) == []
        assert [seen.path for seen in arena.seen] == [
            "/api/matches?active=true",
            "/api/matches?active=true&limit=20",
            "/api/matches?active=true&limit=20",
        ]


def test_waiting_for_a_turn_has_three_ends() -> None:
    """Our turn: the view. Still not: None. The match ended: the last view, and a clear no."""
    script = (
        answer(body=bodies.RUNNING),
        answer(409, bodies.NOT_YOUR_TURN),
        answer(410, bodies.FINISHED),
        answer(410, bodies.CLOSING),
    )
    with asking(*script) as (arena, client):
        view = client.wait_for_turn(bodies.MATCH)
        assert view is not None
        assert view.active_player_index == 0
        assert client.wait_for_turn(bodies.MATCH) is None
        last = client.wait_for_turn(bodies.MATCH)
        assert len(arena.seen) == 3
        with pytest.raises(MatchOver) as caught:
            client.act(bodies.MATCH, DRAW)
        assert not caught.value.doubtful
    assert last is not None
    assert last.state.winner_idx == 1


# --- faults that pass, and those that no repetition would mend -----------------------------------

PASSING: list[tuple[Fault, type[ArenaError], str]] = [
    (answer(500, b'{"error":"on fire"}'), Rejected, "The server answered 500: on fire"),
    (answer(502, b"<html>"), Rejected, "The server answered 502: it gave no reason"),
    (answer(503), Rejected, "503"),
    (reset, Unreachable, "the connection broke"),
    (CLOSE, Unreachable, "the connection broke"),
    (cut(b"{"), Unreachable, "the connection broke"),
    (BABBLE, Unreachable, "the connection broke"),
    (answer(503, headers={"Retry-After": "0"}), RateLimited, "too many requests"),
]
LASTING: list[tuple[Fault, type[ArenaError], str]] = [
    (html(), Garbled, "it is an HTML page; check the arena's address"),
    (answer(body=bodies.RUNNING[:-30]), Garbled, "Invalid JSON|too little"),
    (answer(body=b'"done"'), Garbled, "not a match|not a created|events"),
    *((answer(status), Garbled, f"answered with status {status}") for status in (201, 204)),
    (flood(10_000_000), Garbled, "too long, more than 200,000 bytes"),
    (flood(10_000_000, 302, {"Location": "/x"}), Garbled, "too long, more than 200,000 bytes"),
    *(
        (answer(302, headers={"Location": place}), Rejected, "answered 302: it redirects to ")
        for place in ("https://elsewhere.example/x", "http://[::1", "/\xff\xfe")
    ),
    (answer(408, b'{"error":"too slow"}'), Foreign, "408: too slow"),
    (answer(404, b'{"message":"Not Found"}'), Foreign, "404: it gave no reason"),
    (html(410), Garbled, "410: it gave no reason|it is an HTML page"),
    *(
        (html(status), Foreign, f"{status}: it gave no reason")
        for status in (400, 401, 403, 404, 408, 409, 421)
    ),
]
"""Answers of strangers, or that cannot be read: of a write they leave a doubt."""

CLEAR: list[tuple[Fault, type[ArenaError], str]] = [
    (answer(400, b'{"error":"Argument passed in"}'), Rejected, "400: Argument passed in"),
    (answer(401, b"Unauthorized"), Unauthorized, "401: check the user and the password"),
    (answer(401, bodies.NOT_VISIBLE), Unauthorized, "only to participating players"),
    (answer(404, bodies.NO_MATCH), NotFound, "Match does not exist"),
]
"""What the arena itself says, in its own words."""


@pytest.mark.parametrize(("fault", "kind", "sentence"), PASSING)
def test_a_read_is_repeated_until_the_fault_has_passed_or_the_last_attempt(
    fault: Fault, kind: type[ArenaError], sentence: str
) -> None:
    with asking(fault, fault, answer(body=bodies.RUNNING)) as (_, client):
        assert client.view(bodies.MATCH).id == bodies.MATCH
        assert client.contact.counts == {"view": 3, "retries": 2}
    with asking(fault) as (arena, client):
        with pytest.raises(kind, match=sentence) as caught:
            client.view(bodies.MATCH)
        assert not caught.value.doubtful, "a read is never doubtful"
        assert len(arena.seen) == LIMITS.attempts


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize(("fault", "kind", "sentence"), [*LASTING, *CLEAR])
def test_what_no_repetition_would_mend_is_told_at_once(
    fault: Fault, kind: type[ArenaError], sentence: str, name: str
) -> None:
    """A stranger's page is no end of a wait."""
    with asking(fault) as (arena, client):
        with pytest.raises(kind, match=sentence):
            READS[name](client)
        assert len(arena.seen) == 1


IN_DOUBT = [*PASSING, *LASTING]
CLEAR_NO = [
    *CLEAR,
    (answer(409, bodies.NOT_YOUR_TURN), NotYourTurn, "not the current player"),
    (answer(429), RateLimited, "too many requests"),
]


@every_write
@pytest.mark.parametrize(("fault", "kind", "sentence"), [*IN_DOUBT, *CLEAR_NO])
def test_no_write_is_ever_repeated_and_only_a_clear_no_leaves_no_doubt(
    write: Ask, fault: Fault, kind: type[ArenaError], sentence: str
) -> None:
    """The arena reads the request once, whatever it answers, and the error says "doubtful"."""
    with asking(fault) as (arena, client):
        with pytest.raises(kind, match=sentence) as caught:
            write(client)
        assert caught.value.doubtful is ((fault, kind, sentence) in IN_DOUBT)
        assert len(arena.seen) == 1


@every_write
def test_nobody_listening_is_said_and_leaves_no_doubt(write: Ask) -> None:
    with (
        ArenaClient(f"http://127.0.0.1:{unused_port()}", CREDENTIALS, LIMITS) as client,
        pytest.raises(Unreachable, match="no connection; is the server running") as caught,
    ):
        write(client)
    assert not caught.value.doubtful


# --- time ----------------------------------------------------------------------------------------


SLOW = {
    "hangs": HANG,
    "stalls": stall(bodies.RUNNING),
    "drips": drip(bodies.RUNNING, pause=0.1),  # a whole answer after a hundred seconds
    **ENDLESS,  # each byte in time, and never the last one: no limit of a socket ends that
}


def test_no_silence_and_no_drip_holds_a_request_beyond_its_limits() -> None:
    """All of them are waited for at the same time."""
    # A write is not sent at all where others have the machine for longer than its limit.
    limit = timedelta(seconds=5)
    limits = replace(LIMITS, read=limit, long_poll=limit, act=limit, total=limit * 2)

    def held(how: str, name: str) -> None:
        with asking(SLOW[how], limits=limits) as (arena, client):
            with pytest.raises(Unreachable, match=r"no answer within|too slowly") as caught:
                {**READS, **WRITES}[name](client)
            assert caught.value.doubtful is (name in WRITES)
            if name in WRITES:
                assert client.contact.counts.total() == 1
                # A slow server finds the connection reset before it has read.
                assert len(arena.seen) <= 1

    asks = [*product(SLOW, (*READS, *WRITES))]
    with ThreadPoolExecutor(len(asks)) as pool:
        failed = {ask: pool.submit(held, *ask).exception for ask in asks}
    assert {ask: wrong for ask, why in failed.items() if (wrong := why())} == {}


def test_what_comes_after_a_hint_is_no_answer_to_the_next_question() -> None:
    with asking(HINT, answer(body=bodies.WHO)) as (_, client):
        with pytest.raises(Garbled, match="status 103"):
            client.view(bodies.MATCH)
        assert client.whoami().name == "Alice"


def test_the_last_attempt_gets_only_what_is_left_of_the_total(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After 1.5 s of waiting the second attempt hangs: it has what is left of 2 s, not 2 s more."""
    limits, given = replace(LIMITS, read=SOON * 20, total=SOON * 20), list[timedelta]()
    once = Exchange._once

    def noted(exchange: Exchange, call: Call, limit: timedelta) -> Answer:
        given.append(limit)
        return once(exchange, call, limit)

    monkeypatch.setattr(Exchange, "_once", noted)
    busy = answer(503, b"", {"Retry-After": "1.5"})
    with asking(busy, HANG, limits=limits) as (_, client), pytest.raises(Unreachable):
        client.view(bodies.MATCH)
    assert given[0] <= SOON * 20
    assert all(limit <= SOON * 5 for limit in given[1:])


@every_write
def test_r26_a_write_is_not_sent_when_it_took_too_long_to_connect(
    write: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that was looked up for an hour; no limit of a socket holds for that."""
    hour, now = 0.0, time.monotonic
    look_up = socket.getaddrinfo

    def slow(*question: Any, **more: Any) -> Any:  # noqa: ANN401 - whatever the real one takes
        nonlocal hour
        hour = 3600
        return look_up(*question, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    monkeypatch.setattr(connections, "time", SimpleNamespace(monotonic=lambda: now() + hour))
    with asking(answer(body=bodies.DRAWN)) as (arena, client):
        with pytest.raises(Unreachable, match="not sent") as caught:
            write(client)
        assert not caught.value.doubtful
        arena.wait_until_hung_up()
        assert arena.seen == []


def test_r31_an_action_without_time_to_arrive_is_not_sent() -> None:
    with asking(answer(body=bodies.DRAWN)) as (arena, client):
        with pytest.raises(Unreachable, match="too late") as caught:
            client.act(bodies.MATCH, DRAW, within=timedelta(0))
        assert not caught.value.doubtful
        assert client.act(bodies.MATCH, DRAW, within=timedelta(hours=1))
        assert len(arena.seen) == 1


@pytest.mark.parametrize(
    ("date", "readable"),
    [
        ("Fri, 20 Nov 2026 12:00:01 GMT", True),
        ("yesterday", False),
        (f"Fri, 20 Nov 2026 12:00:01 +{'9' * 20}", False),
    ],
)
@pytest.mark.parametrize("name", READS)
def test_the_arenas_clock_is_known_by_the_date_of_a_short_answer(
    date: str, readable: bool, name: str
) -> None:
    told = datetime(2026, 11, 20, 12, 0, 1, tzinfo=UTC)
    with asking(answer(body=bodies.RUNNING, headers={"Date": date})) as (_, client):
        before = time.monotonic()
        READS[name](client)
        after = time.monotonic()
        when = client.contact.far.when(told, after)
    if name == "wait" or not readable:
        assert when == NEVER
    else:
        assert before - 2 <= when.earliest <= when.latest <= after + 1


# --- what a server asks us to wait ---------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
def test_no_read_comes_before_the_time_that_was_asked_for(status: int) -> None:
    busy = answer(status, b"", {"Retry-After": "0.2"})
    with asking(busy, answer(body=bodies.RUNNING)) as (arena, client):
        client.view(bodies.MATCH)
        assert arena.seen[1].at - arena.seen[0].at >= 0.2


DATED = {"Date": "Fri, 20 Nov 2026 15:19:37 GMT"}


def test_a_wait_beyond_our_patience_is_the_callers_to_keep() -> None:
    """A date is read by the arena's own clock."""
    told = {**DATED, "Retry-After": "Fri, 20 Nov 2026 15:19:57 GMT"}
    with asking(answer(429, b"", told)) as (arena, client):
        with pytest.raises(RateLimited) as caught:
            client.view(bodies.MATCH)
        assert caught.value.retry_after == timedelta(seconds=20)
        assert len(arena.seen) == 1


@pytest.mark.parametrize(
    ("said", "believed"),
    [
        ("6", timedelta(seconds=6)),
        ("3600", LONGEST_WAIT),
        ("1e308", LONGEST_WAIT),
        ("9" * 400, LONGEST_WAIT),
        ("inf", LONGEST_WAIT),
        ("Fri, 20 Nov 9999 16:19:37 GMT", LONGEST_WAIT),
        (f"Fri, 20 Nov 2026 16:19:37 +{'9' * 20}", None),
        ("-5", timedelta(0)),
        ("-inf", None),
        ("nan", None),
        ("soon", None),
        ("", None),
    ],
)
def test_r15_no_wait_that_a_server_asks_for_is_believed_to_be_long(
    said: str, believed: timedelta | None
) -> None:
    assert retry_after({**DATED, "Retry-After": said}) == believed


def test_waits_grow_with_full_jitter_and_end_with_the_total() -> None:
    """test_R18: steps double up to the longest; no wait ends after the total time."""
    now = 0.0
    patience = Patience(
        timedelta(seconds=20),
        timedelta(seconds=1),
        timedelta(seconds=5),
        clock=lambda: now,
        uniform=lambda low, high: high if low == 0 else pytest.fail("not full jitter"),
    )
    waits = []
    assert patience(ValueError("a defect")) is False
    while (wait := patience(Unreachable("gone"))) is not False:
        waits.append(wait)
        now += wait
    assert waits == [1, 2, 4, 5, 5]
    assert patience.left == timedelta(seconds=3)


def test_the_slow_down_is_known_told_once_and_not_taken_for_a_fault(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nor is an action in doubt that comes late for it."""
    now = datetime.now(UTC)
    rich, spent = (
        {
            "X-SlowDown-Limit": "100",
            "X-SlowDown-Reset": str(int(now.timestamp()) + 60),
            "X-SlowDown-Remaining": left,
            "Date": format_datetime(now, usegmt=True),
        }
        for left in ("1", "0")
    )
    known = [answer(body=bodies.WHO, headers=headers) for headers in (rich, spent)]
    # 0.7 s and 0.8 s at the least: above the limit, within the slow-down.
    late = drip(bodies.WHO, pause=0.01), drip(bodies.DRAWN, pause=0.005)
    limits = replace(LIMITS, read=SOON * 5, act=SOON)
    with asking(*known, *late, limits=limits) as (arena, client):
        budget = client.contact.budget
        assert budget.limit is None
        client.whoami()
        assert (budget.limit, budget.left(time.monotonic())) == (100, 1)
        client.whoami()
        client.whoami()
        arena.wait_until_hung_up()
        assert client.act_limit == SOON + limits.slow_down
        assert len(client.act(bodies.MATCH, DRAW)) == 2
    assert caplog.text.count("The arena slows us down until ") == 1


# --- connections ---------------------------------------------------------------------------------


def test_an_action_is_sent_once_whether_its_connection_idled_away_or_dies_under_it() -> None:
    """The trap of kept-alive connections: many clients silently send again on a new one."""
    view, drawn = answer(body=bodies.RUNNING), answer(body=bodies.DRAWN)
    with asking(cut(bodies.RUNNING, missing=0), drawn) as (arena, client):
        client.view(bodies.MATCH)
        arena.wait_until_hung_up()
        assert len(client.act(bodies.MATCH, DRAW)) == 2
        assert [seen.method for seen in arena.seen] == ["GET", "POST"]
        assert client.contact.counts["retries"] == 0
    with asking(view, CLOSE, drawn) as (arena, client):
        client.view(bodies.MATCH)
        with pytest.raises(Unreachable) as caught:
            client.act(bodies.MATCH, DRAW)
        assert caught.value.doubtful
        assert [seen.method for seen in arena.seen] == ["GET", "POST"]


CHALLENGE = {"WWW-Authenticate": 'Digest realm="SLCEE-2023-PC", nonce="abc123", qop="auth"'}


def challenging(then: Fault) -> Fault:
    """Challenges what comes without Digest; whether that is right, the real arena has to say."""

    def fault(handler: Handler) -> None:
        answers = handler.headers.get("Authorization", "").startswith("Digest ")
        (then if answers else answer(401, b"Unauthorized", CHALLENGE))(handler)

    return fault


def test_a_digest_challenge_is_answered_and_nothing_is_executed_twice() -> None:
    """Only the challenge makes us send again; the second action goes without one."""
    executed = []

    def draw(handler: Handler) -> None:
        executed.append(handler.path)
        answer(body=bodies.DRAWN)(handler)

    with asking(challenging(draw), digest=True) as (arena, client):
        client.act(bodies.MATCH, DRAW)
        client.act(bodies.MATCH, DRAW)
        assert client.contact.counts == {"act": 3}
        challenged = [not seen.headers.get("Authorization") for seen in arena.seen]
        assert challenged == [True, False, False]
        assert {seen.body for seen in arena.seen} == {b'{"etype": "Draw"}'}
    assert len(executed) == 2


@pytest.mark.parametrize(
    ("fault", "kind", "asked"),
    [
        (challenging(CLOSE), Unreachable, 2),
        (challenging(answer(401, b"Unauthorized")), Unauthorized, 2),
        (flood(10_000_000, 401, CHALLENGE), Garbled, 1),
        (answer(401, b"Unauthorized", {"WWW-Authenticate": "Digest qop=auth"}), Unauthorized, 1),
    ],
    ids=["lost after the challenge", "wrong password", "endless", "asks for nothing"],
)
def test_a_digest_write_ends_after_one_challenge(
    fault: Fault, kind: type[ArenaError], asked: int
) -> None:
    with asking(fault, digest=True) as (arena, client):
        with pytest.raises(kind) as caught:
            client.act(bodies.MATCH, DRAW)
        assert caught.value.doubtful is (kind is not Unauthorized)
        assert len(arena.seen) == asked


# --- errors --------------------------------------------------------------------------------------


def test_an_arenas_words_stay_one_short_line() -> None:
    words = b'{"error":"first\\nERROR forged line\\u001b[31m' + b"x" * 5000 + b'"}'
    with asking(answer(400, words)) as (_, client), pytest.raises(Rejected) as caught:
        client.whoami()
    assert caught.value.message.startswith("first ERROR forged line [31mxxx")
    assert len(caught.value.message) == 300


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("x", doubtful=True),
        Rejected(500, "x", doubtful=True),
        RateLimited("x", timedelta(seconds=2)),
        Foreign(403, "x", doubtful=True),
        MatchOver(),
    ],
)
def test_arena_errors_travel_between_processes(error: ArenaError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
