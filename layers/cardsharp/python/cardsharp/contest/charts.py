"""Charts of many matches: when, how long, how turns ended, scores, and each player beside others.

What is drawn is worked out here, as figures and shares of a length; `charts.jinja` has the lines.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor
from statistics import fmean
from typing import NamedTuple

from cardsharp.contest.entries import Standing
from cardsharp.contest.ladder import ratings
from cardsharp.contest.pairing import Team
from cardsharp.contest.tables import Facts

BARS, MOST = 48, 24  # as many bars stand side by side, and as many players one under the other

_TIMES = (
    ("a minute", timedelta(minutes=1), "%H:%M"),
    ("in ten minutes", timedelta(minutes=10), "%H:%M"),
    ("an hour", timedelta(hours=1), "%d %b %H:%M"),
    ("a day", timedelta(days=1), "%d %b"),
    ("a week", timedelta(days=7), "%d %b"),
    ("in thirty days", timedelta(days=30), "%b %Y"),
)
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_WHOLE = 100  # from here on a figure has no decimals
_SQUARES = 16  # squares to a side of the heat map, at most


class Played(NamedTuple):
    """A match that has ended: who played, and what it came to."""

    names: tuple[str, ...]
    facts: Facts


@dataclass(frozen=True, slots=True)
class Columns:
    """How many there are of each: bars side by side, each with what stands under it."""

    title: str
    bars: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Squares:
    """How often two figures came together: `counts` by those of the one, then of the other."""

    title: str
    step: int
    counts: tuple[tuple[int, ...], ...]


class RankedLine(NamedTuple):
    """A player's line: spans from share to share of the length, each of a part, and its figure."""

    name: str
    spans: tuple[tuple[float, float, int], ...]
    said: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """The players one under the other; `parts` are what the spans are of, where there are more."""

    title: str
    lines: tuple[RankedLine, ...]
    parts: tuple[str, ...] = ()


Drawn = Columns | Squares | Ranking


def charts(played: Sequence[Played]) -> list[Drawn]:
    """The charts of some matches, as far as they tell what each is of."""
    found = (_times(played), _moves(played), _scores(played), *_players(played))
    return [chart for chart in found if chart is not None]


def _times(played: Sequence[Played]) -> Columns | None:
    """How many matches began when, in the finest steps for which there is room."""
    began = sorted(facts.began for _, facts in played if facts.began is not None)
    if not began or began[0] == began[-1]:
        return None
    fits = (time for time in _TIMES if (began[-1] - _floor(began[0], time[1])) / time[1] < BARS)
    name, step, form = next(fits, _TIMES[-1])
    first = _floor(began[0], step)
    number = (began[-1] - first) // step + 1
    counts = Counter((one - first) // step for one in began)
    bars = ((format(first + at * step, form), counts[at]) for at in range(number))
    return Columns(f"Matches {name} (UTC)", tuple(bars))


def _floor(moment: datetime, step: timedelta) -> datetime:
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return start + (moment - start) // step * step


def _moves(played: Sequence[Played]) -> Columns | None:
    """How many matches had how many moves."""
    moves = [sum(facts.moves) for _, facts in played if facts.moves]
    if not moves:
        return None
    step = _step(max(moves) - min(moves), BARS // 2)
    counts, first = Counter(one // step for one in moves), min(moves) // step
    bars = ((str(at * step), counts[at]) for at in range(first, max(moves) // step + 1))
    return Columns(f"Matches by their moves, in steps of {step}", tuple(bars))


def _step(span: float, most: int) -> int:
    return next((one for one in _STEPS if span / one < most), _STEPS[-1])


def _scores(played: Sequence[Played]) -> Squares | None:
    """How often which points met which, in matches of two."""
    pairs = [sorted(facts.points) for _, facts in played if len(facts.points) == 2]  # noqa: PLR2004
    if not pairs or min(low for low, _ in pairs) < 0 or not max(high for _, high in pairs):
        return None
    step = _step(max(high for _, high in pairs), _SQUARES)
    counts = Counter((int(low // step), int(high // step)) for low, high in pairs)
    side = range(max(high for _, high in counts) + 1)
    title = f"Scores: the higher one across, the lower one up, in steps of {step}"
    return Squares(title, step, tuple(tuple(counts[low, high] for high in side) for low in side))


_Own = list[tuple[Facts, int]]  # the matches of a player, with its seat in each


def _players(played: Sequence[Played]) -> Iterator[Ranking | None]:
    own: defaultdict[str, _Own] = defaultdict(list)
    for names, facts in played:
        for seat, name in enumerate(names[: len(facts.points)]):
            own[name].append((facts, seat))
    yield _rated(played, own)
    yield _ends(own)
    yield _single("Points a match", own, lambda facts: facts.points, fmean)
    yield _single("Moves a match", own, lambda facts: facts.moves, fmean)
    yield _single("Time-outs", own, lambda facts: facts.late, sum)
    yield _single("Autopicks", own, lambda facts: facts.autopicks, sum)


def _rated(played: Sequence[Played], own: Mapping[str, _Own]) -> Ranking | None:
    """The ratings by all matches of two who are not one and the same, with 95 % intervals."""
    shares = [
        ((names[one], names[other]), share)
        for names, facts in played
        if len(names) == len(facts.points)
        for one, other, share in facts.shares()
        if names[one] != names[other]
    ]
    if not shares:
        return None
    met = {name for pair, _ in shares for name in pair}
    found = ratings([name for name in own if name in met], shares)
    low = min(one.value - one.margin for one in found.values())
    high = max(one.value + one.margin for one in found.values())

    def at(value: float) -> float:
        return (value - low) / (high - low or 1)

    lines = []
    for name, one in sorted(found.items(), key=lambda one: -one[1].value):
        interval = (at(one.value - one.margin), at(one.value + one.margin), 0)
        mark = (at(one.value) - 0.006, at(one.value) + 0.006, 1)
        lines.append(RankedLine(name, (interval, mark), str(one.rounded)))
    return _ranking("Ratings in Elo points, with 95 % intervals", lines)


def _ends(own: Mapping[str, _Own]) -> Ranking | None:
    """How the turns of each ended: with the cards in the bank, by a bust, or out of time."""
    lines = []
    for name, matches in own.items():
        told = [(facts, seat) for facts, seat in matches if facts.banked]
        each = [(one.banked[seat], one.busts[seat], one.late[seat]) for one, seat in told]
        counts = [sum(kind) for kind in zip(*each, strict=True)]
        if whole := sum(counts):
            ends = [sum(counts[:part]) / whole for part in range(4)]
            spans = tuple((ends[part], ends[part + 1], part + 1) for part in range(3))
            lines.append(RankedLine(name, spans, f"{counts[1] / whole:.0%}".replace("%", " %")))
    lines.sort(key=lambda line: line.spans[1][1] - line.spans[1][0])
    parts = ("banked", "bust (the figure)", "out of time")
    return _ranking("How turns ended", lines, parts) if lines else None


def _single(
    title: str,
    own: Mapping[str, _Own],
    of: Callable[[Facts], Sequence[float]],
    together: Callable[[Sequence[float]], float],
) -> Ranking | None:
    """One figure of each player, the highest first; nothing where all of them are nothing."""
    told = {
        name: [of(facts)[seat] for facts, seat in matches if seat < len(of(facts))]
        for name, matches in own.items()
    }
    values = {name: together(found) for name, found in told.items() if found}
    most = max(values.values(), default=0)
    if most <= 0:
        return None
    lines = [
        RankedLine(name, ((0.0, max(0.0, value) / most, 1),), _said(value))
        for name, value in sorted(values.items(), key=lambda one: -one[1])
    ]
    return _ranking(title, lines)


def _ranking(title: str, lines: Sequence[RankedLine], parts: tuple[str, ...] = ()) -> Ranking:
    """The first players; of many the rest is in the tables."""
    first = f", the first {MOST} of {len(lines)}" if len(lines) > MOST else ""
    return Ranking(f"{title}{first}", tuple(lines[:MOST]), parts)


def _said(value: float) -> str:
    return f"{value:,.0f}" if value >= _WHOLE else f"{value:.3g}"


WIDTH, HEIGHT = 960, 340
LEFT, RIGHT, TOP, BOTTOM = 48, 190, 12, 28  # the margins: names stand at the right
NAMED = 8  # teams whose lines have a colour and a name, the best; the others' are behind them

ROUND, MOST_STEPS = (25, 50, 100, 200, 400, 800, 1600, 3200), 6
"""Elo points between two figures of the axis, and how many steps there are about."""

LINE = 15  # from one name down to the next


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
    step = next(one for one in ROUND if (high - low) / one <= MOST_STEPS)
    first = floor(low / step)
    return [step * number for number in range(first, max(ceil(high / step), first + 1) + 1)]


def _apart(places: Sequence[float]) -> list[float]:
    """The places of names from top to bottom, moved apart where one would lie on another."""
    lowered: list[float] = []
    for place in places:
        lowered.append(max(place, lowered[-1] + LINE if lowered else TOP + LINE / 2))
    raised: list[float] = []
    for place in reversed(lowered):
        raised.append(min(place, raised[-1] - LINE if raised else HEIGHT - BOTTOM))
    return raised[::-1]
