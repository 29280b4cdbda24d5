"""Result of a duel: points, the luck-adjusted result, and other counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from statistics import fmean, pvariance
from typing import NamedTuple

from cardsharp.play.simulation import RatioStat
from cardsharp_tools.lab.confidence_interval import Interval, mean_interval
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.lab.sprt import elo_from_share

# by name: a number of each player, or one number of the match
MatchCounts = Mapping[str, tuple[float, ...]]


class FirstPlayerLuck(NamedTuple):
    """Luck of the first player in a match.

    `resampled_share` is the mean share over the real ending and all replayed endings. `card_luck`
    is the luck of the cards before these endings.
    """

    resampled_share: float
    card_luck: float


@dataclass(frozen=True, slots=True)
class FirstPlayerMatchResult:
    """Result of a match for the first player."""

    points: float
    counts: MatchCounts
    luck: FirstPlayerLuck | None = None


Pair = tuple[FirstPlayerMatchResult, ...]
"""Matches of one deal: one for each side that the first player can have."""

_PRIOR = 0.3  # prior sum of squared luck (some ten pairs) with which the judge is trusted


class LuckAdjuster:
    """Adjuster that removes the known luck from the first player's shares, pair by pair.

    The adjustment does not bias the mean, and it needs fewer matches for the same precision. Two
    parts of the luck are known.

    For all but the last cards, a judge values each card that came, less the mean value of the cards
    that could have come. The mean of that is 0 for any judge, so a bad judge removes less luck but
    adds no bias.

    Judges know least about the last cards. Therefore the players play these again a few times, and
    the mean of all endings counts.

    The weight of the judge is the regression coefficient of the earlier pairs, never of the pair
    itself.
    """

    def __init__(self) -> None:
        self._products = self._squares = _PRIOR
        self._number, self._sum = 1.0, 0.5

    def adjusted_share(self, pair: Pair) -> float:
        """Return the adjusted share of the next pair, or the plain one without luck data."""
        lucks = [match.luck for match in pair if match.luck is not None]
        if len(lucks) < len(pair):
            return fmean(match.points for match in pair)
        resampled, cards = (
            fmean(luck.resampled_share for luck in lucks),
            fmean(luck.card_luck for luck in lucks),
        )
        # The coefficient comes from earlier pairs only. If a pair had a part in its own
        # coefficient, luck and coefficient would be correlated, and the adjusted mean would be
        # biased.
        less = resampled - self._products / self._squares * cards
        self._products += (resampled - self._sum / self._number) * cards
        self._squares += cards * cards
        self._number += 1
        self._sum += resampled
        return less


EVEN_PERCENT = 50.0
TWO_PLAYERS = 2


def first_player_points_share(pair: Pair) -> float:
    """Return the first player's share of the points of a pair."""
    return fmean(match.points for match in pair)


class LuckAdjustedResult(NamedTuple):
    """Points per 100 without luck; plain results need `variance_ratio` times the matches.

    `variance_ratio` is the number of plain matches that one adjusted match is worth.
    """

    points: float
    interval: Interval
    variance_ratio: float

    @property
    def document(self) -> dict[str, float]:
        """Luck-adjusted figures as a JSON document."""
        values = {"points": self.points, "lower": self.interval.low, "upper": self.interval.high}
        return {
            name: round(value, 3)
            for name, value in {**values, "worth": self.variance_ratio}.items()
        }


@dataclass(frozen=True, slots=True)
class DuelResult:
    """Result of a played duel plan, pair by pair."""

    plan: DuelPlan
    pairs: tuple[Pair, ...]

    @property
    def matches(self) -> tuple[FirstPlayerMatchResult, ...]:
        """All matches in the order of their pairs."""
        return tuple(match for pair in self.pairs for match in pair)

    @property
    def points_percent(self) -> float:
        """Wins of the first player plus half its ties, in per cent."""
        return 100 * fmean(map(first_player_points_share, self.pairs))

    @property
    def interval(self) -> Interval:
        """95 % confidence interval of `points_percent`."""
        return mean_interval(
            [*map(first_player_points_share, self.pairs)], self.plan.matches_per_pair
        ).scaled(100)

    @property
    def adjusted_shares(self) -> tuple[float, ...]:
        """First player's share of each pair, adjusted for luck if it is known."""
        return tuple(map(LuckAdjuster().adjusted_share, self.pairs))

    @property
    def luck_adjusted_result(self) -> LuckAdjustedResult | None:
        """Luck-adjusted result, or None if luck is unknown."""
        if not self.plan.luck_adjusted:
            return None
        shares, plain = self.adjusted_shares, pvariance(map(first_player_points_share, self.pairs))
        rest, bounds = (
            pvariance(shares),
            mean_interval(shares, self.plan.matches_per_pair).scaled(100),
        )
        return LuckAdjustedResult(100 * fmean(shares), bounds, plain / rest if rest else 1.0)

    @property
    def best_points_and_interval(self) -> tuple[float, Interval]:
        """Points and interval, adjusted for luck if possible."""
        less = self.luck_adjusted_result
        return (
            (self.points_percent, self.interval) if less is None else (less.points, less.interval)
        )

    def count_sum(self, count_name: str, player: int) -> float:
        """Return the sum of a count for player 0 or 1, or for the match if it is shared."""
        values = (match.counts[count_name] for match in self.matches)
        return sum(value[min(player, len(value) - 1)] for value in values)

    def ratio_stat(self, stat: RatioStat, player: int) -> float:
        """Return a ratio statistic of the game for player 0 or 1."""
        per = (
            len(self.matches)
            if stat.denominator is None
            else self.count_sum(stat.denominator, player)
        )
        return self.count_sum(stat.numerator, player) / per if per else 0.0

    def __str__(self) -> str:
        plan, bounds = self.plan, self.interval
        fair = (
            f"; equal players: {100 * plan.equal_players_share:.1f}"
            if plan.opponent_copies > 1
            else ""
        )
        points = f"{self.points_percent:.1f} % of the points in {len(self.matches)} matches"
        bounded = f"(95 %: {bounds.low:.1f} to {bounds.high:.1f}{fair})"
        lines = [f"{plan.title}: {points} {bounded}"]
        less = self.luck_adjusted_result
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
        stats, counted = plan.simulation.stats, self.matches[0].counts
        player_stats = [stat for stat in stats if len(counted[stat.numerator]) > 1]
        shared = [stat for stat in stats if stat not in player_stats]
        for name, some, player in (
            (plan.first, player_stats, 0),
            (plan.second, player_stats, 1),
            ("a match", shared, 0),
        ):
            if some:
                text = ", ".join(stat.format.format(self.ratio_stat(stat, player)) for stat in some)
                lines.append(f"  {name}: {text.replace('%', ' %')}")
        return "\n".join(lines)

    @property
    def is_two_player(self) -> bool:
        """True if one player meets one opponent, so that an Elo difference is defined."""
        return self.plan.opponent_copies == 1 and self.plan.matches_per_pair == TWO_PLAYERS

    @property
    def elo(self) -> tuple[float | None, float | None, float | None]:
        """Elo difference and its 95 % interval; None for an unbounded value."""
        points, bounds = self.best_points_and_interval
        differences = (elo_from_share(share / 100) for share in (points, bounds.low, bounds.high))
        elo, low, high = (
            difference if isfinite(difference) else None for difference in differences
        )
        return elo, low, high

    @property
    def stronger_player(self) -> str | None:
        """Name of the player that is significantly stronger, or None."""
        points, bounds = self.best_points_and_interval
        if bounds.low <= EVEN_PERCENT <= bounds.high:
            return None
        return str(self.plan.first if points > EVEN_PERCENT else self.plan.second)

    @property
    def shares_by_side(self) -> tuple[float, ...]:
        """First player's share of the points from each side."""
        return tuple(
            fmean(match.points for match in side) for side in zip(*self.pairs, strict=True)
        )

    def as_json(self) -> dict[str, object]:
        """Return all results as a JSON document; `counts` are sums per player or match.

        `counts` are sums, of each player or of all matches.
        """
        plan, bounds, less = self.plan, self.interval, self.luck_adjusted_result
        counted, verdict = self.matches[0].counts, dict[str, object]()
        if self.is_two_player:
            elo = (None if value is None else round(value, 1) for value in self.elo)
            verdict = dict(zip(("elo", "eloLower", "eloUpper"), elo, strict=True))
            verdict["stronger"] = self.stronger_player
        return {
            "game": plan.game,
            "players": [str(plan.first), str(plan.second)],
            "copies": plan.opponent_copies,
            "pairs": plan.pairs,
            "matches": len(self.matches),
            "seed": plan.seed,
            "series": plan.series_length,
            "points": round(self.points_percent, 3),
            "lower": round(bounds.low, 3),
            "upper": round(bounds.high, 3),
            "margin": round(bounds.margin, 3),
            **({} if less is None else {"lessLuck": less.document}),
            **verdict,
            "bySide": [round(100 * share, 3) for share in self.shares_by_side],
            "counts": {
                name: [self.count_sum(name, at) for at in range(len(values))]
                for name, values in counted.items()
            },
        }
