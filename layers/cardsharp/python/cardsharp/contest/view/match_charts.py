"""Charts of many matches: times, lengths, ends of turns, scores, and comparisons of players.

This module computes figures and shares of a length; `charts.jinja` draws them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor
from statistics import fmean
from typing import NamedTuple

from cardsharp.contest.formats.ladder import rate_teams
from cardsharp.contest.formats.pairing import TeamId
from cardsharp.contest.match_host import MatchResultFacts
from cardsharp.contest.models import RatingSnapshot

MAX_BARS, MAX_RANKING_ROWS = (
    48,
    24,
)  # as many bars stand side by side, and as many players one under the other

_TIME_SCALES = (
    ("a minute", timedelta(minutes=1), "%H:%M"),
    ("in ten minutes", timedelta(minutes=10), "%H:%M"),
    ("an hour", timedelta(hours=1), "%d %b %H:%M"),
    ("a day", timedelta(days=1), "%d %b"),
    ("a week", timedelta(days=7), "%d %b"),
    ("in thirty days", timedelta(days=30), "%b %Y"),
)
_BIN_WIDTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_INTEGER_THRESHOLD = 100  # from here on a figure has no decimals
_MAX_SQUARES = 16  # squares to a side of the heat map, at most


class FinishedMatch(NamedTuple):
    """A finished match: the names of its players and its detailed result."""

    player_names: tuple[str, ...]
    facts: MatchResultFacts


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bar chart of counts: each bar has the label below it and its count."""

    title: str
    bars: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Histogram2D:
    """Two-dimensional histogram, drawn as a heat map.

    `counts` are by bin of the lower number, then of the higher one.
    """

    title: str
    bin_size: int
    counts: tuple[tuple[int, ...], ...]


class RankedBar(NamedTuple):
    """Bar of a player in a ranked bar chart, with the figure beside it.

    A span is its start, its end and the index of its part; both ends are shares of the
    chart's length.
    """

    name: str
    spans: tuple[tuple[float, float, int], ...]
    label: str


@dataclass(frozen=True, slots=True)
class RankedBarChart:
    """Ranking of players from top to bottom; `legend` names the parts if there are several."""

    title: str
    lines: tuple[RankedBar, ...]
    legend: tuple[str, ...] = ()


AnyChart = BarChart | Histogram2D | RankedBarChart


def build_match_charts(matches: Sequence[FinishedMatch]) -> list[AnyChart]:
    """Return the charts for which the matches have enough data."""
    charts = (
        _chart_start_times(matches),
        _chart_move_counts(matches),
        _chart_scores(matches),
        *_chart_players(matches),
    )
    return [chart for chart in charts if chart is not None]


def _chart_start_times(played: Sequence[FinishedMatch]) -> BarChart | None:
    """Chart the start times of matches, in the finest steps that fit."""
    began = sorted(facts.began for _, facts in played if facts.began is not None)
    if not began or began[0] == began[-1]:
        return None
    fits = (
        scale
        for scale in _TIME_SCALES
        if (began[-1] - _floor_to_interval(began[0], scale[1])) / scale[1] < MAX_BARS
    )
    name, interval, time_format = next(fits, _TIME_SCALES[-1])
    axis_start = _floor_to_interval(began[0], interval)
    bar_count = (began[-1] - axis_start) // interval + 1
    counts = Counter((moment - axis_start) // interval for moment in began)
    bars = (
        (format(axis_start + at * interval, time_format), counts[at]) for at in range(bar_count)
    )
    return BarChart(f"Matches {name} (UTC)", tuple(bars))


def _floor_to_interval(moment: datetime, interval: timedelta) -> datetime:
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return start + (moment - start) // interval * interval


def _chart_move_counts(played: Sequence[FinishedMatch]) -> BarChart | None:
    """Chart the number of matches by their number of moves."""
    moves = [sum(facts.moves) for _, facts in played if facts.moves]
    if not moves:
        return None
    bin_width = _choose_bin_width(max(moves) - min(moves), MAX_BARS // 2)
    counts, first_bin = Counter(total // bin_width for total in moves), min(moves) // bin_width
    bars = (
        (str(at * bin_width), counts[at]) for at in range(first_bin, max(moves) // bin_width + 1)
    )
    return BarChart(f"Matches by their moves, in steps of {bin_width}", tuple(bars))


def _choose_bin_width(span: float, max_steps: int) -> int:
    return next((step for step in _BIN_WIDTHS if span / step < max_steps), _BIN_WIDTHS[-1])


def _chart_scores(played: Sequence[FinishedMatch]) -> Histogram2D | None:
    """Chart the frequency of each pair of scores, in matches of two players."""
    pairs = [sorted(facts.points) for _, facts in played if len(facts.points) == 2]  # noqa: PLR2004
    if not pairs or min(low for low, _ in pairs) < 0 or not max(high for _, high in pairs):
        return None
    bin_width = _choose_bin_width(max(high for _, high in pairs), _MAX_SQUARES)
    counts = Counter((int(low // bin_width), int(high // bin_width)) for low, high in pairs)
    side = range(max(high for _, high in counts) + 1)
    title = f"Scores: the higher one across, the lower one up, in steps of {bin_width}"
    return Histogram2D(
        title, bin_width, tuple(tuple(counts[low, high] for high in side) for low in side)
    )


_PlayerMatches = list[
    tuple[MatchResultFacts, int]
]  # the matches of a player, with its seat in each


def _chart_players(played: Sequence[FinishedMatch]) -> Iterator[RankedBarChart | None]:
    matches_by_player: defaultdict[str, _PlayerMatches] = defaultdict(list)
    for names, facts in played:
        for seat, name in enumerate(names[: len(facts.points)]):
            matches_by_player[name].append((facts, seat))
    yield _chart_ratings(played, matches_by_player)
    yield _chart_turn_ends(matches_by_player)
    yield _chart_figure("Points a match", matches_by_player, lambda facts: facts.points, fmean)
    yield _chart_figure("Moves a match", matches_by_player, lambda facts: facts.moves, fmean)
    yield _chart_figure("Time-outs", matches_by_player, lambda facts: facts.late, sum)
    yield _chart_figure("Autopicks", matches_by_player, lambda facts: facts.autopicks, sum)


def _chart_ratings(
    played: Sequence[FinishedMatch], matches_by_player: Mapping[str, _PlayerMatches]
) -> RankedBarChart | None:
    """Chart the ratings from all matches of two different players, with 95 % intervals."""
    shares = [
        ((names[first_index], names[second_index]), share)
        for names, facts in played
        if len(names) == len(facts.points)
        for first_index, second_index, share in facts.pairwise_shares()
        if names[first_index] != names[second_index]
    ]
    if not shares:
        return None
    met = {name for pair, _ in shares for name in pair}
    ratings_by_player = rate_teams([name for name in matches_by_player if name in met], shares)
    low = min(rating.value - rating.margin for rating in ratings_by_player.values())
    high = max(rating.value + rating.margin for rating in ratings_by_player.values())

    def at(value: float) -> float:
        return (value - low) / (high - low or 1)

    lines = []
    for name, item in sorted(ratings_by_player.items(), key=lambda item: -item[1].value):
        interval = (at(item.value - item.margin), at(item.value + item.margin), 0)
        value_span = (at(item.value) - 0.006, at(item.value) + 0.006, 1)
        lines.append(RankedBar(name, (interval, value_span), str(item.rounded)))
    return _build_ranking("Ratings in Elo points, with 95 % intervals", lines)


def _chart_turn_ends(matches_by_player: Mapping[str, _PlayerMatches]) -> RankedBarChart | None:
    """Chart the share of each player's turns that ended banked, bust, or out of time."""
    lines = []
    for name, matches in matches_by_player.items():
        recorded = [(facts, seat) for facts, seat in matches if facts.banked]
        each = [
            (facts.banked[seat], facts.busts[seat], facts.late[seat]) for facts, seat in recorded
        ]
        counts = [sum(kind) for kind in zip(*each, strict=True)]
        if total := sum(counts):
            ends = [sum(counts[:index]) / total for index in range(4)]
            spans = tuple((ends[index], ends[index + 1], index + 1) for index in range(3))
            lines.append(RankedBar(name, spans, f"{counts[1] / total:.0%}".replace("%", " %")))
    lines.sort(key=lambda line: line.spans[1][1] - line.spans[1][0])
    legend = ("banked", "bust (the figure)", "out of time")
    return _build_ranking("How turns ended", lines, legend) if lines else None


def _chart_figure(
    title: str,
    matches_by_player: Mapping[str, _PlayerMatches],
    get_values: Callable[[MatchResultFacts], Sequence[float]],
    combine: Callable[[Sequence[float]], float],
) -> RankedBarChart | None:
    """Chart one figure of each player, the highest first; None if all are zero."""
    values_by_player = {
        name: [get_values(facts)[seat] for facts, seat in matches if seat < len(get_values(facts))]
        for name, matches in matches_by_player.items()
    }
    values = {
        name: combine(player_values)
        for name, player_values in values_by_player.items()
        if player_values
    }
    max_value = max(values.values(), default=0)
    if max_value <= 0:
        return None
    lines = [
        RankedBar(name, ((0.0, max(0.0, value) / max_value, 1),), _format_value(value))
        for name, value in sorted(values.items(), key=lambda item: -item[1])
    ]
    return _build_ranking(title, lines)


def _build_ranking(
    title: str, lines: Sequence[RankedBar], legend: tuple[str, ...] = ()
) -> RankedBarChart:
    """Return a chart of the first players; only the tables have the others."""
    title_suffix = (
        f", the first {MAX_RANKING_ROWS} of {len(lines)}" if len(lines) > MAX_RANKING_ROWS else ""
    )
    return RankedBarChart(f"{title}{title_suffix}", tuple(lines[:MAX_RANKING_ROWS]), legend)


def _format_value(value: float) -> str:
    return f"{value:,.0f}" if value >= _INTEGER_THRESHOLD else f"{value:.3g}"


WIDTH, HEIGHT = 960, 340
LEFT_MARGIN, RIGHT_MARGIN, TOP_MARGIN, BOTTOM_MARGIN = (
    48,
    190,
    12,
    28,
)  # the margins: names stand at the right
MAX_LABELLED = (
    8  # teams whose lines have a colour and a name, the best; the others' are behind them
)

AXIS_STEPS, MAX_AXIS_STEPS = (25, 50, 100, 200, 400, 800, 1600, 3200), 6
"""Elo points between two figures of the axis, and how many steps there are about."""

LABEL_HEIGHT = 15  # from one name down to the next


@dataclass(frozen=True, slots=True)
class RatingSeries:
    """Line of a team; `rank` is its place among the best, from 1, `label_y` where its name is."""

    team: TeamId
    rank: int
    points: tuple[tuple[float, float], ...]
    label_y: float | None


@dataclass(frozen=True, slots=True)
class RatingChart:
    """Rating lines, the best last, and the labels of the axes."""

    series: tuple[RatingSeries, ...]
    ratings: tuple[tuple[float, int], ...]
    matches: tuple[tuple[float, int], ...]


def build_rating_chart(snapshots: Sequence[RatingSnapshot]) -> RatingChart | None:
    """Return the chart of the snapshots; None if there are fewer than two."""
    values = [rating.value for standing in snapshots for rating in standing.ratings.values()]
    if len(snapshots) < 2 or not values:  # noqa: PLR2004 - a line has two points
        return None
    first_played, last_played = snapshots[0].played, snapshots[-1].played
    steps = _compute_axis_ticks(min(values), max(values))
    low, high = steps[0], steps[-1]

    def across(played: int) -> float:
        return LEFT_MARGIN + (WIDTH - LEFT_MARGIN - RIGHT_MARGIN) * (played - first_played) / (
            last_played - first_played
        )

    def down(rating: float) -> float:
        return TOP_MARGIN + (HEIGHT - TOP_MARGIN - BOTTOM_MARGIN) * (high - rating) / (high - low)

    rated = snapshots[-1].ratings
    best = sorted(rated, key=lambda team: -rated[team].value)
    names = _spread_labels([down(rated[team].value) for team in best[:MAX_LABELLED]])
    series = [
        RatingSeries(
            team,
            rank,
            tuple(
                (across(standing.played), down(standing.ratings[team].value))
                for standing in snapshots
                if team in standing.ratings
            ),
            names[rank - 1] if rank <= MAX_LABELLED else None,
        )
        for rank, team in enumerate(best, 1)
    ]
    return RatingChart(
        tuple(reversed(series)),
        tuple((down(tick), tick) for tick in steps),
        tuple((across(played), played) for played in {first_played: None, last_played: None}),
    )


def _compute_axis_ticks(low: float, high: float) -> list[int]:
    """Return round values that enclose all ratings."""
    tick_interval = next(size for size in AXIS_STEPS if (high - low) / size <= MAX_AXIS_STEPS)
    first_tick = floor(low / tick_interval)
    return [
        tick_interval * tick_index
        for tick_index in range(first_tick, max(ceil(high / tick_interval), first_tick + 1) + 1)
    ]


def _spread_labels(positions: Sequence[float]) -> list[float]:
    """Spread labels from top to bottom so that they do not overlap."""
    lowered: list[float] = []
    for position in positions:
        lowered.append(
            max(position, lowered[-1] + LABEL_HEIGHT if lowered else TOP_MARGIN + LABEL_HEIGHT / 2)
        )
    raised: list[float] = []
    for position in reversed(lowered):
        raised.append(
            min(position, raised[-1] - LABEL_HEIGHT if raised else HEIGHT - BOTTOM_MARGIN)
        )
    return raised[::-1]
