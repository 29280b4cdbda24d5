"""The ratings of practice over time, as lines that a page draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from cardsharp.contest.meetings import Standing
from cardsharp.contest.pairing import Team

WIDTH, HEIGHT = 960, 340
LEFT, RIGHT, TOP, BOTTOM = 48, 190, 12, 28
"""The margins: names stand at the right."""

NAMED = 8
"""Teams whose lines have a colour and a name, the best; the others' are behind them."""

STEPS, MOST_STEPS = (25, 50, 100, 200, 400, 800, 1600, 3200), 6
"""Elo points between two figures of the axis, and how many steps there are about."""

LINE = 15
"""From one name down to the next."""


@dataclass(frozen=True, slots=True)
class Series:
    """The line of a team, with its place among the best, from 1; `named` is where its name is."""

    team: Team
    place: int
    points: tuple[tuple[float, float], ...]
    named: float | None


@dataclass(frozen=True, slots=True)
class Chart:
    """The lines, the best last, and where the axes have figures."""

    series: tuple[Series, ...]
    ratings: tuple[tuple[float, int], ...]
    matches: tuple[tuple[float, int], ...]


def chart(standings: Sequence[Standing]) -> Chart | None:
    """The chart of some standings; None while a single one would make no line."""
    values = [rating.value for standing in standings for rating in standing.ratings.values()]
    if len(standings) < 2 or not values:  # noqa: PLR2004 - a line has two points
        return None
    first, last = standings[0].played, standings[-1].played
    steps = _steps(min(values), max(values))
    low, high = steps[0], steps[-1]

    def across(played: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (played - first) / (last - first)

    def down(rating: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - rating) / (high - low)

    rated = standings[-1].ratings
    best = sorted(rated, key=lambda team: -rated[team].value)
    names = _apart([down(rated[team].value) for team in best[:NAMED]])
    series = [
        Series(
            team,
            place,
            tuple(
                (across(one.played), down(one.ratings[team].value))
                for one in standings
                if team in one.ratings
            ),
            names[place - 1] if place <= NAMED else None,
        )
        for place, team in enumerate(best, 1)
    ]
    return Chart(
        tuple(reversed(series)),
        tuple((down(step), step) for step in steps),
        tuple((across(played), played) for played in {first: None, last: None}),
    )


def _steps(low: float, high: float) -> list[int]:
    """Round figures around all ratings."""
    step = next(one for one in STEPS if (high - low) / one <= MOST_STEPS)
    first = floor(low / step)
    return [step * number for number in range(first, max(ceil(high / step), first + 1) + 1)]


def _apart(places: Sequence[float]) -> list[float]:
    """The places of names from top to bottom, moved down where one would lie on another.

    Those that would leave the paper there push the ones above them up.
    """
    lowered: list[float] = []
    for place in places:
        lowered.append(max(place, lowered[-1] + LINE if lowered else TOP + LINE / 2))
    raised: list[float] = []
    for place in reversed(lowered):
        raised.append(min(place, raised[-1] - LINE if raised else HEIGHT - BOTTOM))
    return raised[::-1]
