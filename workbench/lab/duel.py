"""What came of a duel: points, and other counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from statistics import fmean, pvariance
from typing import NamedTuple

from cardsharp.simulation import Figure
from workbench.lab.interval import Interval, interval
from workbench.lab.plan import Plan
from workbench.lab.sprt import elo_of

Counts = Mapping[str, tuple[float, ...]]  # by name: both players', or one for the match


class Luck(NamedTuple):
    """What tells the luck of a match, for the first player.

    `again` is its mean share over all ends played, the real one too; `cards` what came before them.
    """

    again: float
    cards: float


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended for the first player."""

    points: float
    counts: Counts
    luck: Luck | None = None


Pair = tuple[Result, ...]  # of one deal, one match for each side that the first player can have
_PRIOR = 0.3  # a sum of squared luck, some ten pairs', over which the judge is believed beforehand


class LessLuck:
    """The first player's shares of pairs without the luck that is known, in the pairs' order.

    Nothing is shifted, and fewer matches tell the same. Two parts of the luck are known. What the
    cards brought before the last ones, a judge tells, as the worth of what came less the mean worth
    of what could have come: its mean is 0 whatever the judge thinks, so a wrong judge takes out
    less and shifts nothing. The last cards, of which judges know least, are played again a few
    times by the players themselves, and the mean of all these ends counts. How far the judge is
    believed follows from the pairs before, never from the pair itself.
    """

    def __init__(self) -> None:
        self._products = self._squares = _PRIOR
        self._number, self._sum = 1.0, 0.5

    def share(self, pair: Pair) -> float:
        """The share of the next pair; the plain one where nothing is known of its luck."""
        known = [match.luck for match in pair if match.luck is not None]
        if len(known) < len(pair):
            return fmean(match.points for match in pair)
        again, cards = fmean(one.again for one in known), fmean(one.cards for one in known)
        less = again - self._products / self._squares * cards
        self._products += (again - self._sum / self._number) * cards
        self._squares += cards * cards
        self._number += 1
        self._sum += again
        return less


EVEN = 50.0
TWO = 2


def share_of(pair: Pair) -> float:
    """The share of the points that the first player made in a pair."""
    return fmean(match.points for match in pair)


class WithoutLuck(NamedTuple):
    """Points in 100 without luck; it takes `worth` times as many matches to know plain ones so."""

    points: float
    bounds: Interval
    worth: float

    @property
    def document(self) -> dict[str, float]:
        """The figures as JSON."""
        told = {"points": self.points, "lower": self.bounds.low, "upper": self.bounds.high}
        return {name: round(one, 3) for name, one in {**told, "worth": self.worth}.items()}


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
        return interval([*map(share_of, self.pairs)], self.plan.matches_a_pair).scaled(100)

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the points of each pair, without luck where that is known."""
        return tuple(map(LessLuck().share, self.pairs))

    @property
    def less_luck(self) -> WithoutLuck | None:
        """The points without luck, None where nothing is known of it."""
        if not self.plan.less_luck:
            return None
        shares, plain = self.shares, pvariance(map(share_of, self.pairs))
        rest, bounds = pvariance(shares), interval(shares, self.plan.matches_a_pair).scaled(100)
        return WithoutLuck(100 * fmean(shares), bounds, plain / rest if rest else 1.0)

    @property
    def best(self) -> tuple[float, Interval]:
        """The points and their interval as well as they are known."""
        less = self.less_luck
        return (self.points, self.interval) if less is None else (less.points, less.bounds)

    def total(self, count: str, player: int) -> float:
        """The sum of a count of player 0 or 1, or of the matches where it is theirs."""
        values = (match.counts[count] for match in self.matches)
        return sum(value[min(player, len(value) - 1)] for value in values)

    def figure(self, figure: Figure, player: int) -> float:
        """A figure of the game, of player 0 or 1."""
        per = len(self.matches) if figure.per is None else self.total(figure.per, player)
        return self.total(figure.count, player) / per if per else 0.0

    def __str__(self) -> str:
        plan, bounds = self.plan, self.interval
        fair = f"; equal players: {100 * plan.fair:.1f}" if plan.copies > 1 else ""
        points = f"{self.points:.1f} % of the points in {len(self.matches)} matches"
        bounded = f"(95 %: {bounds.low:.1f} to {bounds.high:.1f}{fair})"
        lines = [f"{plan.title}: {points} {bounded}"]
        less = self.less_luck
        if less is not None:
            within = f"(95 %: {less.bounds.low:.1f} to {less.bounds.high:.1f})"
            worth = f"as from {less.worth:.1f} times as many matches"
            lines.append(f"  less luck: {less.points:.1f} % {within}, {worth}")
        if self.is_of_two:
            ends = ("unbounded" if one is None else f"{one:+.0f}" for one in self.elo)
            who = self.stronger
            shown = "it is not shown who is stronger" if who is None else f"{who} is stronger"
            lines.append("  {}: Elo {} (95 %: {} to {})".format(shown, *ends))
            sides = " and ".join(f"{100 * share:.1f} %" for share in self.by_side)
            lines.append(f"  from either seat {sides}")
        figures, counted = plan.simulation.figures, self.matches[0].counts
        own = [one for one in figures if len(counted[one.count]) > 1]
        shared = [one for one in figures if one not in own]
        for name, some, player in (
            (plan.first, own, 0),
            (plan.second, own, 1),
            ("a match", shared, 0),
        ):
            if some:
                told = ", ".join(one.text.format(self.figure(one, player)) for one in some)
                lines.append(f"  {name}: {told.replace('%', ' %')}")
        return "\n".join(lines)

    @property
    def is_of_two(self) -> bool:
        """Whether one plays against one, so that strength can be told in Elo."""
        return self.plan.copies == 1 and self.plan.matches_a_pair == TWO

    @property
    def elo(self) -> tuple[float | None, float | None, float | None]:
        """The Elo difference and the ends of its 95 % interval, None for one without bound."""
        points, bounds = self.best
        found = (elo_of(share / 100) for share in (points, bounds.low, bounds.high))
        elo, low, high = (one if isfinite(one) else None for one in found)
        return elo, low, high

    @property
    def stronger(self) -> str | None:
        """Who is shown to be stronger, None where nobody is."""
        points, bounds = self.best
        if bounds.low <= EVEN <= bounds.high:
            return None
        return self.plan.first if points > EVEN else self.plan.second

    @property
    def by_side(self) -> tuple[float, ...]:
        """The first player's share of the points from each side."""
        return tuple(fmean(one.points for one in side) for side in zip(*self.pairs, strict=True))

    def as_json(self) -> dict[str, object]:
        """All that was measured; `counts` are sums, each player's or the matches'."""
        plan, bounds, less = self.plan, self.interval, self.less_luck
        counted, verdict = self.matches[0].counts, dict[str, object]()
        if self.is_of_two:
            elo = (None if one is None else round(one, 1) for one in self.elo)
            verdict = dict(zip(("elo", "eloLower", "eloUpper"), elo, strict=True))
            verdict["stronger"] = self.stronger
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
            **({} if less is None else {"lessLuck": less.document}),
            **verdict,
            "bySide": [round(100 * share, 3) for share in self.by_side],
            "counts": {
                name: [self.total(name, at) for at in range(len(values))]
                for name, values in counted.items()
            },
        }
