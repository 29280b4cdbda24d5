"""R03's ground: an action is sent exactly once, and doubt about it is told, never resolved."""

import hashlib
import json
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from types import SimpleNamespace
from typing import Any
from urllib.request import parse_http_list, parse_keqv_list

import pytest
from support import arena_bodies as bodies
from support.fault_server import (
    Fault,
    FaultServer,
    Handler,
    answer,
    babble,
    close,
    closed_port,
    cut,
    drip,
    flood,
    hang,
    html,
    reset,
    stall,
    then_close,
)

from cardsharp import connections
from cardsharp.access import Credentials, Limits
from cardsharp.deadmansdraw.actions import DRAW, EffectType, respond
from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.deadmansdraw.client import ArenaClient, MatchClosed
from cardsharp.deadmansdraw.wire import EventType, MatchParams
from cardsharp.errors import (
    ArenaError,
    Foreign,
    Garbled,
    NotYourTurn,
    RateLimited,
    Rejected,
    Unauthorized,
    Unreachable,
)
from cardsharp.far_clock import NEVER

CREDENTIALS = Credentials("636438380ee778617e6e5be8", "pässwörd-☠")
SOON = timedelta(milliseconds=100)
LIMITS = Limits(attempts=3, backoff=timedelta(milliseconds=2), body=200_000)
IMPATIENT = replace(LIMITS, act=SOON, read=SOON)

Write = Callable[[ArenaClient], object]
WRITES: dict[str, Write] = {
    "act": lambda client: client.act(bodies.MATCH, DRAW),
    "create": lambda client: client.create_match(MatchParams()),
    "terminate": lambda client: client.terminate(bodies.MATCH),
}
every_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


def test_an_action_is_sent_as_the_arena_reads_it_and_answered_with_events() -> None:
    with FaultServer(answer(body=bodies.DRAWN)) as arena:
        with ArenaClient(arena.url, CREDENTIALS, LIMITS) as client:
            events = client.act(bodies.MATCH, respond(EffectType.MAP, Card(Suit.KEY, 3)))
            assert client.counts == {"act": 1}
        (seen,) = arena.seen
    assert (seen.method, seen.path) == ("POST", f"/api/matches/{bodies.MATCH}")
    assert seen.headers["Content-Type"] == "application/json"
    assert json.loads(seen.body) == {
        "etype": "ResponseToEffect",
        "effect": {"effectType": "Map", "card": {"suit": "Key", "value": 3}},
    }
    assert [event.event_type for event in events] == [
        EventType.DRAW,
        EventType.CARD_PLACED_TO_PLAY_AREA,
    ]


@every_write
def test_r26_a_write_is_not_sent_when_it_took_too_long_to_connect(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that was looked up for an hour; no limit of a socket holds for that."""
    hour = 0.0
    look_up = socket.getaddrinfo

    def slow(*question: Any, **more: Any) -> Any:  # noqa: ANN401 - whatever the real one takes
        nonlocal hour
        hour = 3600
        return look_up(*question, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    monkeypatch.setattr(connections, "time", SimpleNamespace(monotonic=lambda: monotonic() + hour))
    with FaultServer(answer(body=bodies.DRAWN)) as arena:
        with (
            ArenaClient(arena.url, CREDENTIALS, LIMITS) as client,
            pytest.raises(Unreachable, match="not sent") as caught,
        ):
            write(client)
        assert not caught.value.doubtful
        arena.wait_until_hung_up()
        assert arena.seen == []


def test_r31_an_action_without_time_to_arrive_is_not_sent() -> None:
    with FaultServer(answer(body=bodies.DRAWN)) as arena:
        with ArenaClient(arena.url, CREDENTIALS, LIMITS) as client:
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
@pytest.mark.parametrize("waits", [False, True])
def test_the_arenas_clock_is_known_by_the_date_of_a_short_answer(
    date: str, readable: bool, waits: bool
) -> None:
    dated = answer(body=bodies.RUNNING, headers={"Date": date})
    told = datetime(2026, 11, 20, 12, 0, 1, tzinfo=UTC)
    with FaultServer(dated) as arena, ArenaClient(arena.url, CREDENTIALS, LIMITS) as client:
        before = time.monotonic()
        if waits:
            client.wait_for_turn(bodies.MATCH)
        else:
            client.view(bodies.MATCH)
        after = time.monotonic()
        when = client.contact.far.when(told, after)
    if waits or not readable:
        assert when == NEVER
    else:
        assert before - 2 <= when.earliest <= when.latest <= after + 1


def test_matches_are_created_and_ended_by_their_id() -> None:
    with FaultServer(answer(body=bodies.CREATED), answer(body=bodies.FINISHED)) as arena:
        with ArenaClient(arena.url, CREDENTIALS, LIMITS) as client:
            made = client.create_match(MatchParams(tags=("t",), timeout=timedelta(minutes=1)))
            assert made.id == "6b006509d06c4dfa5a8e02c2"
            assert client.terminate(made.id, comment="late").finished
        create, end = arena.seen
    assert json.loads(create.body) == {"tags": ["t"], "timeout": 60}
    assert (end.method, end.path) == ("DELETE", f"/api/matches/{made.id}/terminate")
    assert json.loads(end.body) == {"comment": "late"}


@every_write
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (close(), Unreachable),
        (reset(), Unreachable),
        (babble(), Unreachable),
        (cut(bodies.DRAWN), Unreachable),
        (answer(500), Rejected),
        (answer(502, b"<html>"), Rejected),
        (answer(503), Rejected),
        (answer(503, headers={"Retry-After": "0"}), RateLimited),
        (answer(302, headers={"Location": "/"}), Rejected),
        (answer(307, headers={"Location": "/"}), Rejected),
        (html(), Garbled),
        *((html(status), Foreign) for status in (400, 401, 403, 404, 408, 409)),
        (answer(408, b'{"error":"too slow"}'), Foreign),
        (answer(body=b"[{"), Garbled),
        (answer(body=b'"done"'), Garbled),
        (answer(201), Garbled),
        (flood(10_000_000), Garbled),
    ],
)
def test_no_doubtful_write_is_ever_repeated(
    write: Write, fault: Fault, kind: type[ArenaError]
) -> None:
    """The arena reads the request once, whatever it answers, and the error says "doubtful"."""
    with FaultServer(fault) as arena, ArenaClient(arena.url, CREDENTIALS, LIMITS) as client:
        with pytest.raises(kind) as caught:
            write(client)
        assert caught.value.doubtful
        assert len(arena.seen) == 1


@pytest.mark.timed
@every_write
@pytest.mark.parametrize("fault", [hang(), stall(bodies.DRAWN), drip(bodies.DRAWN, pause=0.01)])
def test_a_write_that_lasts_too_long_is_given_up_and_in_doubt(write: Write, fault: Fault) -> None:
    with FaultServer(fault) as arena, ArenaClient(arena.url, CREDENTIALS, IMPATIENT) as client:
        start = time.monotonic()
        with pytest.raises(Unreachable, match=r"no answer within|too slowly") as caught:
            write(client)
        assert time.monotonic() - start < 2
        assert caught.value.doubtful
        assert client.counts.total() == 1
        # A slow server finds the connection reset before it has read.
        assert len(arena.seen) <= 1


@every_write
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (answer(400, b'{"error":"Could not update Match."}'), Rejected),
        (answer(401, bodies.NOT_VISIBLE), Unauthorized),
        (answer(409, bodies.NOT_YOUR_TURN), NotYourTurn),
        (answer(429), RateLimited),
    ],
)
def test_a_clear_no_leaves_no_doubt(write: Write, fault: Fault, kind: type[ArenaError]) -> None:
    with FaultServer(fault) as arena, ArenaClient(arena.url, CREDENTIALS, LIMITS) as client:
        with pytest.raises(kind) as caught:
            write(client)
        assert not caught.value.doubtful
        assert len(arena.seen) == 1


@every_write
def test_a_refused_connection_leaves_no_doubt(write: Write) -> None:
    with (
        ArenaClient(closed_port(), CREDENTIALS, LIMITS) as client,
        pytest.raises(Unreachable, match="no connection") as caught,
    ):
        write(client)
    assert not caught.value.doubtful


def test_the_end_of_the_match_answers_an_action_with_its_closing_events() -> None:
    with (
        FaultServer(answer(410, bodies.CLOSING)) as arena,
        ArenaClient(arena.url, CREDENTIALS, LIMITS) as client,
        pytest.raises(MatchClosed) as caught,
    ):
        client.act(bodies.MATCH, DRAW)
    closing = caught.value.closing
    assert (closing.view, caught.value.doubtful) == (None, False)
    assert closing.ended is not None
    assert closing.ended.match_ended_scores == (8, 0)


def test_an_end_that_cannot_be_read_is_in_doubt() -> None:
    with (
        FaultServer(answer(410, b"Gone")) as arena,
        ArenaClient(arena.url, CREDENTIALS, LIMITS) as client,
        pytest.raises(Garbled) as caught,
    ):
        client.act(bodies.MATCH, DRAW)
    assert caught.value.doubtful


def test_an_action_on_a_connection_that_dies_under_it_is_sent_once() -> None:
    """The trap of kept-alive connections: many clients silently send again on a new one."""
    with FaultServer(answer(body=bodies.RUNNING), close(), answer(body=bodies.DRAWN)) as arena:
        with ArenaClient(arena.url, CREDENTIALS, LIMITS) as client:
            client.view(bodies.MATCH)
            with pytest.raises(Unreachable) as caught:
                client.act(bodies.MATCH, DRAW)
            assert caught.value.doubtful
        assert [seen.method for seen in arena.seen] == ["GET", "POST"]


def test_an_action_after_a_connection_idled_away_is_sent_once_and_done() -> None:
    script = (then_close(answer(body=bodies.RUNNING)), answer(body=bodies.DRAWN))
    with FaultServer(*script) as arena, ArenaClient(arena.url, CREDENTIALS, LIMITS) as client:
        client.view(bodies.MATCH)
        arena.wait_until_hung_up()
        assert len(client.act(bodies.MATCH, DRAW)) == 2
        assert [seen.method for seen in arena.seen] == ["GET", "POST"]


def test_an_action_that_the_arena_slows_down_is_waited_for() -> None:
    """A delay that the arena announced is no reason to be in doubt."""
    spent = {
        "X-SlowDown-Limit": "100",
        "X-SlowDown-Remaining": "0",
        "X-SlowDown-Reset": "1795188020",
    }
    slow = drip(bodies.DRAWN, pause=0.002)  # 0.3 s at the least, three times the limit
    with (
        FaultServer(answer(body=bodies.RUNNING, headers=spent), slow) as arena,
        ArenaClient(arena.url, CREDENTIALS, replace(LIMITS, act=SOON)) as client,
    ):
        client.view(bodies.MATCH)
        assert len(client.act(bodies.MATCH, DRAW)) == 2


CHALLENGE = {"WWW-Authenticate": 'Digest realm="SLCEE-2023-PC", nonce="abc123", qop="auth"'}


def digest_arena(then: Fault) -> Fault:
    """Challenges what comes without Digest, checks the password of what comes with it."""

    def fault(handler: Handler) -> None:
        method, _, said = handler.headers.get("Authorization", "").partition(" ")
        fields = parse_keqv_list(parse_http_list(said)) if method == "Digest" else {}
        if not fields:
            answer(401, b"Unauthorized", CHALLENGE)(handler)
            return
        secret = f"{CREDENTIALS.user}:SLCEE-2023-PC:{CREDENTIALS.password}"
        parts = (fields["nonce"], fields["nc"], fields["cnonce"], "auth")
        right = _md5(":".join((_md5(secret), *parts, _md5(f"{handler.command}:{handler.path}"))))
        (then if fields["response"] == right else answer(401, b"Unauthorized"))(handler)

    return fault


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def test_a_digest_challenge_is_answered_and_nothing_is_executed_twice() -> None:
    """Only the challenge makes us send again; the second action goes without one."""
    executed = []

    def draw(handler: Handler) -> None:
        executed.append(handler.path)
        answer(body=bodies.DRAWN)(handler)

    with FaultServer(digest_arena(draw)) as arena:
        with ArenaClient(arena.url, CREDENTIALS, LIMITS, digest=True) as client:
            client.act(bodies.MATCH, DRAW)
            client.act(bodies.MATCH, DRAW)
            assert client.counts == {"act": 3}
        challenged = [not seen.headers.get("Authorization") for seen in arena.seen]
        assert challenged == [True, False, False]
        assert {seen.body for seen in arena.seen} == {b'{"etype": "Draw"}'}
    assert len(executed) == 2


def test_a_digest_write_that_is_lost_after_the_challenge_is_in_doubt() -> None:
    with FaultServer(digest_arena(close())) as arena:
        with ArenaClient(arena.url, CREDENTIALS, LIMITS, digest=True) as client:
            with pytest.raises(Unreachable) as caught:
                client.act(bodies.MATCH, DRAW)
            assert caught.value.doubtful
        assert len(arena.seen) == 2


def test_a_wrong_digest_password_ends_after_one_challenge() -> None:
    wrong = Credentials(CREDENTIALS.user, "wrong")
    with (
        FaultServer(digest_arena(answer(body=bodies.WHO))) as arena,
        ArenaClient(arena.url, wrong, LIMITS, digest=True) as client,
    ):
        with pytest.raises(Unauthorized, match="check the user and the password"):
            client.whoami()
        assert len(arena.seen) == 2


def test_an_endless_digest_challenge_is_not_read() -> None:
    def endless(handler: Handler) -> None:
        handler.close_connection = True
        handler.begin(401, CHALLENGE | {"Connection": "close"})
        while not handler.arena.over.is_set():
            handler.wfile.write(b" " * 65536)

    with (
        FaultServer(endless) as arena,
        ArenaClient(arena.url, CREDENTIALS, LIMITS, digest=True) as client,
    ):
        with pytest.raises(Garbled, match="too long"):
            client.act(bodies.MATCH, DRAW)
        assert len(arena.seen) == 1


def test_a_challenge_that_asks_for_nothing_is_not_answered() -> None:
    nothing = answer(401, b"Unauthorized", {"WWW-Authenticate": "Digest qop=auth"})
    with (
        FaultServer(nothing) as arena,
        ArenaClient(arena.url, CREDENTIALS, LIMITS, digest=True) as client,
        pytest.raises(Unauthorized, match="check the user and the password"),
    ):
        client.act(bodies.MATCH, DRAW)
