"""R31: the arena's clock by ours, whatever delays, skews and jumps there are."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from requests import PreparedRequest
from support.arena import DUMMY
from world.arena import TABLE, BenchArena
from world.bench import Bench, bot_of, played
from world.clock import StillClock
from world.network import Tools, sent_by

from cardsharp.cloud.timing import Timing
from cardsharp.deadmansdraw import bot
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, build
from cardsharp.far_clock import NEVER, FarClock
from workbench.cloud.http_events import Answered

EPOCH = datetime(2026, 11, 20, tzinfo=UTC)
DAY = 86_400.0
LONGEST = 30.0
"""Seconds that a request may take on its way, and as long again for its answer."""

KINDS = st.sampled_from(["dated", "shown", "written"])
DELAYS = st.floats(0, LONGEST)
SKEWS = st.floats(-DAY, DAY)


@dataclass
class Far:
    """The truth: a clock that is ahead of our monotonic seconds, and told by answers."""

    ahead: float
    known: FarClock

    def shows(self, second: float) -> datetime:
        return EPOCH + timedelta(seconds=second + self.ahead)

    def tell(self, kind: str, asked: float, there: float, back: float) -> float:
        """Have a request answered; when its answer came."""
        at = asked + there
        answered = at + back
        if kind == "dated":
            date = self.shows(at)
            self.known.dated(date.replace(microsecond=0), asked, answered)
        elif kind == "written":
            self.known.written(self.shows(at), asked, answered)
        else:
            self.known.shown(self.shows(at), answered)
        return answered

    def check(self, now: float) -> None:
        """A moment that is asked for lies within the bounds."""
        second = now + 3
        when = self.known.when(self.shows(second), now)
        if when != NEVER:
            assert when.earliest - 1e-3 <= second <= when.latest + 1e-3


@given(SKEWS, st.lists(st.tuples(KINDS, DELAYS, DELAYS), max_size=12))
def test_bounds_hold_whatever_the_delays_and_the_skew(
    ahead: float, asked: list[tuple[str, float, float]]
) -> None:
    far, now = Far(ahead, FarClock()), 1000.0
    for kind, there, back in asked:
        now = far.tell(kind, now, there, back)
        far.check(now)


@given(
    SKEWS,
    st.one_of(st.floats(4 * LONGEST, DAY), st.floats(-DAY, -4 * LONGEST)),
    st.lists(st.tuples(KINDS, DELAYS, DELAYS), max_size=8),
    st.tuples(st.sampled_from(["dated", "written"]), DELAYS, DELAYS),
)
def test_bounds_hold_again_after_a_jump_with_the_next_short_answer(
    ahead: float,
    jump: float,
    before: list[tuple[str, float, float]],
    last: tuple[str, float, float],
) -> None:
    """Where it is longer than the answers' own delays; a shorter one is as if they were."""
    far, now = Far(ahead, FarClock()), 1000.0
    for kind, there, back in before:
        now = far.tell(kind, now, there, back)
    far.ahead += jump
    now = far.tell(last[0], now, last[1], last[2])
    far.check(now)


@given(SKEWS, st.floats(10, DAY), st.sampled_from([-1, 1]))
def test_dates_of_another_clock_are_given_up_with_the_first_move_of_ours(
    ahead: float, wrong: float, way: int
) -> None:
    far, now = Far(ahead, FarClock()), 1000.0
    gateway = Far(ahead + way * wrong, far.known)
    for step in ("dated", "shown", "written", "dated", "dated"):
        now = (gateway if step == "dated" else far).tell(step, now, 0.1, 0.1)
    far.check(now)
    when = far.known.when(far.shows(now), now)
    assert when.latest - when.earliest < 1


def test_our_own_moves_say_more_than_dates() -> None:
    far = Far(5, FarClock())
    now = far.tell("dated", 0, 0.05, 0.05)
    coarse = far.known.when(far.shows(10), now)
    far.tell("written", now, 0.05, 0.05)
    fine = far.known.when(far.shows(10), now)
    assert coarse.latest - coarse.earliest > 1
    assert fine.latest - fine.earliest < 0.2


# --- in a match ------------------------------------------------------------------------------

LIMIT = 7
OVER = "the time of this turn is over"


@dataclass
class Course:
    """How long everything takes in a match, in seconds."""

    delay: float = 0.1
    opponent: float = 0
    thinking: float = 0
    skew: float = 0
    stall: float = 0
    """How long requests are held up now and then on their way."""

    seed: int = 0


class TimedArena(BenchArena):
    """An arena with a limit, far away, whose opponent takes its time; it notes refused actions."""

    course = Course()

    def __init__(self, folder: Path, clock: StillClock) -> None:
        skew = timedelta(seconds=self.course.skew)
        self.chance, self.refused, self.ended = Random(self.course.seed), [], []
        super().__init__(folder, clock.as_seen_by(skew), table={**TABLE, "timeout": LIMIT})  # type: ignore[arg-type]
        self.passing = clock

    def pass_time(self, longest: float) -> None:
        self.passing.advance(timedelta(seconds=longest * self.chance.random()))

    def go_on(self) -> None:
        if self.match.active_player == DUMMY:
            self.passing.advance(timedelta(seconds=self.course.opponent))
        super().go_on()

    def ask(self, request: PreparedRequest) -> Answered:
        stalled = self.course.stall and self.chance.random() < 0.1
        self.pass_time(self.course.stall if stalled else self.course.delay)
        self.arena.referee.end_overdue_turns(None, None)
        answer = super().ask(request)
        if request.method == "POST":
            if answer.status != 200:
                self.refused.append((sent_by(request), answer.body))
            self.ended.append((sent_by(request), b"Forceful" in answer.body))
        self.pass_time(self.course.delay)
        return answer


class Thinker:
    """A strategy that takes its time."""

    def __init__(self, clock: StillClock, seconds: float) -> None:
        self.strategy, self.clock, self.seconds = build("champion", Random(1)), clock, seconds

    def decide(self, position: Position) -> Decision:
        self.clock.advance(timedelta(seconds=self.seconds))
        return self.strategy.decide(position)


def match_of(course: Course, folder: Path, limits: list[float] | None = None) -> Bench:
    """A match that has such a course; `limits` takes the time that each decision was given."""
    decide = bot.decide

    def noted(strategy: Any, position: Any, limit: timedelta, *rest: Any) -> Any:  # noqa: ANN401
        if limits is not None:
            limits.append(limit.total_seconds())
        return decide(strategy, position, timedelta(seconds=60), *rest)

    arena: Any = type("Arena", (TimedArena,), {"course": course})
    timing = Timing(lease=timedelta(hours=1))

    def make(bench: Bench, tools: Tools) -> Any:  # noqa: ANN401
        place: Any = bench.place
        place.player = Thinker(bench.clock, course.thinking)
        return bot_of(bench, tools)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bot, "decide", noted)
        return played(Bench(arena, folder, timing=timing, make=make))


def test_a_strategy_has_its_time_after_an_opponent_that_took_its_own(tmp_path: Path) -> None:
    """1.5 s of 7, against an opponent of 5 s a turn, which is longer than a round trip is late."""
    limits: list[float] = []
    bench: Any = match_of(Course(opponent=5, thinking=1.5), tmp_path, limits)
    assert bench.found == []
    assert bench.place.refused == []
    assert bench.place.match.state.timeouts == 0
    assert min(limits) >= 1.5


@settings(max_examples=15, deadline=None)
@given(
    skew=SKEWS,
    delay=st.floats(0, 0.7),
    opponent=st.floats(0, 6.5),
    thinking=st.floats(0, 1.5),
    seed=st.integers(0, 10**6),
)
def test_r31_no_turn_that_goes_on_is_ended_and_none_is_lost(
    skew: float, delay: float, opponent: float, thinking: float, seed: int
) -> None:
    course = Course(delay, opponent, thinking, skew, seed=seed)
    with TemporaryDirectory() as folder:
        bench: Any = match_of(course, Path(folder))
    assert bench.found == []
    assert bench.place.refused == []
    assert bench.place.match.state.timeouts == 0


@settings(max_examples=15, deadline=None)
@given(skew=SKEWS, stall=st.floats(3, 30), seed=st.integers(0, 10**6))
def test_r31_also_where_requests_are_held_up_and_turns_are_lost(
    skew: float, stall: float, seed: int
) -> None:
    """Nothing is played in a turn that it was not meant for, and EndTurn ends none before its time.

    What was held up itself may be refused: the arena had ended its turn meanwhile.
    """
    with TemporaryDirectory() as folder:
        bench: Any = match_of(Course(skew=skew, stall=stall, seed=seed), Path(folder))
    faults = [fault for one in bench.gate.accepted for fault in one.faults]
    assert [one for one in faults if "met" not in one or "EndTurn" not in one] == []
    given_up = {
        move.sequence for move in bench.moves if move.intent and move.intent.get("fault") == OVER
    }
    accepted = {one.sequence: one.at for one in bench.gate.accepted}
    history = {entry["sequenceId"]: entry for entry in bench.place.look()["moves"]}
    for sequence in given_up & accepted.keys():
        events = history[sequence]["events"]
        assert any(event["eventType"] == "Comment" for event in events)
