"""The lease of a worker: its renewals, its reads, and what it waits for; to the microsecond."""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.store_fixtures import FakeClock, RecordingMeter, acquire_lease, require_match
from support.waiting import HANG_SECONDS

from cardsharp.bot.bot_match import IN_FLIGHT_SECONDS, Observation
from cardsharp.bot.lease_keeper import LeaseKeeper
from cardsharp.bot.timing import SessionTiming
from cardsharp.core.metrics import MetricName, Metrics
from cardsharp.errors import (
    ArenaError,
    GatewayRejection,
    MalformedResponse,
    RateLimited,
    RequestRejected,
    StoreError,
    Unreachable,
    WriteConflict,
)
from cardsharp.store.match_log import NO_SUMMARY, Body, Lease, MoveRecord, MoveSummary
from cardsharp.store.sqlite_match_log import SqliteMatchLog

TIMING = SessionTiming()
NO_METER = Metrics()
HOUR, INSTANT = timedelta(hours=1), timedelta(microseconds=1)
LOST = Unreachable("no answer", outcome_unknown=True)
REFUSED = RequestRejected(400, "not now")


class FailingLog(SqliteMatchLog):
    """A log that takes its time, whose renewals can fail, and its clock."""

    def __init__(self) -> None:
        self.clock, self.fails, self.tried = FakeClock(), False, threading.Semaphore(0)
        self.takes = timedelta(0)
        self.keeper: LeaseKeeper | None = None
        self.renewals_without_lock = 0
        super().__init__(Path(":memory:"), self.clock)

    def renew_lease(self, lease: Lease, ttl: timedelta) -> None:
        self.tried.release()
        self.renewals_without_lock += self.keeper is not None and not self.keeper._lock.locked()
        self.clock.advance(self.takes)
        if self.fails:
            raise StoreError("throttled")
        super().renew_lease(lease, ttl)

    def write_intent(
        self, lease: Lease, sequence: int, intent: Body, summary: MoveSummary = NO_SUMMARY
    ) -> None:
        super().write_intent(lease, sequence, intent, summary)
        self.clock.advance(self.takes)

    @property
    def renewals(self) -> int:
        """How often a renewal was tried since it was asked last."""
        count = 0
        while self.tried.acquire(blocking=False):
            count += 1
        return count


@pytest.fixture
def log() -> Iterator[FailingLog]:
    with closing(FailingLog()) as failing_log:
        yield failing_log


def hold(
    log: FailingLog, remaining_time: timedelta = TIMING.long_poll_timeout, meter: Metrics = NO_METER
) -> LeaseKeeper:
    """A hold by a worker who has so much time left, whatever the clock says."""
    lease, clock = acquire_lease(log, ttl=TIMING.lease_ttl), log.clock
    return LeaseKeeper(log, lease, clock, meter, TIMING, lambda: remaining_time, clock.monotonic())


def lose_lease(log: FailingLog, name: str = "m") -> None:
    """Have the lease taken, as after a long pause of its worker."""
    assert log.acquire_lease(name, "ann", TIMING.lease_ttl) is not None


def test_waits_and_decisions_begin_only_with_time_for_their_successors(
    log: FailingLog,
) -> None:
    """And a pause ends before that is over."""
    wait, decide = (
        TIMING.long_poll_timeout + TIMING.handover_margin,
        TIMING.decision_timeout + 2 * TIMING.action_timeout,
    )
    assert LeaseKeeper.has_time_for_turn(hold(log, TIMING.handover_margin))
    assert not LeaseKeeper.has_time_for_turn(hold(log, TIMING.handover_margin - INSTANT))
    for has_time, needed in (
        (LeaseKeeper.has_time_for_long_poll, wait),
        (LeaseKeeper.has_time_for_action, decide),
    ):
        assert not has_time(hold(log, needed))
        assert has_time(hold(log, needed + INSTANT))
    for remaining_time, slept in (
        (TIMING.handover_margin * 2, timedelta(seconds=5)),
        (TIMING.handover_margin / 2 + timedelta(seconds=2), timedelta(seconds=2)),
        (TIMING.handover_margin / 4, timedelta(0)),
    ):
        began = log.clock.now()
        hold(log, remaining_time).sleep_before_handover(timedelta(seconds=5))
        assert log.clock.now() - began == slept


@pytest.mark.parametrize(
    ("error", "ago", "slept"),
    [
        (LOST, timedelta(seconds=1), TIMING.action_timeout - timedelta(seconds=1)),
        (LOST, TIMING.action_timeout * 2, timedelta(0)),
        (REFUSED, timedelta(seconds=1), TIMING.backoff),
        (RateLimited("busy", timedelta(seconds=2)), timedelta(0), timedelta(seconds=2)),
        (RateLimited("busy", timedelta(hours=1)), timedelta(0), timedelta(seconds=3)),
    ],
)
def test_an_action_without_an_answer_is_let_arrive(
    log: FailingLog, error: ArenaError, ago: timedelta, slept: timedelta
) -> None:
    sent = log.clock.monotonic()
    log.clock.advance(ago)
    began = log.clock.now()
    hold(log, timedelta(hours=1)).wait_until_failed_action_settled(
        error, sent, timedelta(seconds=3)
    )
    assert log.clock.now() - began == slept


MARGIN = timedelta(seconds=1)


def test_lease_is_renewed_despite_occasional_store_failures(
    log: FailingLog,
) -> None:
    log.fails = True
    keeper = hold(log)
    with keeper.renew_during_block():
        for _ in range(11):
            log.clock.wait_for_waiter()
            log.clock.advance(TIMING.renew_interval)
            assert log.tried.acquire(timeout=HANG_SECONDS)
            assert keeper.ensure_valid(MARGIN).fence_token == 1
            log.fails = False
        log.clock.wait_for_waiter()
        assert keeper.expires_in == TIMING.lease_ttl
        assert keeper.ensure_valid(MARGIN) is keeper.lease
        assert log.acquire_lease("m", "bob", TIMING.lease_ttl) is None


def test_a_worker_learns_that_its_match_was_taken(log: FailingLog) -> None:
    keeper = hold(log)
    with keeper.renew_during_block():
        log.clock.wait_for_waiter()
        # As after a long pause of this process only: nobody renewed in time.
        bob = log.acquire_lease("m", "ann", TIMING.lease_ttl)
        log.clock.advance(TIMING.renew_interval)
        for margin in (TIMING.lease_ttl * 2, timedelta(0)):
            with pytest.raises(WriteConflict, match="no longer held"):
                keeper.ensure_valid(margin)
    assert require_match(log).lease == bob, "and leaves the successor's lease alone"


def test_a_lease_that_is_nearly_out_is_renewed_on_the_spot_or_counts_as_lost(
    log: FailingLog,
) -> None:
    keeper = hold(log)
    log.clock.advance(TIMING.lease_ttl * 2)
    keeper.ensure_valid(MARGIN)
    assert keeper.expires_in == TIMING.lease_ttl
    assert log.acquire_lease("m", "bob", TIMING.lease_ttl) is None
    log.fails = True
    log.clock.advance(TIMING.lease_ttl)
    with pytest.raises(WriteConflict, match="cannot be kept"):
        keeper.ensure_valid(MARGIN)


def test_a_lease_counts_from_before_its_renewal_was_requested(log: FailingLog) -> None:
    """An observer counts from later, so nobody takes the lease while we still rely on it."""
    keeper = hold(log)
    log.takes = timedelta(seconds=1)
    log.clock.advance(TIMING.lease_ttl)
    keeper.ensure_valid(timedelta(0))
    assert log.renewals == 0, "it is valid to its very end"
    keeper.ensure_valid(INSTANT)
    assert log.renewals == 1
    assert keeper.expires_in == TIMING.lease_ttl - log.takes
    keeper.ensure_valid(TIMING.lease_ttl - log.takes)
    assert log.renewals == 0


def test_a_renewal_that_failed_extends_no_lease(log: FailingLog) -> None:
    keeper, log.fails = hold(log), True
    log.clock.advance(TIMING.lease_ttl - MARGIN)
    assert keeper.ensure_valid(MARGIN) is keeper.lease
    assert log.renewals == 0
    with pytest.raises(WriteConflict, match="cannot be kept"):
        keeper.ensure_valid(MARGIN + INSTANT)
    assert keeper.expires_in == MARGIN
    assert log.renewals == 1


def test_a_lost_lease_is_not_asked_for_again(log: FailingLog) -> None:
    keeper = hold(log)
    lose_lease(log)
    for _ in range(2):
        with pytest.raises(WriteConflict, match="no longer held"):
            keeper.ensure_valid(TIMING.lease_ttl + INSTANT)
    with keeper.renew_during_block():
        log.clock.wait_for_waiter()
        log.clock.advance(TIMING.renew_interval)
        log.clock.wait_for_waiter()
    assert log.renewals == 1


def test_one_renewal_at_a_time(log: FailingLog) -> None:
    """The slower of two would set the lease back to an earlier moment."""
    keeper = log.keeper = hold(log)
    with keeper.renew_during_block():
        log.clock.wait_for_waiter()
        log.clock.advance(TIMING.renew_interval)
        log.clock.wait_for_waiter()
        log.clock.advance(INSTANT)
        keeper.ensure_valid(TIMING.lease_ttl)
    assert log.renewals == 2
    assert log.renewals_without_lock == 0


def test_a_lease_is_released_at_the_end_but_not_by_a_failure(log: FailingLog) -> None:
    """A match that cannot be played is not taken again at once."""
    with pytest.raises(ValueError, match="a defect"), hold(log).renew_during_block():
        raise ValueError("a defect")
    assert require_match(log).lease is not None
    keeper = hold(log)
    with keeper.renew_during_block():
        keeper.park_for = timedelta(minutes=1)
    assert require_match(log).is_parked
    assert require_match(log).ttl == timedelta(minutes=1)
    keeper = hold(log)
    with keeper.renew_during_block():
        lose_lease(log)
        with pytest.raises(WriteConflict):
            keeper.ensure_valid(TIMING.lease_ttl + INSTANT)
    assert require_match(log).lease is not None, "it is another's"


# --- acting --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("takes", "in_time"),
    [(TIMING.renew_interval, True), (TIMING.renew_interval + INSTANT, False)],
)
def test_an_action_is_sent_only_within_the_time_that_was_fixed_before_its_intent(
    log: FailingLog, caplog: pytest.LogCaptureFixture, takes: timedelta, *, in_time: bool
) -> None:
    keeper, log.takes = hold(log), takes
    assert keeper.log_intent_within_lease(4, {"action": "Draw"}) is in_time
    assert [(move.sequence, move.intent) for move in log.moves("m")] == [(4, {"action": "Draw"})]
    assert ("nothing was sent" in caplog.text) is not in_time
    assert [vars(line)["match_id"] for line in caplog.records] == ["m"] * (not in_time)


def test_an_intent_needs_a_lease_that_lasts_until_its_action_is_sent(log: FailingLog) -> None:
    keeper = hold(log)
    log.clock.advance(TIMING.lease_ttl - TIMING.renew_interval)
    assert keeper.log_intent_within_lease(0, {})
    assert log.renewals == 0
    log.clock.advance(INSTANT)
    assert keeper.log_intent_within_lease(0, {})
    assert log.renewals == 1
    log.clock.advance(TIMING.lease_ttl)
    lose_lease(log)
    with pytest.raises(WriteConflict):
        keeper.log_intent_within_lease(1, {})
    assert len(log.moves("m")) == 1


def test_a_late_answer_is_awaited_as_long_as_its_action_may_take(log: FailingLog) -> None:
    """And a refusal is none: its action was not carried out."""
    keeper, sent_at = hold(log, HOUR), log.clock.monotonic()
    for error, slept in (
        (LOST, TIMING.action_timeout),
        (LOST, timedelta(0)),
        (RateLimited("busy", timedelta(0), outcome_unknown=True), timedelta(0)),
        (REFUSED, TIMING.backoff),
        (RateLimited("busy", timedelta(0)), TIMING.backoff),
        (RateLimited("busy", timedelta(seconds=3)), timedelta(seconds=2)),
    ):
        began = log.clock.now()
        keeper.wait_until_failed_action_settled(error, sent_at, timedelta(seconds=2))
        assert log.clock.now() - began == slept


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RequestRejected(404, "gone"), "404"),
        (GatewayRejection(502, "a page"), "502"),
        (RateLimited("busy", timedelta(0)), "busy"),
        (MalformedResponse("no JSON"), "garbled"),
        (LOST, "unreachable"),
    ],
)
def test_an_error_is_counted_by_its_status_and_logged_with_its_action(
    log: FailingLog, caplog: pytest.LogCaptureFixture, error: ArenaError, status: str
) -> None:
    meter = RecordingMeter()
    keeper = hold(log, meter=meter)
    keeper.count_and_log_error(error)
    keeper.count_and_log_error(error, "Draw")
    errors = MetricName.ARENA_ERRORS
    assert +meter.counts == {errors: 2, f"{errors}/{status}": 2}
    first, second = caplog.records
    assert first.getMessage() == second.getMessage() == str(error)
    assert (vars(first).get("action"), vars(second)["action"]) == (None, "Draw")
    assert {vars(line)["match_id"] for line in caplog.records} == {"m"}


def test_a_decision_is_timed_and_what_went_wrong_with_it_is_counted(
    log: FailingLog, caplog: pytest.LogCaptureFixture
) -> None:
    meter, took = RecordingMeter(), timedelta(seconds=2)
    keeper = hold(log, meter=meter)
    keeper.record_decision_metrics(took, None)
    assert (+meter.counts, caplog.text) == ({}, "")
    keeper.record_decision_metrics(took, "the strategy is late")
    assert meter.counts == {MetricName.FALLBACK_ACTIONS: 1}
    assert meter.durations == {MetricName.DECISION: [took, took]}
    (line,) = caplog.records
    assert (line.getMessage(), vars(line)["match_id"]) == ("the strategy is late", "m")


def test_a_note_that_cannot_be_written_costs_a_line_of_the_log(
    log: FailingLog, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("The table is throttled.")

    keeper = hold(log)
    keeper.add_debug_note("refused", {"answer": "no"})
    assert [(note.kind, note.body) for note in log.notes("m")] == [("refused", {"answer": "no"})]
    monkeypatch.setattr(log, "add_note", fail)
    keeper.add_debug_note("refused", {})
    (line,) = caplog.records
    assert (line.getMessage(), vars(line)["match_id"]) == ("The table is throttled.", "m")


# --- reading -------------------------------------------------------------------------------------

PATIENCE = timedelta(seconds=3)
GONE = RequestRejected(404, "gone")


class Read:
    """A read whose answers are told, each after some time; it keeps when it was asked."""

    def __init__(self, log: FailingLog, *answers: ArenaError | str) -> None:
        self.log, self.answers, self.times = log, list(answers), list[float]()

    def __call__(self) -> str:
        self.times.append(self.log.clock.monotonic())
        answer = self.answers.pop(0)
        if isinstance(answer, ArenaError):
            raise answer
        return answer


def test_a_read_is_repeated_after_a_pause_while_the_arena_fails(log: FailingLog) -> None:
    """As long as the arena asks for, within limits."""
    busy = [RateLimited("busy", timedelta(seconds=seconds)) for seconds in (0, 2, 9)]
    read, meter = Read(log, LOST, *busy, "here"), RecordingMeter()
    assert hold(log, HOUR, meter).retry_read(read, PATIENCE) == "here"
    assert read.times == [0, 1, 2, 4, 7]
    assert meter.counts[MetricName.ARENA_ERRORS] == 4


def test_a_denial_is_believed_once_it_was_repeated_for_three_seconds(log: FailingLog) -> None:
    """In the same words; any other answer of the arena in between begins anew."""
    read = Read(log, *[GONE] * 9)
    with pytest.raises(RequestRejected, match="gone"):
        hold(log, HOUR).retry_read(read, PATIENCE)
    assert len(read.times) == TIMING.denial_timeout / TIMING.backoff + 1
    for other in (LOST, RequestRejected(403, "no"), RequestRejected(500, "gone")):
        read = Read(log, *[GONE] * 3, other, *[GONE] * 3, "here")
        assert hold(log, HOUR).retry_read(read, PATIENCE) == "here"


def test_a_read_begins_only_with_time_for_it(log: FailingLog) -> None:
    for remaining, result in (
        (TIMING.read_timeout, "here"),
        (TIMING.read_timeout - INSTANT, None),
    ):
        read = Read(log, "here")
        assert hold(log, remaining).retry_read(read, PATIENCE) == result
        assert len(read.times) == (result is not None)


def test_a_read_is_not_repeated_in_the_time_for_the_handover(log: FailingLog) -> None:
    meter = RecordingMeter()
    read = Read(log, LOST, "here")
    assert hold(log, TIMING.handover_margin - INSTANT, meter).retry_read(read, PATIENCE) is None
    assert log.clock.monotonic() == 0, "nor is there a pause"
    assert meter.counts[MetricName.ARENA_ERRORS] == 1
    read = Read(log, LOST, "here")
    assert hold(log, TIMING.handover_margin).retry_read(read, PATIENCE) == "here"
    assert log.clock.monotonic() == 1


def test_a_read_that_is_repeated_keeps_the_lease(log: FailingLog) -> None:
    keeper = hold(log, HOUR)
    assert keeper.retry_read(Read(log, *[LOST] * 3, "here"), PATIENCE) == "here"
    assert log.renewals == 0, "three seconds"
    assert keeper.retry_read(Read(log, LOST, "here"), PATIENCE) == "here"
    assert log.renewals == 1
    log.clock.advance(TIMING.lease_ttl)
    lose_lease(log)
    read = Read(log, LOST, "here")
    with pytest.raises(WriteConflict):
        keeper.retry_read(read, PATIENCE)
    assert len(read.times) == 1


# --- what a predecessor may have under way -------------------------------------------------------

LIMIT = TIMING.renew_interval + TIMING.action_timeout  # after its last write


def intended(sequence: int, in_flight: object = None, **fields: object) -> MoveRecord:
    stated = {} if in_flight is None else {IN_FLIGHT_SECONDS: in_flight}
    return MoveRecord(sequence, {"action": "Draw", **stated, **fields}, None)


@pytest.mark.parametrize(
    ("moves", "idle", "waits"),
    [
        ([intended(3)], timedelta(0), LIMIT),
        ([intended(3)], timedelta(seconds=1), LIMIT - timedelta(seconds=1)),
        ([intended(3)], LIMIT - INSTANT, INSTANT),
        ([intended(3)], LIMIT, None),
        ([intended(3)], LIMIT * 2, None),
        ([intended(2)], timedelta(0), None),
        ([MoveRecord(3, None, {})], timedelta(0), None),
        ([], timedelta(0), None),
        ([intended(1), intended(5)], timedelta(0), LIMIT),
        ([intended(3, 9)], timedelta(0), TIMING.renew_interval + timedelta(seconds=9)),
        ([intended(3, 9.5)], timedelta(0), TIMING.renew_interval + timedelta(seconds=9.5)),
        ([intended(3, 9), intended(4, 11)], timedelta(0), timedelta(seconds=12)),
        ([intended(2, 11), intended(3, 9)], timedelta(0), timedelta(seconds=10)),
        ([intended(3, 1)], timedelta(0), LIMIT),
        ([intended(3, "long")], timedelta(0), LIMIT),
    ],
)
def test_a_successor_waits_until_nothing_of_its_predecessor_can_arrive(
    log: FailingLog, moves: list[MoveRecord], idle: timedelta, waits: timedelta | None
) -> None:
    """From the takeover, for what its intents say, less the time in which nobody wrote."""
    log.clock.advance(HOUR)
    keeper = hold(log)
    keeper.lease = replace(keeper.lease, prior_idle_time=idle)
    now = log.clock.monotonic()
    observation: Observation[str] = Observation(next_sequence=3, facts={})
    assert keeper.wait_for_in_flight_actions(moves, observation, now) is (waits is not None)
    assert log.clock.monotonic() - now == pytest.approx((waits or timedelta(0)).total_seconds())


def test_a_successor_waits_no_longer_for_the_time_that_its_read_took(log: FailingLog) -> None:
    """But reads again unless its read began after all could arrive."""
    keeper, acquired_at = hold(log), log.clock.monotonic()
    observation: Observation[str] = Observation(next_sequence=0, facts={})
    log.clock.advance(timedelta(seconds=2))
    assert keeper.wait_for_in_flight_actions([intended(0)], observation, acquired_at)
    assert log.clock.monotonic() - acquired_at == LIMIT.total_seconds()
    log.clock.advance(timedelta(seconds=9))
    for observed_at, must_read in ((LIMIT - INSTANT, True), (LIMIT, False)):
        began, second = log.clock.now(), acquired_at + observed_at.total_seconds()
        waited = keeper.wait_for_in_flight_actions([intended(0)], observation, second)
        assert waited is must_read
        assert log.clock.now() == began


def test_a_throttled_read_says_that_all_earlier_requests_have_arrived(log: FailingLog) -> None:
    """Whatever their intents allow; a while is waited for what was never throttled."""
    keeper = hold(log)
    observation: Observation[str] = Observation(next_sequence=0, facts={}, was_throttled=True)
    assert keeper.wait_for_in_flight_actions([intended(0, 30)], observation, 0)
    assert log.clock.monotonic() == LIMIT.total_seconds()
