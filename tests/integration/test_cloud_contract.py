"""One contract for every match log: leases, fences, moves, and what a repeat does."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from support.cloud_benches import LogBench, dynamo_log, known
from support.cloud_clock import FakeClock

from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.ports import Lease, MatchLog, MoveRecord, Outwaited, Status
from cardsharp.errors import Conflict, StoreError

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

TTL = timedelta(seconds=3)


@pytest.fixture
def log(bench: LogBench) -> MatchLog:
    return bench.log


def taken(log: MatchLog, owner: str = "ann", name: str = "m") -> Lease:
    """Return a lease that must be granted."""
    lease = log.take(name, owner, TTL, {"tags": ["x"]})
    assert lease is not None
    return lease


def seen(log: MatchLog, idle: timedelta = TTL) -> Outwaited:
    """What an onlooker tells of the match who has seen it as it is now for so long."""
    match = known(log)
    return Outwaited(match.beat, idle)


def test_an_unattended_match_is_announced_to_one_caller_until_somebody_has_outwaited_that(
    bench: LogBench,
) -> None:
    assert bench.log.announce("m", TTL)
    assert not bench.log.announce("m", TTL)
    assert bench.log.announce("other", TTL)
    waited = seen(bench.log)
    assert bench.reopen().announce("m", TTL, waited)
    assert not bench.log.announce("m", TTL, waited), "it is another announcement by now"


def test_a_leased_match_is_announced_only_to_who_has_outwaited_the_lease(bench: LogBench) -> None:
    lease = taken(bench.log)
    before = seen(bench.log)
    assert not bench.log.announce("m", TTL)
    bench.log.renew(lease, TTL)
    assert not bench.log.announce("m", TTL, before)
    assert bench.log.announce("m", TTL, seen(bench.log))


@pytest.mark.parametrize("skew", [timedelta(hours=1), -timedelta(hours=1)])
def test_a_clock_that_is_wrong_neither_ends_a_lease_nor_prolongs_it(
    bench: LogBench, skew: timedelta
) -> None:
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


@pytest.mark.parametrize("write", ["renew", "intend", "record", "describe", "withdraw", "note"])
def test_whatever_a_holder_writes_keeps_onlookers_waiting(log: MatchLog, write: str) -> None:
    """But what needs no lease, and is written by anybody."""
    lease = taken(log)
    waited = seen(log)
    {
        "renew": lambda: log.renew(lease, TTL),
        "intend": lambda: log.intend(lease, 1, {}),
        "record": lambda: log.record(lease, {1: {}}),
        "describe": lambda: log.describe(lease, {}),
        "withdraw": lambda: log.withdraw(lease, 1),
        "note": lambda: log.note("m", "kind", {}),
    }[write]()
    assert log.announce("m", TTL, waited) is (write == "note")


def test_a_take_tells_how_long_nobody_held_the_match_before(log: MatchLog) -> None:
    first = taken(log)
    assert first.idle == timedelta(0)
    log.announce("m", TTL, seen(log, TTL * 2))
    second = taken(log, "bob")
    assert second.idle == TTL * 2
    log.release(second)
    assert log.announce("m", TTL)
    assert taken(log).idle == timedelta(0), "it was given back just now, for all that one knows"


def test_the_first_take_stores_the_header_and_uses_up_the_announcement(bench: LogBench) -> None:
    bench.log.announce("m", TTL)
    lease = bench.log.take("m", "ann", TTL, {"players": ["a", "b"]})
    assert lease == Lease("m", "ann", 1)
    match = known(bench.reopen())
    assert (match.status, match.lease) == (Status.RUNNING, lease)
    assert match.header == {"players": ["a", "b"]}
    assert (match.announced, match.ttl) == (False, TTL)


def test_a_match_that_is_to_rest_is_free_for_who_knows_that_it_does(log: MatchLog) -> None:
    log.release(taken(log), TTL * 20)
    match = known(log)
    assert (match.rests, match.lease, match.ttl) == (True, None, TTL * 20)
    assert [one.match_id for one in log.running()] == ["m"]
    assert not log.announce("m", TTL)
    assert log.announce("m", TTL, Outwaited(match.beat, timedelta(0)))
    assert not log.announce("m", TTL, Outwaited(match.beat, timedelta(0))), "for one caller"
    lease = log.take("m", "bob", TTL)
    assert lease is not None
    taken_up = known(log)
    assert not taken_up.rests
    log.release(lease)
    assert log.announce("m", TTL), "a release without a rest leaves none"


def test_a_stale_lease_can_write_nothing(bench: LogBench) -> None:
    log = bench.log
    stale = taken(log)
    log.intend(stale, 1, {"draw": 1})
    log.announce("m", TTL, seen(log))
    fresh = taken(log, "bob")
    for write in (
        lambda: log.renew(stale, TTL),
        lambda: log.describe(stale, {"stolen": True}),
        lambda: log.intend(stale, 1, {"draw": 2}),
        lambda: log.intend(stale, 2, {"draw": 2}),
        lambda: log.record(stale, {1: {"drew": 2}}),
        lambda: log.record(stale, {}),
        lambda: log.withdraw(stale, 1),
        lambda: log.withdraw(stale, 9),
        lambda: log.finish(stale, {"won": True}),
    ):
        with pytest.raises(Conflict, match="no longer held by ann"):
            write()
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


class Frozen(DynamoLog):
    """The log of a worker that stands still between the check of its lease and its facts."""

    def __init__(self, table: str, client: "DynamoDBClient", meanwhile: Callable[[], None]) -> None:
        super().__init__(table, FakeClock(), client)
        self._meanwhile = meanwhile

    def _update_ours(self, *args: Any) -> None:  # noqa: ANN401 - as it comes
        super()._update_ours(*args)
        self._meanwhile()


def test_facts_that_come_late_undo_nothing_that_a_later_holder_wrote(
    moto: "DynamoDBClient",
) -> None:
    """An arena lost its moves from 1 on, while a worker was about to write them down."""
    with dynamo_log(moto) as bench:
        log, table = bench.log, moto.list_tables()["TableNames"][-1]
        early = taken(log, "ann")
        log.record(early, {n: {"drew": n} for n in range(3)})

        def meanwhile() -> None:
            assert log.announce("m", TTL, seen(log))
            later = taken(log, "bob")
            log.withdraw(later, 2)
            log.record(later, {3: {"drew": "anew"}})

        late = Frozen(table, moto, meanwhile)
        late.record(early, {n: {"drew": n} for n in range(1, 6)})
        facts = {move.sequence: (move.facts or {})["drew"] for move in log.moves("m")}
        assert facts == {0: 0, 1: 1, 3: "anew", 4: 4, 5: 5}
        newest = log.take("m", "bob", TTL)
        assert newest is not None
        log.record(newest, {4: {"drew": "anew"}, 5: {"drew": 5}})
        assert log.moves("m")[-2:] == [
            MoveRecord(4, None, {"drew": "anew"}),
            MoveRecord(5, None, {"drew": 5}),
        ]


def test_however_many_moves_there_are_they_come_in_order_and_can_all_be_withdrawn(
    log: MatchLog,
) -> None:
    lease = taken(log)
    log.record(lease, {number: {"n": number} for number in reversed(range(130))})
    log.record(lease, {1000: {"n": 1000}})
    assert [move.sequence for move in log.moves("m")] == [*range(130), 1000]
    log.withdraw(lease, 0)
    assert (log.moves("m"), len(log.notes("m"))) == ([], 131)


def test_more_moves_than_one_answer_holds_are_read_to_the_end(log: MatchLog) -> None:
    lease = taken(log)
    log.record(lease, {number: {"padding": "x" * 60_000} for number in range(40)})
    assert [len(str(move.facts)) for move in log.moves("m")] == [60_015] * 40


def test_a_match_finishes_once_and_stays_so(log: MatchLog, bench: LogBench) -> None:
    lease = taken(log)
    log.finish(lease, {"won": True})
    ended = bench.clock.now()
    bench.clock.advance(TTL * 10)
    log.finish(lease, {"won": False})
    match = known(log)
    assert (match.status, match.outcome, match.finished) == (
        Status.FINISHED,
        {"won": True},
        ended,
    )
    assert match.lease is None
    assert log.take("m", "bob", TTL) is None
    assert log.take("m", "ann", TTL) is None
    assert not log.announce("m", TTL)
    with pytest.raises(Conflict):
        log.record(lease, {1: {}})
    log.release(lease)


def test_a_finished_match_is_opened_again_by_one_caller_and_keeps_all_it_had(
    bench: LogBench,
) -> None:
    log = bench.log
    lease = taken(log)
    log.describe(lease, {"players": ["a", "b"]})
    log.record(lease, {1: {"drew": 1}})
    log.note("m", "refused", {"action": "Draw"})
    log.finish(lease, {"result": "unknown"})
    closed = known(log)
    assert closed.finished is not None
    bench.clock.advance(TTL)
    assert log.reopen(closed)
    assert not log.reopen(closed), "somebody else has"
    opened = log.match("m")
    assert opened == replace(
        closed, status=Status.RUNNING, outcome=None, finished=None, beat=closed.beat + 1
    )
    assert log.running() == [opened]
    assert log.matches(status=Status.FINISHED) == []
    assert log.moves("m") == [MoveRecord(1, None, {"drew": 1})]
    assert [(note.kind, note.body) for note in log.notes("m")] == [
        ("refused", {"action": "Draw"}),
        (
            "reopened",
            {"outcome": {"result": "unknown"}, "finished": closed.finished.isoformat()},
        ),
    ]


def test_a_reopened_match_is_announced_taken_and_finished_like_any_other(bench: LogBench) -> None:
    """And what its old lease wrote before it was closed stays the last it could write."""
    log = bench.log
    old = taken(log)
    log.finish(old, {"result": "unknown"})
    closed = known(log)
    assert log.reopen(closed)
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


def test_bodies_come_back_exactly_as_they_were_stored(log: MatchLog) -> None:
    body = {
        "": [],
        "ünï☃": {"deep": [None, True, 0.1, -0.0, 1e-300, 2**70, "\u0000\n"]},
        "empty": {},
        "names": ["🂏", "\ud800 half a letter, as any player may be called", "a\0b\nc"],
    }
    lease = log.take("m", "ann", TTL, body)
    assert lease is not None
    log.intend(lease, 1, body)
    log.record(lease, {1: body})
    log.note("m", "input", body)
    log.finish(lease, body)
    match = known(log)
    assert match.header == body
    assert match.outcome == body
    assert log.moves("m") == [MoveRecord(1, body, body)]
    assert log.notes("m")[0].body == body


@pytest.mark.parametrize(
    "bad", [float("nan"), object(), "x" * 64_000], ids=["nan", "object", "big"]
)
def test_what_cannot_be_stored_is_refused_and_nothing_is_written(
    log: MatchLog, bad: object
) -> None:
    lease = taken(log)
    with pytest.raises(StoreError, match="The match log stores"):
        log.record(lease, {1: {"fine": 1}, 2: {"bad": bad}})
    assert log.moves("m") == []
    log.record(lease, {1: {"fine": 1}})


def test_matches_are_listed_by_day_and_status_the_last_first(bench: LogBench) -> None:
    log, today = bench.log, bench.clock.now().date()
    log.finish(taken(log, name="old"), {})
    bench.clock.advance(timedelta(days=1))
    log.announce("new", TTL)
    bench.clock.advance(timedelta(seconds=1))
    taken(log, name="newer")
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


def test_the_running_matches_are_found_with_their_leases(bench: LogBench) -> None:
    log = bench.log
    bench.log.announce("announced", TTL)
    log.finish(taken(log, name="finished"), {})
    held = taken(log, name="held")
    log.release(taken(log, name="free"))
    found = {match.match_id: match for match in bench.reopen().running()}
    assert set(found) == {"held", "free"}
    assert found["held"].lease == held
    assert (found["held"].ttl, found["free"].ttl) == (TTL, None)


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
