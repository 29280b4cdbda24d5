"""The lines of practice's ratings: on their paper, in their order, with names that can be read."""

import itertools
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from cardsharp.deadmansdraw.contest.chart import (
    BOTTOM,
    HEIGHT,
    LEFT,
    LINE,
    NAMED,
    RIGHT,
    TOP,
    WIDTH,
    chart,
)
from cardsharp.deadmansdraw.contest.meetings import Standing
from cardsharp.ratings import Rating

AT = datetime(2026, 11, 20, tzinfo=UTC)


@st.composite
def courses(draw: st.DrawFn) -> list[Standing]:
    """Some standings, in which teams may be missing at first."""
    number = draw(st.integers(2, 64))
    found = []
    for step in range(1, draw(st.integers(2, 6)) + 1):
        here = draw(st.integers(1, number))
        values = draw(st.lists(st.floats(-500, 3000), min_size=here, max_size=here))
        ratings = {f"team {place}": Rating(value, 50) for place, value in enumerate(values)}
        found.append(Standing(step * number, AT, ratings))
    return found


def course(*values: float) -> list[Standing]:
    """Two equal standings of teams with these ratings."""
    ratings = {f"team {place}": Rating(value, 50) for place, value in enumerate(values)}
    return [Standing(played, AT, ratings) for played in (8, 16)]


@given(courses())
@example(course(3000, *[0] * 7))
def test_lines_and_names_stay_on_the_paper(standings: list[Standing]) -> None:
    """The best has the highest end, and no name lies on another."""
    drawn = chart(standings)
    assert drawn is not None
    rated = standings[-1].ratings
    assert {one.team for one in drawn.series} == set(rated)
    for one in drawn.series:
        for x, y in one.points:
            assert LEFT <= x <= WIDTH - RIGHT + 0.01
            assert TOP - 0.01 <= y <= HEIGHT - BOTTOM + 0.01
        assert one.points[-1][0] == WIDTH - RIGHT
    ends = [one.points[-1][1] for one in drawn.series]
    assert ends == sorted(ends, reverse=True)
    names = [one.named for one in drawn.series if one.named is not None][::-1]
    assert len(names) == min(NAMED, len(rated))
    assert all(low + LINE <= high + 0.01 for low, high in itertools.pairwise(names))
    assert all(0 < name <= HEIGHT - BOTTOM + 0.01 for name in names)
