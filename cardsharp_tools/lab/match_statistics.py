"""Statistics of many analysed matches: of each side, and of groups of sides."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import islice
from math import fsum, inf, isfinite, sqrt
from statistics import correlation, fmean, stdev
from typing import NamedTuple

from cardsharp.analysis.judge import Judge
from cardsharp.analysis.judged_match import SIDE_COUNT, MatchAnalysis, accuracy, side_of
from cardsharp.analysis.match_analysis import our_sides, side_names
from cardsharp.analysis.ratings import Z_95, Rating
from cardsharp.analysis.replay import header_of
from cardsharp.contest.formats.ladder import rate_teams
from cardsharp.errors import ConfigError, StoreError
from cardsharp.play.catalog import get_game
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp_tools.lab.confidence_interval import Interval, mean_interval
from cardsharp_tools.match_sources.analysis_cache import analyse_with_cache, find_analysis
from cardsharp_tools.terminal.match_printer import judge_value_text

_AT_ONCE = 64  # matches in memory at a time; each is about a megabyte

StoredMatch = tuple[MatchRecord, Sequence[MoveRecord]]


class SideStatistics(NamedTuple):
    """Statistics of one side of a match, from its point of view.

    `cost` is the value that all its decisions lost. `stakes` is the sum, over these decisions, of
    the difference between the best and the worst option.
    """

    player: str
    opponent: str
    version: str
    day: str
    tags: tuple[str, ...]
    result: float
    luck: float
    cost: float
    stakes: float
    mark_counts: Mapping[str, int]
    counts: Mapping[str, int]
    luck_adjusted_result: float | None = None


class Estimate(NamedTuple):
    """Mean with its 95 % confidence interval."""

    mean: float
    interval: Interval

    @property
    def document(self) -> dict[str, float | None]:
        """Return the estimate as a JSON document; a single match has no interval."""
        low, high = (end if isfinite(end) else None for end in self.interval)
        return {"mean": self.mean, "low": low, "high": high}


class SideGroup(NamedTuple):
    """Group of sides of matches. `results_are_shares` is True if results are shares of 1."""

    sides: Sequence[SideStatistics]
    results_are_shares: bool

    @property
    def mean_result(self) -> Estimate:
        """Mean result of a match."""
        results = [side.result for side in self.sides]
        mean = mean_with_margin(results)
        return Estimate(mean.mean, mean_interval(results)) if self.results_are_shares else mean

    @property
    def luck_adjusted_mean(self) -> Estimate | None:
        """Mean result of a match without its luck, with the same expectation; None if unknown."""
        results = [
            side.luck_adjusted_result
            for side in self.sides
            if side.luck_adjusted_result is not None
        ]
        return mean_with_margin(results) if len(results) == len(self.sides) else None

    @property
    def mean_luck(self) -> Estimate:
        """Mean luck of the cards in a match."""
        return mean_with_margin([side.luck for side in self.sides])

    @property
    def accuracy(self) -> Estimate | None:
        """Accuracy over all decisions, or None if there were none."""
        costs, stakes = ([side.cost for side in self.sides], [side.stakes for side in self.sides])
        total_stakes, total_cost = fsum(stakes), fsum(costs)
        mean = accuracy(total_cost, total_stakes)
        if mean is None:
            return None
        # Linearised error of a ratio of two sums: the residual of each match against the overall
        # ratio.
        rests = [
            cost - total_cost / total_stakes * stake
            for cost, stake in zip(costs, stakes, strict=True)
        ]
        error = mean_with_margin(rests).interval.margin * len(stakes)
        low, high = (accuracy(max(0.0, total_cost + off), total_stakes) for off in (error, -error))
        return Estimate(mean, Interval(low or 0.0, high or 0.0))

    @property
    def luck_result_correlation(self) -> float | None:
        """Correlation of luck and result, or None if either is constant."""
        lucks, results = [side.luck for side in self.sides], [side.result for side in self.sides]
        if len(set(lucks)) < 2 or len(set(results)) < 2:  # noqa: PLR2004 - a spread takes two
            return None
        return correlation(lucks, results)

    def mean_count(self, name: str) -> float:
        """Return the mean number per match of the events, or of the marks, with this name."""
        return fmean({**side.counts, **side.mark_counts}.get(name, 0) for side in self.sides)


class PlainAndAdjustedRating(NamedTuple):
    """Rating of a player by results, and by luck-adjusted results if all are known."""

    plain: Rating
    luck_adjusted: Rating | None


def ratings_by_player(
    matches: Iterable[Sequence[SideStatistics]],
) -> dict[str, PlainAndAdjustedRating]:
    """Return the ratings of the players of judged matches, the best first.

    The results must be shares of 1.
    """
    firsts = [sides[0] for sides in matches if sides[0].player != sides[0].opponent]
    player_names = {name for side in firsts for name in (side.player, side.opponent)}
    plain = rate_teams(
        player_names, (((side.player, side.opponent), side.result) for side in firsts)
    )
    adjusted = [
        (side, side.luck_adjusted_result)
        for side in firsts
        if side.luck_adjusted_result is not None
    ]
    adjusted_results = (((side.player, side.opponent), share) for side, share in adjusted)
    less = rate_teams(player_names, adjusted_results) if len(adjusted) == len(firsts) else {}
    ranked_names = sorted(plain, key=lambda name: -plain[name].value)
    return {name: PlainAndAdjustedRating(plain[name], less.get(name)) for name in ranked_names}


def mean_with_margin(values: Sequence[float]) -> Estimate:
    """Return the mean of independent values; a single value has an infinite interval."""
    mean = fmean(values)
    if len(values) == 1:
        return Estimate(mean, Interval(-inf, inf))
    margin = Z_95 * stdev(values) / sqrt(len(values))
    return Estimate(mean, Interval(mean - margin, mean + margin))


def our_side_statistics(game_name: str, match: StoredMatch) -> list[SideStatistics]:
    """Return the statistics of our sides of a finished match, both if neither is ours.

    The result is empty for a match that cannot be judged, and for one with an unreadable
    move: what remains of it is another match.
    """
    record, moves = match
    if any(move.read_error is not None for move in moves):
        return []
    try:
        analysis = analyse_with_cache(get_game(game_name), record, moves)
    except (ConfigError, StoreError):
        return []
    return _our_sides_of_analysis(analysis, record)


def _our_sides_of_analysis(analysis: MatchAnalysis, record: MatchRecord) -> list[SideStatistics]:
    if analysis.result is None:
        return []
    header, sides = header_of(record), []
    player_names = side_names(analysis, header)
    for side in sorted(our_sides(analysis, header) or range(SIDE_COUNT)):
        player, decisions = (
            analysis.players[side],
            [d for d in analysis.decisions if side_of(d.seat) == side],
        )
        sides.append(
            SideStatistics(
                player=player_names[side],
                opponent=player_names[1 - side],
                version=header.version or "",
                day=f"{record.started_at:%Y-%m-%d}",
                tags=header.tags,
                result=analysis.value_for(side, analysis.result),
                luck=player.luck,
                cost=fsum(decision.cost for decision in decisions),
                stakes=fsum(decision.stake for decision in decisions),
                mark_counts={str(mark): mark_count for mark, mark_count in player.marks.items()},
                counts={game_name: counts[side] for game_name, counts in analysis.counts.items()},
                luck_adjusted_result=analysis.luck_adjusted_result(side),
            )
        )
    return sides


def side_statistics_by_match(
    game_name: str, matches: Iterable[StoredMatch], pool: Executor | None
) -> Iterator[list[SideStatistics]]:
    """Yield the side statistics of each match in order, and read matches lazily.

    Only matches without a cached analysis go to the pool, which takes a second to start.
    """
    rest, game = iter(matches), get_game(game_name)
    while batch := list(islice(rest, _AT_ONCE)):
        analyses = [find_analysis(game, *match) for match in batch]
        missing = [
            match for match, analysis in zip(batch, analyses, strict=True) if analysis is None
        ]
        run = map if pool is None or not missing else pool.map
        judged = iter(run(our_side_statistics, [game_name] * len(missing), missing))
        for (record, _), analysis in zip(batch, analyses, strict=True):
            yield next(judged) if analysis is None else _our_sides_of_analysis(analysis, record)


class GroupBy(StrEnum):
    """Property by which matches are grouped."""

    OPPONENT = "opponent"
    STRATEGY = "strategy"
    VERSION = "version"
    DAY = "day"
    TAG = "tag"


_GROUP_NAMES: Mapping[GroupBy, Callable[[SideStatistics], Sequence[str]]] = {
    GroupBy.OPPONENT: lambda side: (side.opponent,),
    GroupBy.STRATEGY: lambda side: (side.player,),
    GroupBy.VERSION: lambda side: (f"{side.version[:6]} {side.player}".strip(),),
    GroupBy.DAY: lambda side: (side.day,),
    GroupBy.TAG: lambda side: side.tags or ("no tag",),
}


@dataclass(frozen=True)
class JudgedMatchSet:
    """The newest matches that could be judged, by id, with their selected sides."""

    judge: Judge
    max_matches: int
    matches: Sequence[tuple[str, Sequence[SideStatistics]]]

    @cached_property
    def side_statistics(self) -> list[SideStatistics]:
        """Statistics of the sides of all matches, in one list."""
        return [side for _, sides in self.matches for side in sides]

    @cached_property
    def ratings(self) -> Mapping[str, PlainAndAdjustedRating]:
        """Ratings of the players, if results are shares."""
        return (
            ratings_by_player(sides for _, sides in self.matches)
            if self.judge.value_sum == 1
            else {}
        )

    @cached_property
    def all_matches_have_both_sides(self) -> bool:
        """True if every match has both sides, as in a contest, and not only our own."""
        return all(
            len(sides) == SIDE_COUNT and sides[0].player != sides[0].opponent
            for _, sides in self.matches
        )

    @property
    def default_grouping(self) -> GroupBy:
        """Grouping by opponent if only our side is counted, else by strategy."""
        return GroupBy.STRATEGY if self.all_matches_have_both_sides else GroupBy.OPPONENT

    def groups(self, by: GroupBy) -> dict[str, SideGroup]:
        """Return the groups of sides by name, the largest first."""
        sides_by_name: dict[str, list[SideStatistics]] = defaultdict(list)
        for side in self.side_statistics:
            for name in _GROUP_NAMES[by](side):
                sides_by_name[name].append(side)
        groups = {
            name: SideGroup(sides, self.judge.value_sum == 1)
            for name, sides in sides_by_name.items()
        }

        def order(name: str) -> tuple[float, int, str]:
            group = groups[name]
            merit = group.mean_result.mean if by is GroupBy.STRATEGY else 0.0
            return -merit, -len(group.sides), name

        return {name: groups[name] for name in sorted(groups, key=order)}


def format_estimate(estimate: Estimate | None, number_format: str) -> str:
    """Return a mean with its margin as text; shares in per cent, the margin without a sign."""
    if estimate is None:
        return "-"
    mean, margin = judge_value_text(number_format, estimate.mean), estimate.interval.margin
    within = (
        f" ± {judge_value_text(number_format.removeprefix('+'), margin)}"
        if isfinite(margin)
        else ""
    )
    return f"{mean}{within}".replace(" %", "")
