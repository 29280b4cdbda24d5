"""Many matches analysed: what each side of each came to, and what groups of them have in common."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from itertools import islice
from math import fsum, inf, isfinite, sqrt
from statistics import correlation, fmean, stdev
from typing import NamedTuple

from cardsharp.analysis import SIDES, accuracy, analyse, side_names, side_of
from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.contest.ladder import ratings
from cardsharp.errors import ConfigError, StoreError
from cardsharp.games import game
from cardsharp.ratings import NORMAL_95, Rating
from cardsharp.replay import header_of
from workbench.lab.interval import Interval, interval
from workbench.show.analysis import our_sides

_AT_ONCE = 64  # matches in memory: each is about a megabyte

Stored = tuple[MatchRecord, Sequence[MoveRecord]]


class AnalysedSide(NamedTuple):
    """What one side of a match came to; `result`, `luck` and the skills are as that side has them.

    `cost` and `stake` are of all its decisions: what they cost, and what lay between the best
    option and the worst.
    """

    player: str
    against: str
    version: str
    day: str
    tags: tuple[str, ...]
    result: float
    luck: float
    cost: float
    stake: float
    marks: Mapping[str, int]
    counts: Mapping[str, int]
    less_luck: float | None = None  # the result without what chance brought, where that is known


class Estimate(NamedTuple):
    """A mean, and where it lies with 95 % confidence."""

    mean: float
    within: Interval

    @property
    def document(self) -> dict[str, float | None]:
        """The estimate for programs; of a single match nobody knows how far off it is."""
        low, high = (end if isfinite(end) else None for end in self.within)
        return {"mean": self.mean, "low": low, "high": high}


class Group(NamedTuple):
    """Sides of matches that belong together; `shares` says whether results are shares of 1."""

    sides: Sequence[AnalysedSide]
    shares: bool

    @property
    def result(self) -> Estimate:
        """What a match brought."""
        results = [side.result for side in self.sides]
        found = mean_of(results)
        return Estimate(found.mean, interval(results)) if self.shares else found

    @property
    def without_luck(self) -> Estimate | None:
        """What a match would have brought without luck, the same in the mean; None if unknown."""
        found = [side.less_luck for side in self.sides if side.less_luck is not None]
        return mean_of(found) if len(found) == len(self.sides) else None

    @property
    def luck(self) -> Estimate:
        """What the cards brought in a match."""
        return mean_of([side.luck for side in self.sides])

    @property
    def accuracy(self) -> Estimate | None:
        """The accuracy over all decisions of all matches, None where nothing was to be decided."""
        costs, stakes = ([side.cost for side in self.sides], [side.stake for side in self.sides])
        whole, lost = fsum(stakes), fsum(costs)
        mean = accuracy(lost, whole)
        if mean is None:
            return None
        # How far each match lies from the whole: the error of a ratio of two sums.
        rests = [cost - lost / whole * stake for cost, stake in zip(costs, stakes, strict=True)]
        error = mean_of(rests).within.margin * len(stakes)
        low, high = (accuracy(max(0.0, lost + off), whole) for off in (error, -error))
        return Estimate(mean, Interval(low or 0.0, high or 0.0))

    @property
    def luck_with_result(self) -> float | None:
        """The correlation of luck and result, None where either was always the same."""
        lucks, results = [one.luck for one in self.sides], [one.result for one in self.sides]
        if len(set(lucks)) < 2 or len(set(results)) < 2:  # noqa: PLR2004 - a spread takes two
            return None
        return correlation(lucks, results)

    def counted(self, name: str) -> float:
        """How many of these, or of that mark, a match had."""
        return fmean({**side.counts, **side.marks}.get(name, 0) for side in self.sides)


class TwoRatings(NamedTuple):
    """A player's rating by the results, and by those without luck where all are known."""

    plain: Rating
    less_luck: Rating | None


def two_ratings(matches: Iterable[Sequence[AnalysedSide]]) -> dict[str, TwoRatings]:
    """The ratings by the judged sides of some matches, whose results are shares; the best first."""
    firsts = [sides[0] for sides in matches if sides[0].player != sides[0].against]
    names = {name for one in firsts for name in (one.player, one.against)}
    plain = ratings(names, (((one.player, one.against), one.result) for one in firsts))
    known = [(one, one.less_luck) for one in firsts if one.less_luck is not None]
    told = (((one.player, one.against), share) for one, share in known)
    less = ratings(names, told) if len(known) == len(firsts) else {}
    order = sorted(plain, key=lambda name: -plain[name].value)
    return {name: TwoRatings(plain[name], less.get(name)) for name in order}


def mean_of(values: Sequence[float]) -> Estimate:
    """The mean of independent values; of a single one nothing is known of how far it may lie."""
    mean = fmean(values)
    if len(values) == 1:
        return Estimate(mean, Interval(-inf, inf))
    margin = NORMAL_95 * stdev(values) / sqrt(len(values))
    return Estimate(mean, Interval(mean - margin, mean + margin))


def sides_of(name: str, stored: Stored) -> list[AnalysedSide]:
    """Our sides of a finished match of game `name`, both where neither is; none unjudged.

    A match of which a move cannot be read is not judged: what is left of it is another match.
    """
    record, moves = stored
    if any(move.fault is not None for move in moves):
        return []
    try:
        found = analyse(game(name), record, moves)
    except (ConfigError, StoreError):
        return []
    if found.result is None:
        return []
    header, sides = header_of(record), []
    names = side_names(found, header)
    for side in sorted(our_sides(found, header) or range(SIDES)):
        player, own = found.players[side], [d for d in found.decisions if side_of(d.seat) == side]
        sides.append(
            AnalysedSide(
                player=names[side],
                against=names[1 - side],
                version=header.version or "",
                day=f"{record.started:%Y-%m-%d}",
                tags=header.tags,
                result=found.worth(side, found.result),
                luck=player.luck,
                cost=fsum(one.cost for one in own),
                stake=fsum(one.stake for one in own),
                marks={str(mark): number for mark, number in player.marks.items()},
                counts={name: counts[side] for name, counts in found.counts.items()},
                less_luck=found.less_luck(side),
            )
        )
    return sides


def analysed(
    name: str, matches: Iterable[Stored], pool: Executor | None
) -> Iterator[list[AnalysedSide]]:
    """The sides of each match in order; matches are read as they are needed, not all at once."""
    rest = iter(matches)
    while batch := list(islice(rest, _AT_ONCE)):
        names = [name] * len(batch)
        yield from map(sides_of, names, batch) if pool is None else pool.map(sides_of, names, batch)
