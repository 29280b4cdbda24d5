"""Result of a duel: points, and other counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from statistics import fmean, pvariance
from typing import NamedTuple

from cardsharp.play.simulation import RatioStat
from cardsharp_tools.lab.confidence_interval import Interval, mean_interval
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.lab.sprt import elo_from_share

MatchCounts = Mapping[str, tuple[float, ...]]  # by name: both players', or one for the match


class MatchLuck(NamedTuple):
    """Luck of the first player in a match.

    `resampled_share` is the mean share over all endings that were played, with the real one.
    `card_luck` is the luck of the cards before these endings.
    """

    resampled_share: float
    card_luck: float


@dataclass(frozen=True, slots=True)
class MatchResult:
    """Result of a match for the first player."""

    points: float
    counts: MatchCounts
    luck: MatchLuck | None = None


Pair = tuple[
    MatchResult, ...
]  # of one deal, one match for each side that the first player can have
_PRIOR = 0.3  # a sum of squared luck, some ten pairs', over which the judge is believed beforehand


class LuckAdjuster:
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

    def adjusted_share(self, pair: Pair) -> float:
        """The share of the next pair; the plain one where nothing is known of its luck."""
        lucks = [match.luck for match in pair if match.luck is not None]
        if len(lucks) < len(pair):
            return fmean(match.points for match in pair)
        resampled, cards = (
            fmean(luck.resampled_share for luck in lucks),
            fmean(luck.card_luck for luck in lucks),
        )
        less = resampled - self._products / self._squares * cards
        self._products += (resampled - self._sum / self._number) * cards
        self._squares += cards * cards
        self._number += 1
        self._sum += resampled
        return less


EVEN_PERCENT = 50.0
TWO_PLAYERS = 2


def first_player_share(pair: Pair) -> float:
    """The share of the points that the first player made in a pair."""
    return fmean(match.points for match in pair)


class LuckAdjustedResult(NamedTuple):
    """Points in 100 without luck; it takes `worth` times as many matches to know plain ones so."""

    points: float
    interval: Interval
    variance_ratio: float

    @property
    def document(self) -> dict[str, float]:
        """The figures as JSON."""
        figures = {"points": self.points, "lower": self.interval.low, "upper": self.interval.high}
        return {
            name: round(figure, 3)
            for name, figure in {**figures, "worth": self.variance_ratio}.items()
        }


@dataclass(frozen=True, slots=True)
class DuelResult:
    """A plan that was played, pair by pair."""

    plan: DuelPlan
    pairs: tuple[Pair, ...]

    @property
    def matches(self) -> tuple[MatchResult, ...]:
        """All matches, those of a pair one after the other."""
        return tuple(match for pair in self.pairs for match in pair)

    @property
    def points(self) -> float:
        """Wins of the first player plus half its ties, in per cent."""
        return 100 * fmean(map(first_player_share, self.pairs))

    @property
    def interval(self) -> Interval:
        """The 95 % interval of `points`."""
        return mean_interval(
            [*map(first_player_share, self.pairs)], self.plan.matches_per_pair
        ).scaled(100)

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the points of each pair, without luck where that is known."""
        return tuple(map(LuckAdjuster().adjusted_share, self.pairs))

    @property
    def luck_adjusted(self) -> LuckAdjustedResult | None:
        """The points without luck, None where nothing is known of it."""
        if not self.plan.luck_adjusted:
            return None
        shares, plain = self.shares, pvariance(map(first_player_share, self.pairs))
        rest, bounds = (
            pvariance(shares),
            mean_interval(shares, self.plan.matches_per_pair).scaled(100),
        )
        return LuckAdjustedResult(100 * fmean(shares), bounds, plain / rest if rest else 1.0)

    @property
    def best_estimate(self) -> tuple[float, Interval]:
        """The points and their interval as well as they are known."""
        less = self.luck_adjusted
        return (self.points, self.interval) if less is None else (less.points, less.interval)

    def total(self, count_name: str, player: int) -> float:
        """The sum of a count of player 0 or 1, or of the matches where it is theirs."""
        values = (match.counts[count_name] for match in self.matches)
        return sum(value[min(player, len(value) - 1)] for value in values)

    def figure(self, figure: RatioStat, player: int) -> float:
        """A figure of the game, of player 0 or 1."""
        per = (
            len(self.matches)
            if figure.denominator is None
            else self.total(figure.denominator, player)
        )
        return self.total(figure.numerator, player) / per if per else 0.0

    def __str__(self) -> str:
        plan, bounds = self.plan, self.interval
        fair = (
            f"; equal players: {100 * plan.expected_share:.1f}" if plan.opponent_copies > 1 else ""
        )
        points = f"{self.points:.1f} % of the points in {len(self.matches)} matches"
        bounded = f"(95 %: {bounds.low:.1f} to {bounds.high:.1f}{fair})"
        lines = [f"{plan.title}: {points} {bounded}"]
        less = self.luck_adjusted
        if less is not None:
            within = f"(95 %: {less.interval.low:.1f} to {less.interval.high:.1f})"
            worth = f"as from {less.variance_ratio:.1f} times as many matches"
            lines.append(f"  luck-adjusted: {less.points:.1f} % {within}, {worth}")
        if self.is_two_player:
            ends = ("unbounded" if bound is None else f"{bound:+.0f}" for bound in self.elo)
            stronger = self.stronger_player
            verdict = (
                "it is not shown who is stronger" if stronger is None else f"{stronger} is stronger"
            )
            lines.append("  {}: Elo {} (95 %: {} to {})".format(verdict, *ends))
            sides = " and ".join(f"{100 * share:.1f} %" for share in self.shares_by_side)
            lines.append(f"  from either seat {sides}")
        figures, counted = plan.simulation.stats, self.matches[0].counts
        player_figures = [figure for figure in figures if len(counted[figure.numerator]) > 1]
        shared = [figure for figure in figures if figure not in player_figures]
        for name, some, player in (
            (plan.first, player_figures, 0),
            (plan.second, player_figures, 1),
            ("a match", shared, 0),
        ):
            if some:
                text = ", ".join(
                    figure.format.format(self.figure(figure, player)) for figure in some
                )
                lines.append(f"  {name}: {text.replace('%', ' %')}")
        return "\n".join(lines)

    @property
    def is_two_player(self) -> bool:
        """True if one player meets one other, so that strength can be given in Elo."""
        return self.plan.opponent_copies == 1 and self.plan.matches_per_pair == TWO_PLAYERS

    @property
    def elo(self) -> tuple[float | None, float | None, float | None]:
        """The Elo difference and the ends of its 95 % interval, None for one without bound."""
        points, bounds = self.best_estimate
        differences = (elo_from_share(share / 100) for share in (points, bounds.low, bounds.high))
        elo, low, high = (
            difference if isfinite(difference) else None for difference in differences
        )
        return elo, low, high

    @property
    def stronger_player(self) -> str | None:
        """Name of the player that is significantly stronger, or None."""
        points, bounds = self.best_estimate
        if bounds.low <= EVEN_PERCENT <= bounds.high:
            return None
        return self.plan.first if points > EVEN_PERCENT else self.plan.second

    @property
    def shares_by_side(self) -> tuple[float, ...]:
        """The first player's share of the points from each side."""
        return tuple(
            fmean(match.points for match in side) for side in zip(*self.pairs, strict=True)
        )

    def as_json(self) -> dict[str, object]:
        """All that was measured; `counts` are sums, each player's or the matches'."""
        plan, bounds, less = self.plan, self.interval, self.luck_adjusted
        counted, verdict = self.matches[0].counts, dict[str, object]()
        if self.is_two_player:
            elo = (None if value is None else round(value, 1) for value in self.elo)
            verdict = dict(zip(("elo", "eloLower", "eloUpper"), elo, strict=True))
            verdict["stronger"] = self.stronger_player
        return {
            "game": plan.game,
            "players": [plan.first, plan.second],
            "copies": plan.opponent_copies,
            "pairs": plan.pairs,
            "matches": len(self.matches),
            "seed": plan.seed,
            "series": plan.series_length,
            "points": round(self.points, 3),
            "lower": round(bounds.low, 3),
            "upper": round(bounds.high, 3),
            "margin": round(bounds.margin, 3),
            **({} if less is None else {"lessLuck": less.document}),
            **verdict,
            "bySide": [round(100 * share, 3) for share in self.shares_by_side],
            "counts": {
                name: [self.total(name, at) for at in range(len(values))]
                for name, values in counted.items()
            },
        }
