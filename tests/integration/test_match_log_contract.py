"""Contract tests of every match log: leases, fence tokens, moves, retries, races."""

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
from support.store_fixtures import (
    TTL,
    MatchLogFixture,
    acquire_lease,
    new_dynamodb_log,
    require_match,
    run_concurrently,
)
from support.store_processes import queue_and_lease_all, write_until_killed

from cardsharp.core.clock import SystemClock
from cardsharp.errors import StoreError, WriteConflict
from cardsharp.store.match_log import ExpiredLease, Lease, MatchLog, MatchStatus, MoveRecord
from cardsharp.store.sqlite_match_log import SqliteMatchLog

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


@pytest.fixture
def log(bench: MatchLogFixture) -> MatchLog:
    return bench.log


def observe_lease(log: MatchLog, idle: timedelta = TTL) -> ExpiredLease:
    """Return the lease as reported by an observer that saw no change for `idle`."""
    return ExpiredLease(require_match(log).lease_version, idle)


def test_a_match_is_announced_once_until_the_announcement_expires_or_is_taken(
    bench: MatchLogFixture,
) -> None:
    """The first lease stores the header and consumes the announcement."""
    assert bench.log.mark_queued("m", TTL)
    assert not bench.log.mark_queued("m", TTL)
    assert bench.log.mark_queued("other", TTL)
    observed_lease = observe_lease(bench.log)
    assert bench.reopen().mark_queued("m", TTL, observed_lease)
    assert not bench.log.mark_queued("m", TTL, observed_lease), "it is another announcement by now"
    lease = bench.log.acquire_lease("m", "ann", TTL, {"players": ["a", "b"]})
    assert lease == Lease("m", "ann", 1)
    match = require_match(bench.reopen())
    assert (match.status, match.lease, match.ttl) == (MatchStatus.RUNNING, lease, TTL)
    assert (match.is_queued, match.header) == (False, {"players": ["a", "b"]})


@pytest.mark.parametrize("skew", [timedelta(hours=1), -timedelta(hours=1)])
def test_a_wrong_clock_neither_ends_nor_prolongs_a_lease(
    bench: MatchLogFixture, skew: timedelta
) -> None:
    """The wrong clock may be that of the holder, the successor or the observer.

    A process never compares its clock with a time that another process has written.
    """
    lease = acquire_lease(bench.log)
    bench.clock.advance(skew)
    assert bench.log.acquire_lease("m", "bob", TTL) is None
    assert not bench.log.mark_queued("m", TTL)
    bench.log.renew_lease(lease, TTL)
    observed_lease = observe_lease(bench.log)
    bench.clock.advance(-skew)
    assert bench.log.mark_queued("m", TTL, observed_lease)
    assert acquire_lease(bench.log, "bob").prior_idle_time == TTL


WRITES: tuple[Callable[[MatchLog, Lease], None], ...] = (
    lambda log, lease: log.renew_lease(lease, TTL),
    lambda log, lease: log.update_header(lease, {"players": []}),
    lambda log, lease: log.write_intent(lease, 2, {"draw": 2}),
    lambda log, lease: log.write_intent(lease, 1, {"draw": 2}),
    lambda log, lease: log.write_facts(lease, {1: {"drew": 2}}),
    lambda log, lease: log.write_facts(lease, {}),
    lambda log, lease: log.retract_moves(lease, 1),
    lambda log, lease: log.retract_moves(lease, 9),
    lambda log, lease: log.finish(lease, {"won": True}),
)
"""All that a holder may write."""


def test_every_write_of_the_holder_restarts_the_observers_wait(log: MatchLog) -> None:
    """A note, which needs no lease, does not restart the wait."""
    lease = acquire_lease(log)
    for write in WRITES:
        observed_lease = observe_lease(log)
        log.add_note("m", "kind", {})
        assert observe_lease(log) == observed_lease
        write(log, lease)
        assert not log.mark_queued("m", TTL, observed_lease)


def test_acquiring_a_lease_reports_how_long_the_match_was_idle(log: MatchLog) -> None:
    first_lease = acquire_lease(log)
    assert first_lease.prior_idle_time == timedelta(0)
    log.mark_queued("m", TTL, observe_lease(log, TTL * 2))
    second_lease = acquire_lease(log, "bob")
    assert second_lease.prior_idle_time == TTL * 2
    log.release_lease(second_lease)
    assert log.mark_queued("m", TTL)
    assert acquire_lease(log).prior_idle_time == timedelta(0), (
        "it was given back just now, for all that one knows"
    )


def test_a_parked_match_is_free_for_a_caller_that_has_seen_it_parked(log: MatchLog) -> None:
    log.release_lease(acquire_lease(log), TTL * 20)
    match = require_match(log)
    assert (match.is_parked, match.lease, match.ttl) == (True, None, TTL * 20)
    assert [running_match.match_id for running_match in log.running_matches()] == ["m"]
    assert not log.mark_queued("m", TTL)
    assert log.mark_queued("m", TTL, ExpiredLease(match.lease_version, timedelta(0)))
    assert not log.mark_queued("m", TTL, ExpiredLease(match.lease_version, timedelta(0))), (
        "for one caller"
    )
    lease = acquire_lease(log, "bob")
    assert not require_match(log).is_parked
    log.release_lease(lease)
    assert log.mark_queued("m", TTL), "a release without a rest leaves none"


def test_a_stale_lease_can_write_nothing(bench: MatchLogFixture) -> None:
    log = bench.log
    stale_lease = acquire_lease(log)
    log.write_intent(stale_lease, 1, {"draw": 1})
    log.mark_queued("m", TTL, observe_lease(log))
    current_lease = acquire_lease(log, "bob")
    for write in WRITES:
        with pytest.raises(WriteConflict, match="no longer held by ann"):
            write(log, stale_lease)
    log.release_lease(stale_lease)
    match = require_match(log)
    assert (match.lease, match.status, match.outcome) == (current_lease, MatchStatus.RUNNING, None)
    assert log.moves("m") == [MoveRecord(1, {"draw": 1}, None)]


def test_an_intent_may_change_until_the_move_has_facts(log: MatchLog) -> None:
    lease = acquire_lease(log)
    log.write_intent(lease, 7, {"draw": True})
    log.write_intent(lease, 7, {"draw": False})
    assert log.moves("m") == [MoveRecord(7, {"draw": False}, None)]
    log.write_facts(lease, {7: {"ended": True}})
    with pytest.raises(WriteConflict, match="Move 7 of match m was already played"):
        log.write_intent(lease, 7, {"draw": True})
    assert log.moves("m") == [MoveRecord(7, {"draw": False}, {"ended": True})]


def test_moves_that_are_withdrawn_stay_as_notes_and_may_be_played_anew(
    bench: MatchLogFixture,
) -> None:
    log = bench.log
    lease = acquire_lease(log)
    log.write_facts(lease, {number: {"drew": number} for number in range(3)})
    log.write_intent(lease, 3, {"draw": True})
    log.retract_moves(lease, 1)
    assert log.moves("m") == [MoveRecord(0, None, {"drew": 0})]
    assert bench.reopen().moves("m") == log.moves("m")
    withdrawn_moves = [note.body for note in log.notes("m") if note.kind == "withdrawn"]
    assert sorted(withdrawn_moves, key=lambda body: str(body["sequence"])) == [
        {"sequence": 1, "intent": None, "facts": {"drew": 1}},
        {"sequence": 2, "intent": None, "facts": {"drew": 2}},
        {"sequence": 3, "intent": {"draw": True}, "facts": None},
    ]
    log.write_intent(lease, 1, {"draw": "again"})
    log.write_facts(lease, {1: {"drew": "other"}})
    assert log.moves("m")[1:] == [MoveRecord(1, {"draw": "again"}, {"drew": "other"})]
    log.retract_moves(lease, 2)
    assert len(log.notes("m")) == 3, "nothing was there to be withdrawn"


def test_late_facts_do_not_overwrite_those_of_the_next_holder(moto: "DynamoDBClient") -> None:
    """The arena loses the moves from 1 on, while a slow worker is about to store them."""
    with new_dynamodb_log(moto) as bench:
        log, slow_log = bench.log, bench.reopen()
        first_lease, original_update = acquire_lease(log, "ann"), slow_log._update_leased
        log.write_facts(first_lease, {number: {"drew": number} for number in range(3)})

        def update_and_be_overtaken(*args: Any) -> None:  # noqa: ANN401 - as it comes
            original_update(*args)
            assert log.mark_queued("m", TTL, observe_lease(log))
            next_lease = acquire_lease(log, "bob")
            log.retract_moves(next_lease, 2)
            log.write_facts(next_lease, {3: {"drew": "anew"}})

        slow_log._update_leased = update_and_be_overtaken
        slow_log.write_facts(first_lease, {number: {"drew": number} for number in range(1, 6)})
        facts = {move.sequence: (move.facts or {})["drew"] for move in log.moves("m")}
        assert facts == {0: 0, 1: 1, 3: "anew", 4: 4, 5: 5}
        log.write_facts(acquire_lease(log, "bob"), {4: {"drew": "anew"}, 5: {"drew": 5}})
        assert [move.facts for move in log.moves("m")[-2:]] == [{"drew": "anew"}, {"drew": 5}]


def test_more_moves_than_an_answer_holds_come_in_order_and_can_be_withdrawn(log: MatchLog) -> None:
    lease = acquire_lease(log)
    log.write_facts(lease, {number: {"n": "x" * 9_000} for number in reversed(range(130))})
    log.write_facts(lease, {1000: {"n": 1000}})
    assert [move.sequence for move in log.moves("m")] == [*range(130), 1000]
    log.retract_moves(lease, 0)
    assert (log.moves("m"), len(log.notes("m"))) == ([], 131)


def test_a_match_finishes_once_and_stays_so(log: MatchLog, bench: MatchLogFixture) -> None:
    lease = acquire_lease(log)
    log.finish(lease, {"won": True})
    finished_at = bench.clock.now()
    bench.clock.advance(TTL * 10)
    log.finish(lease, {"won": False})
    match = require_match(log)
    assert (match.status, match.outcome) == (MatchStatus.FINISHED, {"won": True})
    assert (match.finished_at, match.lease) == (finished_at, None)
    assert log.acquire_lease("m", "bob", TTL) is log.acquire_lease("m", "ann", TTL) is None
    assert not log.mark_queued("m", TTL)
    with pytest.raises(WriteConflict):
        log.write_facts(lease, {1: {}})
    log.release_lease(lease)


def test_a_finished_match_is_reopened_by_one_caller_with_all_its_data(
    bench: MatchLogFixture,
) -> None:
    """A reopened match continues like any other; its old lease can write nothing more."""
    log = bench.log
    old_lease = acquire_lease(log)
    log.update_header(old_lease, {"players": ["a", "b"]})
    log.write_facts(old_lease, {1: {"drew": 1}})
    log.add_note("m", "refused", {"action": "Draw"})
    log.finish(old_lease, {"result": "unknown"})
    finished_record = require_match(log)
    bench.clock.advance(TTL)
    assert log.reopen(finished_record)
    assert not log.reopen(finished_record), "somebody else has"
    changed_fields = {
        "status": MatchStatus.RUNNING,
        "outcome": None,
        "finished_at": None,
        "lease_version": finished_record.lease_version + 1,
    }
    assert log.running_matches() == [log.match("m")] == [replace(finished_record, **changed_fields)]
    assert log.matches(status=MatchStatus.FINISHED) == []
    assert log.moves("m") == [MoveRecord(1, None, {"drew": 1})]
    reopened_body = {
        "outcome": {"result": "unknown"},
        "finished": finished_record.finished_at.isoformat(),
    }
    notes = [(note.kind, note.body) for note in log.notes("m")]
    assert notes == [("refused", {"action": "Draw"}), ("reopened", reopened_body)]
    with pytest.raises(WriteConflict):
        log.write_facts(old_lease, {1: {}})
    with pytest.raises(WriteConflict):
        log.finish(old_lease, {"result": "won"})
    assert log.mark_queued("m", TTL)
    lease = acquire_lease(log)
    assert lease.fence_token == old_lease.fence_token + 1
    bench.clock.advance(TTL)
    log.finish(lease, {"result": "won"})
    assert not log.reopen(finished_record), "it was finished anew, which that record does not say"
    match = require_match(log)
    assert (match.status, match.outcome) == (MatchStatus.FINISHED, {"result": "won"})


def test_bodies_come_back_exactly_as_they_were_stored_or_are_refused(log: MatchLog) -> None:
    """A body that cannot be stored is rejected, and nothing is written."""
    body = {
        "": [],
        "ünï☃": {"deep": [None, True, 0.1, -0.0, 1e-300, 2**70, "\u0000\n"]},
        "empty": {},
        "names": ["🂏", "\ud800 half a letter, as any player may be called", "a\0b\nc"],
    }
    lease = log.acquire_lease("m", "ann", TTL, body)
    for invalid_value in (float("nan"), object(), "x" * 64_000):
        with pytest.raises(StoreError, match="The match log stores"):
            log.write_facts(lease, {1: {"fine": 1}, 2: {"bad": invalid_value}})
        assert log.moves("m") == []
    log.write_intent(lease, 1, body)
    log.write_facts(lease, {1: body})
    log.add_note("m", "input", body)
    log.finish(lease, body)
    match = require_match(log)
    assert match.header == match.outcome == log.notes("m")[0].body == body
    assert log.moves("m") == [MoveRecord(1, body, body)]


def test_matches_are_listed_by_day_and_status_the_last_first(bench: MatchLogFixture) -> None:
    log, today = bench.log, bench.clock.now().date()
    log.finish(acquire_lease(log, name="old"), {})
    bench.clock.advance(timedelta(days=1))
    log.mark_queued("new", TTL)
    bench.clock.advance(timedelta(seconds=1))
    lease = acquire_lease(log, name="newer")
    bench.clock.advance(timedelta(seconds=1))
    log.finish(acquire_lease(log, name="newest"), {})
    tomorrow = today + timedelta(days=1)

    def list_match_ids(**filters: object) -> list[str]:
        return [match.match_id for match in log.matches(**filters)]  # type: ignore[arg-type]

    assert list_match_ids() == ["newest", "newer", "new", "old"]
    assert list_match_ids(limit=2) == ["newest", "newer"]
    assert list_match_ids(day=today) == ["old"]
    assert list_match_ids(day=tomorrow) == ["newest", "newer", "new"]
    assert list_match_ids(day=tomorrow, limit=1) == ["newest"]
    assert list_match_ids(day=tomorrow + timedelta(days=1)) == []
    assert list_match_ids(status=MatchStatus.FINISHED) == ["newest", "old"]
    assert list_match_ids(status=MatchStatus.FINISHED, day=today) == ["old"]
    assert list_match_ids(status=MatchStatus.ANNOUNCED) == ["new"]
    log.release_lease(acquire_lease(log, name="free"))
    leases = {
        match.match_id: (match.lease, match.ttl) for match in bench.reopen().running_matches()
    }
    assert leases == {"newer": (lease, TTL), "free": (None, None)}


def test_matches_with_the_same_start_are_listed_latest_first(
    bench: MatchLogFixture,
) -> None:
    """The deals of a Euchre match are such matches: they are stored with the same start time."""
    log, deals = bench.log, [f"table-{number}" for number in range(1, 13)]
    for name in deals:
        log.finish(acquire_lease(log, name=name), {})
    bench.clock.advance(timedelta(seconds=1))
    acquire_lease(log, name="later")
    expected = ["later", *reversed(deals)]

    def list_match_ids(**filters: object) -> list[str]:
        return [match.match_id for match in log.matches(**filters)]  # type: ignore[arg-type]

    assert list_match_ids() == list_match_ids(day=bench.clock.now().date()) == expected
    for limit in (1, 2, 5):
        assert list_match_ids(limit=limit) == expected[:limit]
        assert list_match_ids(status=MatchStatus.FINISHED, limit=limit) == expected[1 : limit + 1]
    log.finish(acquire_lease(log, name="later"), {})
    assert list_match_ids(status=MatchStatus.FINISHED) == expected
    today = bench.clock.now().date()
    for filters in ({}, {"day": today}, {"status": MatchStatus.FINISHED, "day": today}):
        pages, last_id = [], None
        while page := list_match_ids(limit=5, cursor=last_id, **filters):
            pages.append(page)
            last_id = page[-1]
        assert pages == [expected[:5], expected[5:10], expected[10:]], "page by page"
    assert list_match_ids(cursor="nobody's") == []


def test_notes_need_no_lease_and_expire_while_matches_stay(bench: MatchLogFixture) -> None:
    log = bench.log
    acquire_lease(log)
    log.add_note("m", "failure", {"input": "<html>"})
    bench.clock.advance(timedelta(days=13))
    log.add_note("m", "failure", {"input": "late"})
    assert [note.body for note in log.notes("m")] == [{"input": "<html>"}, {"input": "late"}]
    bench.clock.advance(timedelta(days=1))
    log.add_note("other", "failure", {})
    assert [note.body for note in log.notes("m")] == [{"input": "late"}]
    assert log.moves("m") == []
    assert log.match("m") is not None


# --- races of real parallel writers: threads on every store, and processes on the SQLite file ----


ROUNDS = 3


@pytest.fixture
def logs(bench: MatchLogFixture) -> list[MatchLog]:
    """Return two instances of the same log, as two processes have them."""
    return [bench.log, bench.reopen()]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_only_one_of_many_callers_announces_takes_or_reopens_a_match(
    logs: list[MatchLog], _round: int
) -> None:
    results = run_concurrently(
        16, lambda caller_number: logs[caller_number % 2].mark_queued("m", TTL)
    )
    assert results.count(True) == 1
    leases = run_concurrently(
        16,
        lambda caller_number: logs[caller_number % 2].acquire_lease("m", f"w{caller_number}", TTL),
    )
    (winning_lease,) = [lease for lease in leases if lease is not None]
    assert (winning_lease, winning_lease.fence_token) == (require_match(logs[0]).lease, 1)
    logs[0].finish(winning_lease, {"result": "unknown"})
    finished_record = require_match(logs[0])
    results = run_concurrently(
        8, lambda caller_number: logs[caller_number % 2].reopen(finished_record)
    )
    assert results.count(True) == 1
    assert [note.kind for note in logs[1].notes("m")] == ["reopened"]


def test_no_two_takes_ever_get_the_same_fence(logs: list[MatchLog]) -> None:
    def take_and_lose(caller_number: int) -> list[int]:
        leases = [logs[caller_number % 2].acquire_lease("m", "all the same", TTL) for _ in range(5)]
        return [lease.fence_token for lease in leases if lease is not None]

    fences = run_concurrently(8, take_and_lose)
    assert sorted(fence for caller_fences in fences for fence in caller_fences) == list(
        range(1, 41)
    )
    assert all(caller_fences == sorted(caller_fences) for caller_fences in fences)


def test_a_successor_and_a_stale_writer_never_mix(logs: list[MatchLog]) -> None:
    """In no order does an intent of the old lease overwrite an intent of the new lease."""
    for number in range(ROUNDS):
        name = f"m{number}"
        stale_lease = acquire_lease(logs[0], name=name)
        assert logs[1].mark_queued(
            name, TTL, ExpiredLease(require_match(logs[1], name).lease_version, TTL)
        )

        def act(caller_number: int, name: str = name, stale: Lease = stale_lease) -> None:
            if caller_number == 0:
                logs[1].write_intent(acquire_lease(logs[1], "bob", name), 1, {"by": "bob"})
                return
            with suppress(WriteConflict):
                logs[0].write_intent(stale, 1, {"by": "ann"})

        run_concurrently(4, act)
        assert logs[0].moves(name) == [MoveRecord(1, {"by": "bob"}, None)]


def test_the_first_of_parallel_records_stays_and_renewing_never_disturbs_them(
    logs: list[MatchLog],
) -> None:
    lease = acquire_lease(logs[0])
    run_concurrently(
        8,
        lambda caller_number: logs[caller_number % 2].write_facts(
            lease, {sequence: {"by": caller_number} for sequence in range(3)}
        ),
    )
    first_moves = logs[0].moves("m")
    assert [move.sequence for move in first_moves] == [0, 1, 2]

    def act(caller_number: int) -> None:
        for number in range(15):
            if caller_number == 0:
                logs[1].write_intent(lease, 3 + number, {"n": number})
                logs[1].write_facts(lease, {3 + number: {"n": number}})
            elif caller_number < 3:
                logs[0].renew_lease(lease, TTL)
            elif number < 3:
                logs[caller_number % 2].write_facts(lease, {number: {"by": -caller_number}})

    run_concurrently(6, act)
    moves = logs[1].moves("m")
    assert moves[:3] == first_moves
    assert [move.facts for move in moves[3:]] == [{"n": sequence} for sequence in range(15)]


SPAWN_CONTEXT = multiprocessing.get_context("spawn")


def test_only_one_of_many_processes_takes_or_announces_each_match(tmp_path: Path) -> None:
    """The processes also compete to create the file."""
    names = [f"m{number}" for number in range(25)]
    arguments = [(tmp_path / "matches.db", f"p{number}", names) for number in range(8)]
    with SPAWN_CONTEXT.Pool(4) as pool:
        results = pool.starmap(queue_and_lease_all, arguments, 1)
    announcement_counts, lease_counts = (
        Counter(chain.from_iterable(match_lists)) for match_lists in zip(*results, strict=True)
    )
    assert lease_counts == Counter(names)
    assert max(announcement_counts.values()) == 1


@pytest.mark.parametrize("moves", [1, 40])
def test_a_writer_killed_while_writing_leaves_a_consistent_log(tmp_path: Path, moves: int) -> None:
    path, (receiver, sender) = tmp_path / "matches.db", SPAWN_CONTEXT.Pipe(duplex=False)
    child = SPAWN_CONTEXT.Process(target=write_until_killed, args=(path, sender), daemon=True)
    child.start()
    sender.close()
    acknowledged_numbers = [int(receiver.recv_bytes()) for _ in range(moves)]
    child.kill()
    with suppress(EOFError, OSError):  # a message may be cut short
        while True:
            acknowledged_numbers.append(int(receiver.recv_bytes()))
    child.join()

    with closing(SqliteMatchLog(path, SystemClock())) as log:
        logged_moves = log.moves("m")
        log.renew_lease(require_match(log).lease, TTL)
    stored_numbers = [move.sequence for move in logged_moves if move.facts is not None]
    assert stored_numbers[: len(acknowledged_numbers)] == acknowledged_numbers, (
        "what was acknowledged is there"
    )
    assert len(logged_moves) - len(acknowledged_numbers) <= 1, "and at most one move more"
    for move in logged_moves:
        assert move.intent == {"draw": move.sequence}
        assert move.facts is None or move.facts["drew"] == move.sequence
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
