"""What came of a duel: points with their interval, and what else a game counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from cardsharp.simulation import Figure
from workbench.lab.interval import Interval, interval
from workbench.lab.plan import Plan
from workbench.lab.results import Pair, Result

MS = 1000


def share_of(pair: Pair) -> float:
    """The share of the points that the first player made in a pair."""
    return fmean(match.points for match in pair)


@dataclass(frozen=True, slots=True)
class Duel:
    """A plan that was played, pair by pair."""

    plan: Plan
    pairs: tuple[Pair, ...]

    @property
    def matches(self) -> tuple[Result, ...]:
        """All matches, those of a pair one after the other."""
        return tuple(match for pair in self.pairs for match in pair)

    @property
    def points(self) -> float:
        """Wins of the first player plus half its ties, in per cent."""
        return 100 * fmean(map(share_of, self.pairs))

    @property
    def interval(self) -> Interval:
        """The 95 % interval of `points`."""
        shares = [share_of(pair) for pair in self.pairs]
        return interval(shares, self.plan.matches_a_pair).scaled(100)

    def total(self, count: str, player: int) -> float:
        """The sum of a count of player 0 or 1, or of the matches where it is theirs."""
        values = (match.counts[count] for match in self.matches)
        return sum(value[min(player, len(value) - 1)] for value in values)

    def figure(self, figure: Figure, player: int) -> float:
        """A figure of the game, of player 0 or 1."""
        per = len(self.matches) if figure.per is None else self.total(figure.per, player)
        return self.total(figure.count, player) / per if per else 0.0

    @property
    def slowest(self) -> float | None:
        """Milliseconds that 95 % of the first player's decisions took at most, if measured."""
        times = sorted(second for match in self.matches for second in match.seconds)
        return MS * times[min(len(times) - 1, int(0.95 * len(times)))] if times else None

    def __str__(self) -> str:
        plan, bounds = self.plan, self.interval
        fair = f"; equal players: {100 * plan.fair:.1f}" if plan.copies > 1 else ""
        points = f"{self.points:.1f} % of the points in {len(self.matches)} matches"
        bounded = f"(95 %: {bounds.low:.1f} to {bounds.high:.1f}{fair})"
        lines = [f"{plan.title}: {points} {bounded}"]
        own, shared = _by_owner(plan.simulation.figures, self)
        for player, name in enumerate((plan.first, plan.second) if own else ()):
            lines.append(self._line(name, own, player))
        if shared:
            lines.append(self._line("a match", shared, 0))
        return "\n".join(lines)

    def _line(self, name: str, figures: Sequence[Figure], player: int) -> str:
        told = ", ".join(one.text.format(self.figure(one, player)) for one in figures)
        return f"  {name}: {told.replace('%', ' %')}"

    def as_json(self) -> dict[str, object]:
        """All that was measured; `counts` are sums, each player's or the matches'."""
        plan, bounds = self.plan, self.interval
        counted = self.matches[0].counts
        return {
            "game": plan.game,
            "players": [plan.first, plan.second],
            "copies": plan.copies,
            "pairs": plan.pairs,
            "matches": len(self.matches),
            "seed": plan.seed,
            "series": plan.series,
            "points": round(self.points, 3),
            "lower": round(bounds.low, 3),
            "upper": round(bounds.high, 3),
            "margin": round(bounds.margin, 3),
            "counts": {
                name: [self.total(name, at) for at in range(len(values))]
                for name, values in counted.items()
            },
        }


def _by_owner(figures: Sequence[Figure], played: Duel) -> tuple[list[Figure], list[Figure]]:
    """The figures of each player, and those of the matches."""
    counted = played.matches[0].counts
    own = [one for one in figures if len(counted[one.count]) > 1]
    return own, [one for one in figures if one not in own]
