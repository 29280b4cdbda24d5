"""One contract for every match log: leases, fences, moves, repeats, and writers that race."""

import multiprocessing
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.cloud_benches import TTL, LogBench, at_once, dynamo_log, known, taken
from support.cloud_processes import take_all, write_for_ever

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Lease, MatchLog, MoveRecord, Outwaited, Status
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.errors import Conflict, StoreError

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


@pytest.fixture
def log(bench: LogBench) -> MatchLog:
    return bench.log


def seen(log: MatchLog, idle: timedelta = TTL) -> Outwaited:
    """What an onlooker tells of the match who has seen it as it is now for so long."""
    return Outwaited(known(log).beat, idle)


def test_a_match_is_announced_to_one_caller_until_that_is_outwaited_or_taken(
    bench: LogBench,
) -> None:
    """The first take stores the header and uses up the announcement."""
    assert bench.log.announce("m", TTL)
    assert not bench.log.announce("m", TTL)
    assert bench.log.announce("other", TTL)
    waited = seen(bench.log)
    assert bench.reopen().announce("m", TTL, waited)
    assert not bench.log.announce("m", TTL, waited), "it is another announcement by now"
    lease = bench.log.take("m", "ann", TTL, {"players": ["a", "b"]})
    assert lease == Lease("m", "ann", 1)
    match = known(bench.reopen())
    assert (match.status, match.lease, match.ttl) == (Status.RUNNING, lease, TTL)
    assert (match.announced, match.header) == (False, {"players": ["a", "b"]})


@pytest.mark.parametrize("skew", [timedelta(hours=1), -timedelta(hours=1)])
def test_a_wrong_clock_neither_ends_nor_prolongs_a_lease(bench: LogBench, skew: timedelta) -> None:
    """Its holder's, its successor's or the onlooker's: no moment that another wrote is read."""
    lease = taken(bench.log)
    bench.clock.advance(skew)
    assert bench.log.take("m", "bob", TTL) is None
    assert not bench.log.announce("m", TTL)
    bench.log.renew(lease, TTL)
    waited = seen(bench.log)
    bench.clock.advance(-skew)
    assert bench.log.announce("m", TTL, waited)
    assert taken(bench.log, "bob").idle == TTL


WRITES: tuple[Callable[[MatchLog, Lease], None], ...] = (
    lambda log, lease: log.renew(lease, TTL),
    lambda log, lease: log.describe(lease, {"players": []}),
    lambda log, lease: log.intend(lease, 2, {"draw": 2}),
    lambda log, lease: log.intend(lease, 1, {"draw": 2}),
    lambda log, lease: log.record(lease, {1: {"drew": 2}}),
    lambda log, lease: log.record(lease, {}),
    lambda log, lease: log.withdraw(lease, 1),
    lambda log, lease: log.withdraw(lease, 9),
    lambda log, lease: log.finish(lease, {"won": True}),
)
"""All that a holder may write."""


def test_whatever_a_holder_writes_keeps_onlookers_waiting(log: MatchLog) -> None:
    """But what needs no lease, and is written by anybody."""
    lease = taken(log)
    for write in WRITES:
        waited = seen(log)
        log.note("m", "kind", {})
        assert seen(log) == waited
        write(log, lease)
        assert not log.announce("m", TTL, waited)


def test_a_take_tells_how_long_nobody_held_the_match_before(log: MatchLog) -> None:
    first = taken(log)
    assert first.idle == timedelta(0)
    log.announce("m", TTL, seen(log, TTL * 2))
    second = taken(log, "bob")
    assert second.idle == TTL * 2
    log.release(second)
    assert log.announce("m", TTL)
    assert taken(log).idle == timedelta(0), "it was given back just now, for all that one knows"


def test_a_match_that_is_to_rest_is_free_for_who_knows_that_it_does(log: MatchLog) -> None:
    log.release(taken(log), TTL * 20)
    match = known(log)
    assert (match.rests, match.lease, match.ttl) == (True, None, TTL * 20)
    assert [one.match_id for one in log.running()] == ["m"]
    assert not log.announce("m", TTL)
    assert log.announce("m", TTL, Outwaited(match.beat, timedelta(0)))
    assert not log.announce("m", TTL, Outwaited(match.beat, timedelta(0))), "for one caller"
    lease = taken(log, "bob")
    assert not known(log).rests
    log.release(lease)
    assert log.announce("m", TTL), "a release without a rest leaves none"


def test_a_stale_lease_can_write_nothing(bench: LogBench) -> None:
    log = bench.log
    stale = taken(log)
    log.intend(stale, 1, {"draw": 1})
    log.announce("m", TTL, seen(log))
    fresh = taken(log, "bob")
    for write in WRITES:
        with pytest.raises(Conflict, match="no longer held by ann"):
            write(log, stale)
    log.release(stale)
    match = known(log)
    assert (match.lease, match.status, match.outcome) == (fresh, Status.RUNNING, None)
    assert log.moves("m") == [MoveRecord(1, {"draw": 1}, None)]


def test_an_intent_may_change_until_the_move_has_facts(log: MatchLog) -> None:
    lease = taken(log)
    log.intend(lease, 7, {"draw": True})
    log.intend(lease, 7, {"draw": False})
    assert log.moves("m") == [MoveRecord(7, {"draw": False}, None)]
    log.record(lease, {7: {"ended": True}})
    with pytest.raises(Conflict, match="Move 7 of match m was already played"):
        log.intend(lease, 7, {"draw": True})
    assert log.moves("m") == [MoveRecord(7, {"draw": False}, {"ended": True})]


def test_moves_that_are_withdrawn_stay_as_notes_and_may_be_played_anew(bench: LogBench) -> None:
    log = bench.log
    lease = taken(log)
    log.record(lease, {n: {"drew": n} for n in range(3)})
    log.intend(lease, 3, {"draw": True})
    log.withdraw(lease, 1)
    assert log.moves("m") == [MoveRecord(0, None, {"drew": 0})]
    assert bench.reopen().moves("m") == log.moves("m")
    kept = [note.body for note in log.notes("m") if note.kind == "withdrawn"]
    assert sorted(kept, key=lambda body: str(body["sequence"])) == [
        {"sequence": 1, "intent": None, "facts": {"drew": 1}},
        {"sequence": 2, "intent": None, "facts": {"drew": 2}},
        {"sequence": 3, "intent": {"draw": True}, "facts": None},
    ]
    log.intend(lease, 1, {"draw": "again"})
    log.record(lease, {1: {"drew": "other"}})
    assert log.moves("m")[1:] == [MoveRecord(1, {"draw": "again"}, {"drew": "other"})]
    log.withdraw(lease, 2)
    assert len(log.notes("m")) == 3, "nothing was there to be withdrawn"


def test_facts_that_come_late_undo_nothing_of_a_later_holder(moto: "DynamoDBClient") -> None:
    """An arena lost its moves from 1 on, while a worker was about to write them down."""
    with dynamo_log(moto) as bench:
        log, late = bench.log, bench.reopen()
        early, check = taken(log, "ann"), late._update_ours
        log.record(early, {n: {"drew": n} for n in range(3)})

        def check_and_stand_still(*args: Any) -> None:  # noqa: ANN401 - as it comes
            check(*args)
            assert log.announce("m", TTL, seen(log))
            later = taken(log, "bob")
            log.withdraw(later, 2)
            log.record(later, {3: {"drew": "anew"}})

        late._update_ours = check_and_stand_still
        late.record(early, {n: {"drew": n} for n in range(1, 6)})
        facts = {move.sequence: (move.facts or {})["drew"] for move in log.moves("m")}
        assert facts == {0: 0, 1: 1, 3: "anew", 4: 4, 5: 5}
        log.record(taken(log, "bob"), {4: {"drew": "anew"}, 5: {"drew": 5}})
        assert [move.facts for move in log.moves("m")[-2:]] == [{"drew": "anew"}, {"drew": 5}]


def test_more_moves_than_an_answer_holds_come_in_order_and_can_be_withdrawn(log: MatchLog) -> None:
    lease = taken(log)
    log.record(lease, {number: {"n": "x" * 9_000} for number in reversed(range(130))})
    log.record(lease, {1000: {"n": 1000}})
    assert [move.sequence for move in log.moves("m")] == [*range(130), 1000]
    log.withdraw(lease, 0)
    assert (log.moves("m"), len(log.notes("m"))) == ([], 131)


def test_a_match_finishes_once_and_stays_so(log: MatchLog, bench: LogBench) -> None:
    lease = taken(log)
    log.finish(lease, {"won": True})
    ended = bench.clock.now()
    bench.clock.advance(TTL * 10)
    log.finish(lease, {"won": False})
    match = known(log)
    assert (match.status, match.outcome) == (Status.FINISHED, {"won": True})
    assert (match.finished, match.lease) == (ended, None)
    assert log.take("m", "bob", TTL) is log.take("m", "ann", TTL) is None
    assert not log.announce("m", TTL)
    with pytest.raises(Conflict):
        log.record(lease, {1: {}})
    log.release(lease)


def test_a_finished_match_is_opened_again_by_one_caller_with_all_it_had(bench: LogBench) -> None:
    """And goes on like any other; what its old lease wrote before stays the last it could write."""
    log = bench.log
    old = taken(log)
    log.describe(old, {"players": ["a", "b"]})
    log.record(old, {1: {"drew": 1}})
    log.note("m", "refused", {"action": "Draw"})
    log.finish(old, {"result": "unknown"})
    closed = known(log)
    bench.clock.advance(TTL)
    assert log.reopen(closed)
    assert not log.reopen(closed), "somebody else has"
    runs = {"status": Status.RUNNING, "outcome": None, "finished": None, "beat": closed.beat + 1}
    assert log.running() == [log.match("m")] == [replace(closed, **runs)]
    assert log.matches(status=Status.FINISHED) == []
    assert log.moves("m") == [MoveRecord(1, None, {"drew": 1})]
    before = {"outcome": {"result": "unknown"}, "finished": closed.finished.isoformat()}
    told = [(note.kind, note.body) for note in log.notes("m")]
    assert told == [("refused", {"action": "Draw"}), ("reopened", before)]
    with pytest.raises(Conflict):
        log.record(old, {1: {}})
    with pytest.raises(Conflict):
        log.finish(old, {"result": "won"})
    assert log.announce("m", TTL)
    lease = taken(log)
    assert lease.fence == old.fence + 1
    bench.clock.advance(TTL)
    log.finish(lease, {"result": "won"})
    assert not log.reopen(closed), "it was finished anew, which that record does not say"
    match = known(log)
    assert (match.status, match.outcome) == (Status.FINISHED, {"result": "won"})


def test_bodies_come_back_exactly_as_they_were_stored_or_are_refused(log: MatchLog) -> None:
    """What cannot be stored is refused, and nothing is written."""
    body = {
        "": [],
        "ünï☃": {"deep": [None, True, 0.1, -0.0, 1e-300, 2**70, "\u0000\n"]},
        "empty": {},
        "names": ["🂏", "\ud800 half a letter, as any player may be called", "a\0b\nc"],
    }
    lease = log.take("m", "ann", TTL, body)
    for bad in (float("nan"), object(), "x" * 64_000):
        with pytest.raises(StoreError, match="The match log stores"):
            log.record(lease, {1: {"fine": 1}, 2: {"bad": bad}})
        assert log.moves("m") == []
    log.intend(lease, 1, body)
    log.record(lease, {1: body})
    log.note("m", "input", body)
    log.finish(lease, body)
    match = known(log)
    assert match.header == match.outcome == log.notes("m")[0].body == body
    assert log.moves("m") == [MoveRecord(1, body, body)]


def test_matches_are_listed_by_day_and_status_the_last_first(bench: LogBench) -> None:
    log, today = bench.log, bench.clock.now().date()
    log.finish(taken(log, name="old"), {})
    bench.clock.advance(timedelta(days=1))
    log.announce("new", TTL)
    bench.clock.advance(timedelta(seconds=1))
    held = taken(log, name="newer")
    bench.clock.advance(timedelta(seconds=1))
    log.finish(taken(log, name="newest"), {})
    tomorrow = today + timedelta(days=1)

    def listed(**wanted: object) -> list[str]:
        return [match.match_id for match in log.matches(**wanted)]  # type: ignore[arg-type]

    assert listed() == ["newest", "newer", "new", "old"]
    assert listed(limit=2) == ["newest", "newer"]
    assert listed(day=today) == ["old"]
    assert listed(day=tomorrow) == ["newest", "newer", "new"]
    assert listed(day=tomorrow, limit=1) == ["newest"]
    assert listed(day=tomorrow + timedelta(days=1)) == []
    assert listed(status=Status.FINISHED) == ["newest", "old"]
    assert listed(status=Status.FINISHED, day=today) == ["old"]
    assert listed(status=Status.ANNOUNCED) == ["new"]
    log.release(taken(log, name="free"))
    found = {match.match_id: (match.lease, match.ttl) for match in bench.reopen().running()}
    assert found == {"newer": (held, TTL), "free": (None, None)}


def test_matches_that_began_at_one_moment_are_listed_the_last_played_first(
    bench: LogBench,
) -> None:
    """As the deals of a table, which are kept after its end with the moment of its beginning."""
    log, deals = bench.log, [f"table-{number}" for number in range(1, 13)]
    for name in deals:
        log.finish(taken(log, name=name), {})
    bench.clock.advance(timedelta(seconds=1))
    taken(log, name="later")
    expected = ["later", *reversed(deals)]

    def listed(**wanted: object) -> list[str]:
        return [match.match_id for match in log.matches(**wanted)]  # type: ignore[arg-type]

    assert listed() == listed(day=bench.clock.now().date()) == expected
    for limit in (1, 2, 5):
        assert listed(limit=limit) == expected[:limit]
        assert listed(status=Status.FINISHED, limit=limit) == expected[1 : limit + 1]
    log.finish(taken(log, name="later"), {})
    assert listed(status=Status.FINISHED) == expected


def test_notes_need_no_lease_and_expire_while_matches_stay(bench: LogBench) -> None:
    log = bench.log
    taken(log)
    log.note("m", "failure", {"input": "<html>"})
    bench.clock.advance(timedelta(days=13))
    log.note("m", "failure", {"input": "late"})
    assert [note.body for note in log.notes("m")] == [{"input": "<html>"}, {"input": "late"}]
    bench.clock.advance(timedelta(days=1))
    log.note("other", "failure", {})
    assert [note.body for note in log.notes("m")] == [{"input": "late"}]
    assert log.moves("m") == []
    assert log.match("m") is not None


# --- races of real parallel writers: threads on every store, and processes on the SQLite file ----


ROUNDS = 3


@pytest.fixture
def logs(bench: LogBench) -> list[MatchLog]:
    """Return two openings of the same log, as two processes have."""
    return [bench.log, bench.reopen()]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_of_many_who_announce_take_or_reopen_one_does(logs: list[MatchLog], _round: int) -> None:
    told = at_once(16, lambda me: logs[me % 2].announce("m", TTL))
    assert told.count(True) == 1
    leases = at_once(16, lambda me: logs[me % 2].take("m", f"w{me}", TTL))
    (winner,) = [lease for lease in leases if lease is not None]
    assert (winner, winner.fence) == (known(logs[0]).lease, 1)
    logs[0].finish(winner, {"result": "unknown"})
    closed = known(logs[0])
    told = at_once(8, lambda me: logs[me % 2].reopen(closed))
    assert told.count(True) == 1
    assert [note.kind for note in logs[1].notes("m")] == ["reopened"]


def test_no_two_takes_ever_get_the_same_fence(logs: list[MatchLog]) -> None:
    def take_and_lose(me: int) -> list[int]:
        taken = [logs[me % 2].take("m", "all the same", TTL) for _ in range(5)]
        return [lease.fence for lease in taken if lease is not None]

    fences = at_once(8, take_and_lose)
    assert sorted(fence for mine in fences for fence in mine) == list(range(1, 41))
    assert all(mine == sorted(mine) for mine in fences)


def test_a_successor_and_a_stale_writer_never_mix(logs: list[MatchLog]) -> None:
    """Whatever the order, an intent of the old lease never lies over one of the new."""
    for number in range(ROUNDS):
        name = f"m{number}"
        stale = taken(logs[0], name=name)
        assert logs[1].announce(name, TTL, Outwaited(known(logs[1], name).beat, TTL))

        def act(me: int, name: str = name, stale: Lease = stale) -> None:
            if me == 0:
                logs[1].intend(taken(logs[1], "bob", name), 1, {"by": "bob"})
                return
            with suppress(Conflict):
                logs[0].intend(stale, 1, {"by": "ann"})

        at_once(4, act)
        assert logs[0].moves(name) == [MoveRecord(1, {"by": "bob"}, None)]


def test_the_first_of_parallel_records_stays_and_renewing_never_disturbs_them(
    logs: list[MatchLog],
) -> None:
    lease = taken(logs[0])
    at_once(8, lambda me: logs[me % 2].record(lease, {n: {"by": me} for n in range(3)}))
    before = logs[0].moves("m")
    assert [move.sequence for move in before] == [0, 1, 2]

    def act(me: int) -> None:
        for number in range(15):
            if me == 0:
                logs[1].intend(lease, 3 + number, {"n": number})
                logs[1].record(lease, {3 + number: {"n": number}})
            elif me < 3:
                logs[0].renew(lease, TTL)
            elif number < 3:
                logs[me % 2].record(lease, {number: {"by": -me}})

    at_once(6, act)
    moves = logs[1].moves("m")
    assert moves[:3] == before
    assert [move.facts for move in moves[3:]] == [{"n": n} for n in range(15)]


SPAWNED = multiprocessing.get_context("spawn")


def test_of_parallel_processes_each_match_is_taken_and_announced_by_one(tmp_path: Path) -> None:
    """The processes also race for who makes the file."""
    names = [f"m{number}" for number in range(25)]
    asked = [(tmp_path / "matches.db", f"p{number}", names) for number in range(8)]
    with SPAWNED.Pool(4) as pool:
        done = pool.starmap(take_all, asked, 1)
    announced, taken = (Counter(chain.from_iterable(mine)) for mine in zip(*done, strict=True))
    assert taken == Counter(names)
    assert max(announced.values()) == 1


@pytest.mark.parametrize("moves", [1, 40])
def test_a_writer_killed_in_mid_write_leaves_a_whole_log(tmp_path: Path, moves: int) -> None:
    path, (ours, theirs) = tmp_path / "matches.db", SPAWNED.Pipe(duplex=False)
    child = SPAWNED.Process(target=write_for_ever, args=(path, theirs), daemon=True)
    child.start()
    theirs.close()
    seen = [int(ours.recv_bytes()) for _ in range(moves)]
    child.kill()
    with suppress(EOFError, OSError):  # a message may be cut short
        while True:
            seen.append(int(ours.recv_bytes()))
    child.join()

    with closing(SqliteLog(path, SystemClock())) as log:
        found = log.moves("m")
        log.renew(known(log).lease, TTL)
    played = [move.sequence for move in found if move.facts is not None]
    assert played[: len(seen)] == seen, "what was acknowledged is there"
    assert len(found) - len(seen) <= 1, "and at most one move more"
    for move in found:
        assert move.intent == {"draw": move.sequence}
        assert move.facts is None or move.facts["drew"] == move.sequence
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
