"""Ratings in Elo points: of one player against others whose rating is known, and of all at once.

The Bradley-Terry model, fitted by maximum likelihood: a player's rating is the one at which as many
points were expected as it made. What libraries of rating offer either goes from match to match, and
depends on their order, or knows neither a rating that is fixed nor matches that are alike because
they are of one deal; so an interval here is of the pairs, where a duel is dealt in pairs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum, log, sqrt
from statistics import fmean

NORMAL_95 = 1.959964  # standard errors to each side of a mean that hold 95 %
PER_TENFOLD = 400  # Elo points by which the odds of two players differ tenfold
MEAN = 1000.0  # the mean of the ratings of a ladder's players: the anchor of all others
_LOGIT = PER_TENFOLD / log(10)  # Elo points of a unit of the logistic distribution
_FARTHEST = 8 * PER_TENFOLD  # how far from every opponent a rating is looked for
_STILL = 0.01  # Elo points; ratings that move by less have been found


def share_at(elo: float) -> float:
    """The share of the points that is expected at an Elo difference."""
    return 1 / (1 + 10 ** (-elo / PER_TENFOLD))


@dataclass(frozen=True, slots=True)
class PairScore:
    """What a player made of an opponent: so many pairs, their shares of the points, and squares."""

    pairs: float
    points: float
    squares: float

    @classmethod
    def of(cls, shares: Iterable[float]) -> "PairScore":
        """The score of those pairs; less luck one may lie beyond 0 and 1, never all together."""
        given = tuple(shares)
        points = min(float(len(given)), max(0.0, fsum(given)))
        return cls(len(given), points, fsum(share * share for share in given))

    @property
    def reversed(self) -> "PairScore":
        """The same as the opponent saw it."""
        rest = self.pairs - self.points
        return PairScore(self.pairs, rest, rest - self.points + self.squares)

    @property
    def tempered(self) -> "PairScore":
        """With one pair more, in which anything happened: nobody is infinitely strong."""
        return PairScore(self.pairs + 1, self.points + 0.5, self.squares + 0.375)


@dataclass(frozen=True, slots=True)
class Rating:
    """Elo points, and how far from them the true ones may lie with 95 % confidence."""

    value: float
    margin: float

    @property
    def rounded(self) -> "Rating":
        """In whole points."""
        return Rating(round(self.value), round(self.margin))

    def __str__(self) -> str:
        return f"{self.value:,.0f} ± {self.margin:,.0f}"


def rating_of(
    met: Iterable[tuple[float, PairScore]], *, tempered: bool = True, near: float | None = None
) -> Rating:
    """The rating of a player by its scores against opponents of those ratings.

    Each score is tempered first, unless the caller has seen to it that none is infinite. It is
    looked for first where it may be `near`. Raises `ValueError` if it has met nobody.
    """
    scores = [(rating, score.tempered if tempered else score) for rating, score in met]
    if not scores:
        raise ValueError("Nobody was met.")
    low = min(rating for rating, _ in scores) - _FARTHEST
    high = max(rating for rating, _ in scores) + _FARTHEST
    at = (low + high) / 2 if near is None else near
    points = fsum(score.points for _, score in scores)
    while True:
        shares = [(score.pairs, share_at(at - rating)) for rating, score in scores]
        missing = points - fsum(pairs * share for pairs, share in shares)
        low, high = (at, high) if missing > 0 else (low, at)
        slope = fsum(pairs * share * (1 - share) for pairs, share in shares) / _LOGIT
        step = missing / slope if slope else high - low
        if not low < at + step < high:
            step = (low + high) / 2 - at
        at += step
        if abs(step) < _STILL / 2:
            return Rating(at, NORMAL_95 * _standard_error(at, scores))


def _standard_error(own: float, scores: Iterable[tuple[float, PairScore]]) -> float:
    """From the spread that the pairs have, not from the one that single matches would have."""
    information = spread = 0.0
    for rating, score in scores:
        share = share_at(own - rating)
        information += score.pairs * share * (1 - share)
        spread += score.squares - 2 * share * score.points + score.pairs * share * share
    return _LOGIT * sqrt(spread) / information


def ratings_of(
    duels: Mapping[tuple[str, str], PairScore], *, tempered: bool = True
) -> dict[str, Rating]:
    """The ratings of players who met each other, with `MEAN` as their mean.

    Each margin is the player's with the others' ratings held fast. `tempered` as in `rating_of`.
    """
    met: dict[str, dict[str, PairScore]] = {}
    for (one, other), score in duels.items():
        met.setdefault(one, {})[other] = score
        met.setdefault(other, {})[one] = score.reversed
    values, moved = dict.fromkeys(met, MEAN), True
    found: dict[str, Rating] = {}
    while moved:
        before = dict(values)
        for name, scores in met.items():
            opponents = [(values[other], score) for other, score in scores.items()]
            found[name] = rating_of(opponents, tempered=tempered, near=values[name])
            values[name] = found[name].value
        moved = any(abs(values[name] - before[name]) > _STILL for name in met)
    shift = MEAN - fmean(values.values())
    return {name: Rating(values[name] + shift, found[name].margin) for name in met}
