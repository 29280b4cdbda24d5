"""R05: a worker that runs out of time hands its match on, whatever its time was; R06 within it."""

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from world.arena import BenchArena
from world.bench import Bench
from world.faults import FaultPlan, Kind

from cardsharp.cloud.attended import Attended
from cardsharp.cloud.timing import Timing
from cardsharp.deadmansdraw.actions import END_TURN
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision

TIMING = Timing()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(BenchArena, tmp_path, timing=TIMING)
    yield made
    made.close()


def within(bench: Bench, budget: timedelta) -> Callable[[], timedelta]:
    """What is left of a worker's time."""
    end = bench.clock.now() + budget
    return lambda: end - bench.clock.now()


@pytest.mark.parametrize("fifth", [1, 2])
def test_r05_no_worker_outlasts_its_time_and_the_match_is_played_to_its_end(
    bench: Bench, fifth: int
) -> None:
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


def test_an_arena_that_contradicts_itself_is_not_flooded(bench: Bench) -> None:
    """It names us as the player to move and refuses every action with 409."""
    plan = bench.plan

    def contradict(step: str) -> None:
        plan.faults = {len(plan.steps): Kind.HTTP_409} if step == "act" else {}

    plan.before_step = contradict
    ended = bench.worker().attend(bench.match_id, within(bench, timedelta(seconds=60)))
    assert ended is Attended.HANDED_ON
    assert 20 < plan.steps.count("act") <= 60 / TIMING.breath.total_seconds()
    assert bench.gate.accepted == []


class Breaks:
    """A strategy that ends every turn by an illegal action and otherwise fails."""

    def decide(self, position: Position) -> Decision:
        if not position.play_area:
            return Decision(END_TURN, "against the rules")
        raise ValueError("no idea")


BROKEN = partial(BenchArena, player=Breaks())


def test_r06_a_broken_strategy_ends_no_match_and_every_failure_is_noted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with closing(Bench(BROKEN, tmp_path)) as bench:
        bench.play()
        assert bench.faults_found() == []
        notes = bench.log.notes(bench.match_id)
        faults = {str(note.body["fault"]) for note in notes if note.kind == "decision"}
        intents = [move.intent for move in bench.log.moves(bench.match_id) if move.intent]
    assert any(fault.startswith("the strategy failed: ValueError: no idea") for fault in faults)
    assert any(fault.startswith("the rules refuse 'EndTurn'") for fault in faults)
    assert all(intent["fault"] in faults for intent in intents)
    assert "the strategy failed" in caplog.text
