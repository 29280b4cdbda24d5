"""Reads of the arena client from a server that misbehaves; the writes have their own file."""

import logging
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
import requests
from support import arena_bodies as bodies
from support.fault_server import (
    ENDLESS,
    Fault,
    FaultServer,
    answer,
    babble,
    close,
    closed_port,
    cut,
    drip,
    flood,
    hang,
    hint,
    html,
    reset,
    stall,
    then_close,
)

from cardsharp.access import Credentials, Limits
from cardsharp.deadmansdraw.actions import DRAW
from cardsharp.deadmansdraw.client import ArenaClient, MatchClosed
from cardsharp.errors import (
    ArenaError,
    Foreign,
    Garbled,
    MatchOver,
    NotFound,
    RateLimited,
    Rejected,
    Unauthorized,
    Unreachable,
)
from cardsharp.patience import Patience
from cardsharp.refusal import LONGEST_WAIT, retry_after

CANARY = "canary-7f3a"
CREDENTIALS = Credentials("636438380ee778617e6e5be8", CANARY)
SOON = timedelta(milliseconds=100)
LIMITS = Limits(
    total=timedelta(seconds=5), attempts=3, backoff=timedelta(milliseconds=2), body=200_000
)
IMPATIENT = replace(LIMITS, read=SOON, long_poll=SOON, act=SOON, total=SOON * 2)


def client(url: str, limits: Limits = LIMITS) -> ArenaClient:
    return ArenaClient(url, CREDENTIALS, limits)


@pytest.fixture(autouse=True)
def no_password_in_any_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a test does, at no level does anybody log the password."""
    caplog.set_level(logging.DEBUG)
    yield
    assert CANARY not in caplog.text
    assert requests.auth._basic_auth_str(CREDENTIALS.user, CANARY).split()[1] not in caplog.text


def test_every_question_is_asked_as_the_arena_expects_it() -> None:
    with (
        FaultServer(answer(body=b"[]"), answer(body=b"[]"), answer(body=bodies.RUNNING)) as arena,
        client(arena.url) as asking,
    ):
        assert asking.waiting_matches(["a", "b"]) == []
        assert asking.matches(ids=[bodies.MATCH]) == []
        assert asking.view(bodies.MATCH).moves
        asking.view(bodies.MATCH, events=False)
        asking.wait_for_turn(bodies.MATCH)
        assert [seen.path for seen in arena.seen] == [
            "/api/matches?active=true&wait=true&tags=a%2Cb",
            f"/api/matches?id={bodies.MATCH}",
            f"/api/matches/{bodies.MATCH}?showevents=true",
            f"/api/matches/{bodies.MATCH}",
            f"/api/matches/{bodies.MATCH}?waitactive=true&showevents=true",
        ]
        assert all(seen.headers["Authorization"].startswith("Basic ") for seen in arena.seen)
        assert {seen.headers["Accept-Encoding"] for seen in arena.seen} == {"identity"}
        assert asking.counts == {"list_wait": 1, "list": 1, "view": 2, "view_wait": 1, "retries": 0}


def test_who_and_hello_and_lists_are_read() -> None:
    greeting, matches = b'{"message":"Hello World."}', b"[" + bodies.RUNNING + b"]"
    script = (answer(body=greeting), answer(body=bodies.WHO), answer(body=matches))
    with FaultServer(*script) as arena, client(arena.url + "/api/") as asking:
        assert asking.hello() == "Hello World."
        assert asking.whoami().name == "Alice"
        assert [match.id for match in asking.matches(tags=["GAMETAG"])] == [bodies.MATCH]


def test_of_a_list_that_is_too_long_the_newest_are_asked_for() -> None:
    long = b"[" + b",".join([bodies.RUNNING] * 3000) + b"]"
    lists = (answer(body=long), answer(body=b"[]"), answer(body=b"[]"))
    with FaultServer(*lists) as arena, client(arena.url) as asking:
        assert asking.matches(active=True) == asking.matches(active=True) == []
        assert [seen.path for seen in arena.seen] == [
            "/api/matches?active=true",
            "/api/matches?active=true&limit=20",
            "/api/matches?active=true&limit=20",
        ]


def test_waiting_for_a_turn_has_three_ends() -> None:
    """Our turn: the view. Still not: None. The match ended: MatchClosed with the last view."""
    script = (
        answer(body=bodies.RUNNING),
        answer(409, bodies.NOT_YOUR_TURN),
        answer(410, bodies.FINISHED),
    )
    with FaultServer(*script) as arena, client(arena.url) as asking:
        view = asking.wait_for_turn(bodies.MATCH)
        assert view is not None
        assert view.active_player_index == 0
        assert asking.wait_for_turn(bodies.MATCH) is None
        with pytest.raises(MatchClosed) as caught:
            asking.wait_for_turn(bodies.MATCH)
        assert isinstance(caught.value, MatchOver)
        closing = caught.value.closing
        assert closing.view is not None
        assert closing.view.state.winner_idx == 1
        assert closing.ended is not None
        assert not caught.value.doubtful
        assert len(arena.seen) == 3


@pytest.mark.parametrize("status", [409, 410])
def test_a_strangers_page_is_no_end_of_a_wait(status: int) -> None:
    with FaultServer(html(status)) as arena, client(arena.url) as asking, pytest.raises(Garbled):
        asking.wait_for_turn(bodies.MATCH)


@pytest.mark.parametrize(
    "fault",
    [answer(500), answer(502, b"<html>"), answer(503), reset(), close(), cut(b"{"), babble()],
)
def test_a_read_is_repeated_until_the_fault_has_passed(fault: Fault) -> None:
    with FaultServer(fault, fault, answer(body=bodies.RUNNING)) as arena:
        with client(arena.url) as asking:
            assert asking.view(bodies.MATCH).id == bodies.MATCH
            assert asking.counts == {"view": 3, "retries": 2}
        assert len(arena.seen) == 3


@pytest.mark.parametrize(
    ("fault", "kind", "sentence"),
    [
        (answer(500, b'{"error":"on fire"}'), Rejected, "The server answered 500: on fire"),
        (answer(502, b"<html>"), Rejected, "The server answered 502: it gave no reason"),
        (reset(), Unreachable, "the connection broke"),
        (close(), Unreachable, "the connection broke"),
        (cut(bodies.RUNNING), Unreachable, "the connection broke"),
        (babble(), Unreachable, "the connection broke"),
    ],
)
def test_a_fault_that_stays_is_told_after_the_last_attempt(
    fault: Fault, kind: type[ArenaError], sentence: str
) -> None:
    with FaultServer(fault) as arena, client(arena.url) as asking:
        with pytest.raises(kind, match=sentence) as caught:
            asking.view(bodies.MATCH)
        assert not caught.value.doubtful, "a read is never doubtful"
        assert len(arena.seen) == LIMITS.attempts


FOREIGN = (400, 401, 403, 409, 410, 421)


@pytest.mark.parametrize(
    ("fault", "kind", "sentence"),
    [
        (html(), Garbled, "it is an HTML page; check the arena's address"),
        (answer(body=bodies.RUNNING[:-30]), Garbled, "Invalid JSON"),
        (answer(body=b'{"moveCount":"two"}'), Garbled, "not a match"),
        (answer(body=b""), Garbled, "not a match"),
        (answer(204, b""), Garbled, "answered with status 204"),
        (flood(10_000_000), Garbled, "too long, more than 200,000 bytes"),
        (answer(body=b" " * 200_001), Garbled, "too long"),
        (
            answer(302, headers={"Location": "https://elsewhere.example/x"}),
            Rejected,
            "answered 302: it redirects to https://elsewhere.example/x; give the address",
        ),
        *(
            (answer(302, headers={"Location": place}), Rejected, "answered 302: it redirects to ")
            for place in ("http://[::1", "/\xff\xfe")  # no address, no UTF-8
        ),
        (flood(10_000_000, 302, {"Location": "/x"}), Garbled, "too long, more than 200,000 bytes"),
        (answer(400, b'{"error":"Argument passed in"}'), Rejected, "400: Argument passed in"),
        (answer(401, b"Unauthorized"), Unauthorized, "401: check the user and the password"),
        (answer(401, bodies.NOT_VISIBLE), Unauthorized, "only to participating players"),
        (answer(404, bodies.NO_MATCH), NotFound, "Match does not exist"),
        (answer(404, b'{"message":"Not Found"}'), Foreign, "404: it gave no reason"),
        (answer(408, b'{"error":"too slow"}'), Foreign, "408: too slow"),
        *((html(status), Foreign, f"{status}: it gave no reason") for status in FOREIGN),
        (html(404), Foreign, "404: it gave no reason; check the address"),
    ],
)
def test_what_no_repetition_would_mend_is_told_at_once(
    fault: Fault, kind: type[ArenaError], sentence: str
) -> None:
    with FaultServer(fault) as arena, client(arena.url) as asking:
        with pytest.raises(kind, match=sentence):
            asking.view(bodies.MATCH)
        assert len(arena.seen) == 1


@pytest.mark.timed
@pytest.mark.parametrize("fault", [hang(), stall(bodies.RUNNING), drip(bodies.RUNNING, pause=0.01)])
@pytest.mark.parametrize(
    "ask", [lambda c: c.view(bodies.MATCH), lambda c: c.wait_for_turn(bodies.MATCH)]
)
def test_no_silence_and_no_drip_holds_a_read_beyond_its_limits(
    fault: Fault, ask: Callable[[ArenaClient], object]
) -> None:
    with FaultServer(fault) as arena, client(arena.url, IMPATIENT) as asking:
        start = time.monotonic()
        with pytest.raises(Unreachable, match=r"no answer within|too slowly"):
            ask(asking)
        assert time.monotonic() - start < 2


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_answer_that_never_ends_is_cut_off(kind: str) -> None:
    """Each byte in time, and never the last one: no limit of a socket ends that."""
    with FaultServer(ENDLESS[kind]) as arena, client(arena.url, IMPATIENT) as asking:
        began = time.monotonic()
        with pytest.raises(ArenaError):
            asking.view(bodies.MATCH)
        with pytest.raises(ArenaError) as caught:
            asking.act(bodies.MATCH, DRAW)
        assert caught.value.doubtful
        assert time.monotonic() - began < 20


def test_a_slow_answer_within_its_limit_is_an_answer() -> None:
    with FaultServer(drip(bodies.WHO, pause=0.001)) as arena, client(arena.url) as asking:
        assert asking.whoami().name == "Alice"


def test_what_comes_after_a_hint_is_no_answer_to_the_next_question() -> None:
    with FaultServer(hint(), answer(body=bodies.WHO)) as arena, client(arena.url) as asking:
        with pytest.raises(Garbled, match="status 103"):
            asking.view(bodies.MATCH)
        assert asking.whoami().name == "Alice"


def test_nobody_listening_says_so() -> None:
    with (
        client(closed_port()) as asking,
        pytest.raises(Unreachable, match="no connection; is the server running"),
    ):
        asking.hello()


@pytest.mark.timed
def test_the_last_attempt_gets_only_what_is_left_of_the_total() -> None:
    """After 0.5 s of waiting the second attempt hangs: it ends at 0.6 s, not at 1.1 s."""
    tenths = timedelta(milliseconds=100)
    limits = replace(LIMITS, read=tenths * 6, total=tenths * 6)
    busy = answer(503, b"", {"Retry-After": "0.5"})
    with FaultServer(busy, hang()) as arena, client(arena.url, limits) as asking:
        start = time.monotonic()
        with pytest.raises(Unreachable):
            asking.view(bodies.MATCH)
        assert time.monotonic() - start < 0.9
        assert len(arena.seen) == 2


@pytest.mark.parametrize("status", [429, 503])
def test_no_read_comes_before_the_time_that_was_asked_for(status: int) -> None:
    busy = answer(status, b"", {"Retry-After": "0.2"})
    with FaultServer(busy, answer(body=bodies.RUNNING)) as arena, client(arena.url) as asking:
        asking.view(bodies.MATCH)
        assert arena.seen[1].at - arena.seen[0].at >= 0.2


def test_a_wait_beyond_our_patience_is_the_callers_to_keep() -> None:
    busy = answer(429, b"", {"Retry-After": "6"})
    with FaultServer(busy) as arena, client(arena.url) as asking:
        with pytest.raises(RateLimited) as caught:
            asking.view(bodies.MATCH)
        assert caught.value.retry_after == timedelta(seconds=6)
        assert len(arena.seen) == 1


def test_a_date_to_retry_after_that_is_none_is_passed_over() -> None:
    never = {"Retry-After": f"Fri, 20 Nov 2026 16:19:37 +{'9' * 20}"}
    with FaultServer(answer(429, b"", never)) as arena, client(arena.url) as asking:
        with pytest.raises(RateLimited) as caught:
            asking.act(bodies.MATCH, DRAW)
        assert caught.value.retry_after == timedelta(seconds=1)


def test_a_date_to_retry_after_is_read_by_the_arenas_own_clock() -> None:
    dates = {
        "Date": "Fri, 20 Nov 2026 15:19:37 GMT",
        "Retry-After": "Fri, 20 Nov 2026 15:19:57 GMT",
    }
    with FaultServer(answer(503, b"", dates)) as arena, client(arena.url) as asking:
        with pytest.raises(RateLimited) as caught:
            asking.view(bodies.MATCH)
        assert caught.value.retry_after == timedelta(seconds=20)


@pytest.mark.parametrize(
    ("said", "believed"),
    [
        ("3600", LONGEST_WAIT),
        ("1e308", LONGEST_WAIT),
        ("9" * 400, LONGEST_WAIT),
        ("inf", LONGEST_WAIT),
        ("Fri, 20 Nov 9999 16:19:37 GMT", LONGEST_WAIT),
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
    headers = {"Retry-After": said, "Date": "Fri, 20 Nov 2026 15:19:37 GMT"}
    assert retry_after(headers) == believed


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
    while (wait := patience(Unreachable("gone"))) is not False:
        waits.append(wait)
        now += wait
    assert waits == [1, 2, 4, 5, 5]
    assert patience.left == timedelta(seconds=3)


@pytest.mark.parametrize(
    "error", [Garbled("x"), Rejected(400, "x"), Unauthorized(401, "x"), ValueError("a defect")]
)
def test_only_named_errors_are_worth_a_repetition(error: Exception) -> None:
    second = timedelta(seconds=1)
    assert Patience(second * 9, second, second)(error) is False


def test_the_slow_down_is_known_told_once_and_not_taken_for_a_fault(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = datetime.now(UTC)
    headers = {
        "X-SlowDown-Limit": "100",
        "X-SlowDown-Reset": str(int(now.timestamp()) + 60),
        "Date": format_datetime(now, usegmt=True),
    }
    rich = headers | {"X-SlowDown-Remaining": "1"}
    spent = headers | {"X-SlowDown-Remaining": "0"}
    script = (
        answer(body=bodies.WHO, headers=rich),
        answer(body=bodies.WHO, headers=spent),
        answer(body=bodies.WHO, headers=spent),
        drip(bodies.WHO, pause=0.01),  # 0.7 s: above the limit, within the slow-down
    )
    limits = replace(LIMITS, read=timedelta(milliseconds=500))
    with FaultServer(*script) as arena, client(arena.url, limits) as asking:
        budget = asking.contact.budget
        assert budget.limit is None
        asking.whoami()
        assert (budget.limit, budget.left(time.monotonic())) == (100, 1)
        for _ in range(3):
            asking.whoami()
        assert asking.counts["slowed"] == 2
    assert caplog.text.count("The arena slows us down until ") == 1


@pytest.mark.parametrize("remaining", ["", "many", "9" * 5000])
def test_strange_slow_down_headers_are_passed_over(remaining: str) -> None:
    strange = {"X-SlowDown-Limit": "100", "X-SlowDown-Remaining": remaining}
    with (
        FaultServer(answer(body=bodies.WHO, headers=strange)) as arena,
        client(arena.url) as asking,
    ):
        asking.whoami()
        assert asking.contact.budget.limit is None


def test_a_connection_that_idled_away_is_replaced_without_a_word() -> None:
    script = (then_close(answer(body=bodies.WHO)), answer(body=bodies.WHO))
    with FaultServer(*script) as arena, client(arena.url) as asking:
        asking.whoami()
        arena.wait_until_hung_up()
        asking.whoami()
        assert (len(arena.seen), asking.counts["retries"]) == (2, 0)


def test_an_arenas_words_stay_one_short_line() -> None:
    words = b'{"error":"first\\nERROR forged line\\u001b[31m' + b"x" * 5000 + b'"}'
    with FaultServer(answer(400, words)) as arena, client(arena.url) as asking:
        with pytest.raises(Rejected) as caught:
            asking.whoami()
        assert caught.value.message.startswith("first ERROR forged line [31mxxx")
        assert len(caught.value.message) == 300


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("x", doubtful=True),
        Rejected(500, "x", doubtful=True),
        RateLimited("x", timedelta(seconds=2)),
        Foreign(403, "x", doubtful=True),
        MatchOver("told"),
    ],
)
def test_arena_errors_travel_between_processes(error: ArenaError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
