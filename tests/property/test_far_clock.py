"""R31: the arena's clock by ours, whatever delays, skews and jumps there are."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cardsharp.far_clock import NEVER, FarClock

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
