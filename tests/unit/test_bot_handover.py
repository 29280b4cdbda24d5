"""A worker keeps its lease and its time (R05), counts what it does, and plays fair (R09)."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from fault_simulation.faults import FaultKind, FaultPlan
from fault_simulation.match_harness import MatchHarness
from fault_simulation.match_harness import run_harness as finished
from fault_simulation.simulated_arena import SEED, TABLE, SimulatedArena
from support.store_fixtures import RecordingMeter

from cardsharp.bot.session_result import SessionResult
from cardsharp.bot.timing import SessionTiming
from cardsharp.core.metrics import MetricName
from cardsharp.games.deadmansdraw.actions import END_TURN
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import position_from_view
from cardsharp.games.deadmansdraw.arena_bot.wire import parse_view
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision

TIMING = SessionTiming()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[MatchHarness]:
    harness = MatchHarness(SimulatedArena, tmp_path, timing=TIMING)
    yield harness
    harness.close()


def within(bench: MatchHarness, budget: timedelta) -> Callable[[], timedelta]:
    end = bench.clock.now() + budget
    return lambda: end - bench.clock.now()


@pytest.mark.parametrize("fifth", [1, 2])
def test_r05_no_worker_outlasts_its_time_and_the_match_is_played(
    bench: MatchHarness, fifth: int
) -> None:
    """Workers of every length of life, one after the other; a fifth of the requests fails."""
    lives = [timedelta(seconds=seconds / 4) for seconds in range(20, 300, 3)]
    ends = set()
    for life in lives:
        steps = range(len(bench.plan.steps), len(bench.plan.steps) + 100)
        bench.plan.faults = {step: FaultKind.TIMED_OUT for step in steps if step % 5 == fifth}
        remaining = within(bench, life)
        try:
            ends.add(bench.make_worker().run_session(bench.match_id, remaining))
        except Exception as error:  # noqa: BLE001 - a timed-out store step cannot be
            pytest.fail(f"with {life} left: {error!r}")
        assert remaining() >= timedelta(0), f"a worker with {life} to live took longer"
        if bench.is_finished:
            break
    assert ends >= {SessionResult.HANDED_OVER}
    assert bench.is_finished
    assert bench.violations() == []


@pytest.mark.parametrize("seconds", [4, 6.9, 7.1, 14.9, 15.3, 16, 20, 30])
def test_r05_an_action_is_begun_only_with_time_for_its_answer(
    bench: MatchHarness, seconds: float
) -> None:
    life = timedelta(seconds=seconds)
    remaining = within(bench, life)
    begun: list[timedelta] = []

    def note(step: str) -> None:
        if step == "act":
            begun.append(remaining())

    bench.make_worker(FaultPlan(bench.clock, on_step=note)).run_session(bench.match_id, remaining)
    assert all(remaining_time > 2 * TIMING.action_timeout for remaining_time in begun)
    assert bool(begun) == (life > TIMING.handover_margin)


@pytest.mark.parametrize("seconds", [16, 17, 18, 19])
def test_r05_no_action_begins_too_late_behind_slow_decisions_of_its_turn(
    tmp_path: Path, seconds: float
) -> None:
    class Slow:
        def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
            bench.clock.sleep(TIMING.decision_timeout)
            return DeadMansDrawDecision(
                position.legal_actions()[0], "thought for as long as it may"
            )

    make = partial(SimulatedArena, player=Slow(), table={})
    with closing(MatchHarness(make, tmp_path, timing=TIMING)) as bench:
        remaining, sent = within(bench, timedelta(seconds=seconds)), list[timedelta]()

        def note(step: str) -> None:
            if step == "act":
                sent.append(remaining())

        bench.make_worker(FaultPlan(bench.clock, on_step=note)).run_session(
            bench.match_id, remaining
        )
        assert sent
        assert all(remaining_time > 2 * TIMING.action_timeout for remaining_time in sent)


class Breaks:
    """A strategy that ends every turn by an illegal action and otherwise fails."""

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        if not position.play_area:
            return DeadMansDrawDecision(END_TURN, "against the rules")
        raise ValueError("no idea")


def test_r06_a_broken_strategy_ends_no_match_and_every_failure_is_noted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with closing(MatchHarness(partial(SimulatedArena, player=Breaks()), tmp_path)) as bench:
        bench.run_match()
        assert bench.violations() == []
        notes = bench.log.notes(bench.match_id)
        faults = {str(note.body["fault"]) for note in notes if note.kind == "decision"}
        intents = [move.intent for move in bench.log.moves(bench.match_id) if move.intent]
    assert any(fault.startswith("the strategy failed: ValueError: no idea") for fault in faults)
    assert any(fault.startswith("the rules refuse 'EndTurn'") for fault in faults)
    assert all(intent["fault"] in faults for intent in intents)
    assert "the strategy failed" in caplog.text


def counted(folder: Path, faults: dict[int, FaultKind]) -> tuple[MatchHarness, RecordingMeter]:
    """A match under faults that lose no turn, whose workers count."""
    meter = RecordingMeter()
    bench = MatchHarness(SimulatedArena, folder, faults, meter=meter, timing=TIMING)
    harness = finished(bench)
    assert harness.observed_violations == []
    return harness, meter


def test_actions_the_end_and_errors_of_the_arena_by_status_and_in_all_are_counted(
    tmp_path: Path,
) -> None:
    bench, meter = counted(tmp_path, {})
    actions, steps = len(bench.gate.accepted), bench.plan.steps
    assert +meter.counts == {MetricName.ACTIONS: actions, MetricName.MATCHES_WON: 1}
    times = {MetricName.DECISION: actions, MetricName.FIRST_PICK_UP: 1, MetricName.PICKUP_DELAY: 1}
    assert {metric: len(timed) for metric, timed in meter.durations.items()} == times
    assert min(time for timed in meter.durations.values() for time in timed) >= timedelta(0)
    for kind, status, step in (
        (FaultKind.HTTP_500, "500", "view"),
        (FaultKind.HTTP_429, "busy", "act"),
        (FaultKind.GARBAGE, "garbled", "view"),
        (FaultKind.RESPONSE_LOST, "unreachable", "act"),
    ):
        _, meter = counted(tmp_path, {steps.index(step): kind})
        assert meter.counts[MetricName.ARENA_ERRORS] == 1
        assert meter.counts[f"{MetricName.ARENA_ERRORS}/{status}"] == 1


def test_only_a_death_counts_as_a_stolen_lease(tmp_path: Path) -> None:
    meter = RecordingMeter()
    with closing(MatchHarness(SimulatedArena, tmp_path, meter=meter)) as bench:
        for _ in range(2):
            bench.make_worker().run_session(bench.match_id, lambda: timedelta(seconds=3))
        assert meter.counts[MetricName.LEASE_STEALS] == 0, "it was handed on"

        def die_once(step: str) -> None:
            if step == "write_facts" and not bench.plan.injected:
                bench.plan.faults = {len(bench.plan.steps): FaultKind.CRASH_AFTER}

        bench.plan.on_step = die_once
        bench.run_match()
    assert meter.counts[MetricName.LEASE_STEALS] == 1


def test_neither_seed_nor_order_of_the_cards_goes_further_than_the_arena(tmp_path: Path) -> None:
    """We created the match, so every view has its seed; no model, position or stored item has."""
    with closing(MatchHarness(SimulatedArena, tmp_path)) as bench:
        bench.run_match()
        match_body = bench.place.match_json(as_admin=False)
        stored = bench.stored_contents()
    assert json.dumps(match_body).count(SEED) == 2, "the arena has stopped to show the seed"
    view = parse_view(match_body)
    assert SEED not in view.model_dump_json()
    assert SEED not in repr(position_from_view(view, 0)) + repr(position_from_view(view, 0).history)
    assert SEED not in stored
    bench, other = (
        finished(MatchHarness(partial(SimulatedArena, table=table, strategy="champion"), tmp_path))
        for table in (TABLE, {**TABLE, "drawPile": TABLE["drawPile"][::-1]})
    )
    intents = [next(m.intent for m in b.moves if m.intent) for b in (bench, other)]
    first_unseen, second_unseen = (
        json.loads(json.dumps(intent))["position"]["unseen"] for intent in intents
    )
    assert first_unseen == second_unseen
    assert len(first_unseen.split()) == len(TABLE["drawPile"])
