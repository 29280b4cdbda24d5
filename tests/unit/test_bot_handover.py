"""A worker keeps its lease and its time (R05), counts what it does, and plays fair (R09)."""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from support.cloud_benches import FakeClock, NotedMeter, known, taken
from support.waiting import HANG_SECONDS
from world.arena import SEED, TABLE, BenchArena
from world.bench import Bench
from world.bench import played as finished
from world.faults import FaultPlan, Kind

from cardsharp.cloud.attended import Attended
from cardsharp.cloud.hold import Hold
from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.cloud.ports import Lease
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.timing import Timing
from cardsharp.deadmansdraw.actions import END_TURN
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import rebuild
from cardsharp.deadmansdraw.strategies import Decision
from cardsharp.deadmansdraw.wire import parse_view
from cardsharp.errors import ArenaError, Conflict, RateLimited, Rejected, StoreError, Unreachable

TIMING = Timing()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(BenchArena, tmp_path, timing=TIMING)
    yield made
    made.close()


def within(bench: Bench, budget: timedelta) -> Callable[[], timedelta]:
    end = bench.clock.now() + budget
    return lambda: end - bench.clock.now()


@pytest.mark.parametrize("fifth", [1, 2])
def test_r05_no_worker_outlasts_its_time_and_the_match_is_played(bench: Bench, fifth: int) -> None:
    """Workers of every length of life, one after the other; a fifth of the requests fails."""
    lives = [timedelta(seconds=seconds / 4) for seconds in range(20, 300, 3)]
    ends = set()
    for life in lives:
        steps = range(len(bench.plan.steps), len(bench.plan.steps) + 100)
        bench.plan.faults = {step: Kind.TIMED_OUT for step in steps if step % 5 == fifth}
        remaining = within(bench, life)
        try:
            ends.add(bench.worker().attend(bench.match_id, remaining))
        except Exception as error:  # noqa: BLE001 - a timed-out store step cannot be
            pytest.fail(f"with {life} left: {error!r}")
        assert remaining() >= timedelta(0), f"a worker with {life} to live took longer"
        if bench.finished:
            break
    assert ends >= {Attended.HANDED_ON}
    assert bench.finished
    assert bench.faults_found() == []


@pytest.mark.parametrize("seconds", [4, 6.9, 7.1, 14.9, 15.3, 16, 20, 30])
def test_r05_an_action_is_begun_only_with_time_for_its_answer(bench: Bench, seconds: float) -> None:
    life = timedelta(seconds=seconds)
    remaining = within(bench, life)
    begun: list[timedelta] = []

    def note(step: str) -> None:
        if step == "act":
            begun.append(remaining())

    bench.worker(FaultPlan(bench.clock, before_step=note)).attend(bench.match_id, remaining)
    assert all(left > 2 * TIMING.act for left in begun)
    assert bool(begun) == (life > TIMING.handover)


@pytest.mark.parametrize("seconds", [16, 17, 18, 19])
def test_r05_nor_is_one_after_slow_decisions_of_the_same_turn(
    tmp_path: Path, seconds: float
) -> None:
    class Slow:
        def decide(self, position: Position) -> Decision:
            bench.clock.sleep(TIMING.decision)
            return Decision(position.legal_actions()[0], "thought for as long as it may")

    make = partial(BenchArena, player=Slow(), table={})
    with closing(Bench(make, tmp_path, timing=TIMING)) as bench:
        remaining, sent = within(bench, timedelta(seconds=seconds)), list[timedelta]()

        def note(step: str) -> None:
            if step == "act":
                sent.append(remaining())

        bench.worker(FaultPlan(bench.clock, before_step=note)).attend(bench.match_id, remaining)
        assert sent
        assert all(left > 2 * TIMING.act for left in sent)


class Breaks:
    """A strategy that ends every turn by an illegal action and otherwise fails."""

    def decide(self, position: Position) -> Decision:
        if not position.play_area:
            return Decision(END_TURN, "against the rules")
        raise ValueError("no idea")


def test_r06_a_broken_strategy_ends_no_match_and_every_failure_is_noted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with closing(Bench(partial(BenchArena, player=Breaks()), tmp_path)) as bench:
        bench.play()
        assert bench.faults_found() == []
        notes = bench.log.notes(bench.match_id)
        faults = {str(note.body["fault"]) for note in notes if note.kind == "decision"}
        intents = [move.intent for move in bench.log.moves(bench.match_id) if move.intent]
    assert any(fault.startswith("the strategy failed: ValueError: no idea") for fault in faults)
    assert any(fault.startswith("the rules refuse 'EndTurn'") for fault in faults)
    assert all(intent["fault"] in faults for intent in intents)
    assert "the strategy failed" in caplog.text


def counted(folder: Path, faults: dict[int, Kind]) -> tuple[Bench, NotedMeter]:
    """A match under faults that lose no turn, whose workers count."""
    meter = NotedMeter()
    bench = Bench(BenchArena, folder, faults, meter=meter, timing=TIMING)
    made = finished(bench)
    assert made.found == []
    return made, meter


def test_actions_the_end_and_errors_of_the_arena_by_status_and_in_all_are_counted(
    tmp_path: Path,
) -> None:
    bench, meter = counted(tmp_path, {})
    actions, steps = len(bench.gate.accepted), bench.plan.steps
    assert +meter.counted == {Metric.ACTIONS: actions, Metric.MATCHES_WON: 1}
    times = {Metric.DECISION: actions, Metric.FIRST_PICK_UP: 1, Metric.PICK_UP: 1}
    assert {metric: len(timed) for metric, timed in meter.timed.items()} == times
    assert min(time for timed in meter.timed.values() for time in timed) >= timedelta(0)
    for kind, status, step in (
        (Kind.HTTP_500, "500", "view"),
        (Kind.HTTP_429, "busy", "act"),
        (Kind.GARBAGE, "garbled", "view"),
        (Kind.RESPONSE_LOST, "unreachable", "act"),
    ):
        _, meter = counted(tmp_path, {steps.index(step): kind})
        assert meter.counted[Metric.ARENA_ERRORS] == 1
        assert meter.counted[f"{Metric.ARENA_ERRORS}/{status}"] == 1


def test_only_a_death_counts_as_a_stolen_lease(tmp_path: Path) -> None:
    meter = NotedMeter()
    with closing(Bench(BenchArena, tmp_path, meter=meter)) as bench:
        for _ in range(2):
            bench.worker().attend(bench.match_id, lambda: timedelta(seconds=3))
        assert meter.counted[Metric.LEASE_STEALS] == 0, "it was handed on"

        def die_once(step: str) -> None:
            if step == "record" and not bench.plan.hits:
                bench.plan.faults = {len(bench.plan.steps): Kind.CRASH_AFTER}

        bench.plan.before_step = die_once
        bench.play()
    assert meter.counted[Metric.LEASE_STEALS] == 1


def test_neither_seed_nor_order_of_the_cards_goes_further_than_the_arena(tmp_path: Path) -> None:
    """We created the match, so every view has its seed; no model, position or stored item has."""
    with closing(Bench(BenchArena, tmp_path)) as bench:
        bench.play()
        shown = bench.place.look(admin=False)
        stored = bench.everything()
    assert json.dumps(shown).count(SEED) == 2, "the arena has stopped to show the seed"
    view = parse_view(shown)
    assert SEED not in view.model_dump_json()
    assert SEED not in repr(rebuild(view, 0)) + repr(rebuild(view, 0).history)
    assert SEED not in stored
    bench, other = (
        finished(Bench(partial(BenchArena, table=table, strategy="champion"), tmp_path))
        for table in (TABLE, {**TABLE, "drawPile": TABLE["drawPile"][::-1]})
    )
    intents = [next(m.intent for m in b.moves if m.intent) for b in (bench, other)]
    one, two = (json.loads(json.dumps(intent))["position"]["unseen"] for intent in intents)
    assert one == two
    assert len(one.split()) == len(TABLE["drawPile"])


INSTANT = timedelta(microseconds=1)
LOST = Unreachable("no answer", doubtful=True)
REFUSED = Rejected(400, "not now")


class FailingLog(SqliteLog):
    """A log whose renewals can fail, and its clock."""

    def __init__(self) -> None:
        self.clock, self.fails, self.tried = FakeClock(), False, threading.Semaphore(0)
        super().__init__(Path(":memory:"), self.clock)

    def renew(self, lease: Lease, ttl: timedelta) -> None:
        self.tried.release()
        if self.fails:
            raise StoreError("throttled")
        super().renew(lease, ttl)


@pytest.fixture
def log() -> Iterator[FailingLog]:
    with closing(FailingLog()) as made:
        yield made


def hold(log: FailingLog, left: timedelta = TIMING.long_poll) -> Hold:
    """A hold by a worker who has so much time left, whatever the clock says."""
    lease, clock = taken(log, ttl=TIMING.lease), log.clock
    return Hold(log, lease, clock, Meter(), TIMING, lambda: left, clock.monotonic())


def test_what_takes_time_begins_only_with_time_for_all_of_it_and_for_what_comes_after_it(
    log: FailingLog,
) -> None:
    """And a pause ends before that is over."""
    wait, decide = TIMING.long_poll + TIMING.handover, TIMING.decision + 2 * TIMING.act
    for asked, needed in ((Hold.time_to_wait, wait), (Hold.time_to_decide, decide)):
        assert not asked(hold(log, needed))
        assert asked(hold(log, needed + INSTANT))
    for left, slept in (
        (TIMING.handover * 2, timedelta(seconds=5)),
        (TIMING.handover / 2 + timedelta(seconds=2), timedelta(seconds=2)),
        (TIMING.handover / 4, timedelta(0)),
    ):
        began = log.clock.now()
        hold(log, left).pause(timedelta(seconds=5))
        assert log.clock.now() - began == slept


@pytest.mark.parametrize(
    ("error", "ago", "slept"),
    [
        (LOST, timedelta(seconds=1), TIMING.act - timedelta(seconds=1)),
        (LOST, TIMING.act * 2, timedelta(0)),
        (REFUSED, timedelta(seconds=1), TIMING.breath),
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
    hold(log, timedelta(hours=1)).let_arrive(error, sent, timedelta(seconds=3))
    assert log.clock.now() - began == slept


MARGIN = timedelta(seconds=1)


def test_a_lease_lasts_as_long_as_its_keeper_though_the_store_fails_now_and_then(
    log: FailingLog,
) -> None:
    log.fails = True
    kept = hold(log)
    with kept.renewing():
        for _ in range(11):
            log.clock.until_waiting()
            log.clock.advance(TIMING.renew)
            assert log.tried.acquire(timeout=HANG_SECONDS)
            assert kept.ensure(MARGIN).fence == 1
            log.fails = False
        log.clock.until_waiting()
        assert kept.left == TIMING.lease
        assert kept.ensure(MARGIN) is kept.lease
        assert log.take("m", "bob", TIMING.lease) is None


def test_a_worker_learns_that_its_match_was_taken(log: FailingLog) -> None:
    kept = hold(log)
    with kept.renewing():
        log.clock.until_waiting()
        # As after a long pause of this process only: nobody renewed in time.
        bob = log.take("m", "ann", TIMING.lease)
        log.clock.advance(TIMING.renew)
        for margin in (TIMING.lease * 2, timedelta(0)):
            with pytest.raises(Conflict, match="no longer held"):
                kept.ensure(margin)
    assert known(log).lease == bob, "and leaves the successor's lease alone"


def test_a_lease_that_is_nearly_out_is_renewed_on_the_spot_or_counts_as_lost(
    log: FailingLog,
) -> None:
    kept = hold(log)
    log.clock.advance(TIMING.lease * 2)
    kept.ensure(MARGIN)
    assert kept.left == TIMING.lease
    assert log.take("m", "bob", TIMING.lease) is None
    log.fails = True
    log.clock.advance(TIMING.lease)
    with pytest.raises(Conflict, match="cannot be kept"):
        kept.ensure(MARGIN)
