"""Lease and time budget of a worker (R05), its metrics, and its fair play (R09)."""

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
def harness(tmp_path: Path) -> Iterator[MatchHarness]:
    harness = MatchHarness(SimulatedArena, tmp_path, timing=TIMING)
    yield harness
    harness.close()


def budget_function(harness: MatchHarness, budget: timedelta) -> Callable[[], timedelta]:
    end = harness.clock.now() + budget
    return lambda: end - harness.clock.now()


@pytest.mark.parametrize("fault_offset", [1, 2])
def test_r05_no_worker_outlasts_its_time_and_the_match_is_played(
    harness: MatchHarness, fault_offset: int
) -> None:
    """Workers with any time budget play in succession, and a fifth of the requests fails."""
    budgets = [timedelta(seconds=seconds / 4) for seconds in range(20, 300, 3)]
    results = set()
    for budget in budgets:
        steps = range(len(harness.plan.steps), len(harness.plan.steps) + 100)
        harness.plan.faults = {
            step: FaultKind.TIMED_OUT for step in steps if step % 5 == fault_offset
        }
        remaining = budget_function(harness, budget)
        try:
            results.add(harness.make_worker().run_session(harness.match_id, remaining))
        except Exception as error:  # noqa: BLE001 - a timed-out store step cannot be
            pytest.fail(f"with {budget} left: {error!r}")
        assert remaining() >= timedelta(0), f"a worker with {budget} to live took longer"
        if harness.is_finished:
            break
    assert results >= {SessionResult.HANDED_OVER}
    assert harness.is_finished
    assert harness.violations() == []


@pytest.mark.parametrize("seconds", [4, 6.9, 7.1, 14.9, 15.3, 16, 20, 30])
def test_r05_an_action_is_begun_only_with_time_for_its_answer(
    harness: MatchHarness, seconds: float
) -> None:
    budget = timedelta(seconds=seconds)
    remaining = budget_function(harness, budget)
    remaining_times: list[timedelta] = []

    def record_action(step: str) -> None:
        if step == "act":
            remaining_times.append(remaining())

    harness.make_worker(FaultPlan(harness.clock, on_step=record_action)).run_session(
        harness.match_id, remaining
    )
    assert all(remaining_time > 2 * TIMING.action_timeout for remaining_time in remaining_times)
    assert bool(remaining_times) == (budget > TIMING.handover_margin)


@pytest.mark.parametrize("seconds", [16, 17, 18, 19])
def test_r05_no_action_begins_too_late_behind_slow_decisions_of_its_turn(
    tmp_path: Path, seconds: float
) -> None:
    class SlowStrategy:
        def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
            harness.clock.sleep(TIMING.decision_timeout)
            return DeadMansDrawDecision(
                position.legal_actions()[0], "thought for as long as it may"
            )

    make_arena = partial(SimulatedArena, player=SlowStrategy(), table={})
    with closing(MatchHarness(make_arena, tmp_path, timing=TIMING)) as harness:
        remaining, remaining_times = (
            budget_function(harness, timedelta(seconds=seconds)),
            list[timedelta](),
        )

        def record_action(step: str) -> None:
            if step == "act":
                remaining_times.append(remaining())

        harness.make_worker(FaultPlan(harness.clock, on_step=record_action)).run_session(
            harness.match_id, remaining
        )
        assert remaining_times
        assert all(remaining_time > 2 * TIMING.action_timeout for remaining_time in remaining_times)


class BrokenStrategy:
    """Strategy that ends every turn by an illegal action and otherwise fails."""

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        if not position.play_area:
            return DeadMansDrawDecision(END_TURN, "against the rules")
        raise ValueError("no idea")


def test_r06_a_broken_strategy_ends_no_match_and_every_failure_is_noted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with closing(
        MatchHarness(partial(SimulatedArena, player=BrokenStrategy()), tmp_path)
    ) as harness:
        harness.run_match()
        assert harness.violations() == []
        notes = harness.log.notes(harness.match_id)
        faults = {str(note.body["fault"]) for note in notes if note.kind == "decision"}
        intents = [move.intent for move in harness.log.moves(harness.match_id) if move.intent]
    assert any(fault.startswith("the strategy failed: ValueError: no idea") for fault in faults)
    assert any(fault.startswith("the rules refuse 'EndTurn'") for fault in faults)
    assert all(intent["fault"] in faults for intent in intents)
    assert "the strategy failed" in caplog.text


def run_with_metrics(
    folder: Path, faults: dict[int, FaultKind]
) -> tuple[MatchHarness, RecordingMeter]:
    """Run a match under faults that lose no turn; return its harness and metrics."""
    meter = RecordingMeter()
    unfinished_harness = MatchHarness(SimulatedArena, folder, faults, meter=meter, timing=TIMING)
    harness = finished(unfinished_harness)
    assert harness.observed_violations == []
    return harness, meter


def test_actions_the_end_and_errors_of_the_arena_by_status_and_in_all_are_counted(
    tmp_path: Path,
) -> None:
    harness, meter = run_with_metrics(tmp_path, {})
    action_count, steps = len(harness.proxy.accepted), harness.plan.steps
    assert +meter.counts == {MetricName.ACTIONS: action_count, MetricName.MATCHES_WON: 1}
    timing_counts = {
        MetricName.DECISION: action_count,
        MetricName.FIRST_PICK_UP: 1,
        MetricName.PICKUP_DELAY: 1,
    }
    assert {
        metric: len(durations) for metric, durations in meter.durations.items()
    } == timing_counts
    assert min(time for durations in meter.durations.values() for time in durations) >= timedelta(0)
    for fault_kind, status, step in (
        (FaultKind.HTTP_500, "500", "view"),
        (FaultKind.HTTP_429, "busy", "act"),
        (FaultKind.GARBAGE, "garbled", "view"),
        (FaultKind.RESPONSE_LOST, "unreachable", "act"),
    ):
        _, meter = run_with_metrics(tmp_path, {steps.index(step): fault_kind})
        assert meter.counts[MetricName.ARENA_ERRORS] == 1
        assert meter.counts[f"{MetricName.ARENA_ERRORS}/{status}"] == 1


def test_only_a_crash_counts_as_a_stolen_lease(tmp_path: Path) -> None:
    meter = RecordingMeter()
    with closing(MatchHarness(SimulatedArena, tmp_path, meter=meter)) as harness:
        for _ in range(2):
            harness.make_worker().run_session(harness.match_id, lambda: timedelta(seconds=3))
        assert meter.counts[MetricName.LEASE_STEALS] == 0, "it was handed on"

        def crash_once(step: str) -> None:
            if step == "write_facts" and not harness.plan.injected:
                harness.plan.faults = {len(harness.plan.steps): FaultKind.CRASH_AFTER}

        harness.plan.on_step = crash_once
        harness.run_match()
    assert meter.counts[MetricName.LEASE_STEALS] == 1


def test_neither_seed_nor_order_of_the_cards_goes_further_than_the_arena(tmp_path: Path) -> None:
    """The view of a creator has the seed; no model, position or stored item has it."""
    with closing(MatchHarness(SimulatedArena, tmp_path)) as harness:
        harness.run_match()
        match_body = harness.server.match_json(as_admin=False)
        stored = harness.stored_contents()
    assert json.dumps(match_body).count(SEED) == 2, "the arena has stopped to show the seed"
    view = parse_view(match_body)
    assert SEED not in view.model_dump_json()
    assert SEED not in repr(position_from_view(view, 0)) + repr(position_from_view(view, 0).history)
    assert SEED not in stored
    harness, reversed_harness = (
        finished(MatchHarness(partial(SimulatedArena, table=table, strategy="champion"), tmp_path))
        for table in (TABLE, {**TABLE, "drawPile": TABLE["drawPile"][::-1]})
    )
    intents = [
        next(move.intent for move in finished_harness.moves if move.intent)
        for finished_harness in (harness, reversed_harness)
    ]
    first_unseen, second_unseen = (
        json.loads(json.dumps(intent))["position"]["unseen"] for intent in intents
    )
    assert first_unseen == second_unseen
    assert len(first_unseen.split()) == len(TABLE["drawPile"])
