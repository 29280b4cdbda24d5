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

Z_95 = 1.959964  # standard errors to each side of a mean that hold 95 %
ELO_SCALE = 400  # Elo points by which the odds of two players differ tenfold
MEAN_RATING = 1000.0  # the mean of the ratings of a ladder's players: the anchor of all others
_LOGIT = ELO_SCALE / log(10)  # Elo points of a unit of the logistic distribution
_FARTHEST = 8 * ELO_SCALE  # how far from every opponent a rating is looked for
_STILL = 0.01  # Elo points; ratings that move by less have been found


def expected_score(rating_difference: float) -> float:
    """The share of the points that is expected at an Elo difference."""
    return 1 / (1 + 10 ** (-rating_difference / ELO_SCALE))


@dataclass(frozen=True, slots=True)
class PairScore:
    """Score of a player against one opponent: number of pairs, points, and sum of squares."""

    pairs: float
    points: float
    points_squared: float

    @classmethod
    def from_shares(cls, shares: Iterable[float]) -> "PairScore":
        """Return the score of these pairs.

        With luck adjustment a single share may lie outside 0 and 1, but their sum is clamped to
        that range.
        """
        values = tuple(shares)
        points = min(float(len(values)), max(0.0, fsum(values)))
        return cls(len(values), points, fsum(share * share for share in values))

    @property
    def reversed(self) -> "PairScore":
        """The same as the opponent saw it."""
        rest = self.pairs - self.points
        return PairScore(self.pairs, rest, rest - self.points + self.points_squared)

    @property
    def with_prior_pair(self) -> "PairScore":
        """With one pair more, in which anything happened: nobody is infinitely strong."""
        return PairScore(self.pairs + 1, self.points + 0.5, self.points_squared + 0.375)


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
    scores_by_opponent: Iterable[tuple[float, PairScore]],
    *,
    use_prior: bool = True,
    initial_guess: float | None = None,
) -> Rating:
    """Return the rating of a player from its scores against opponents with these ratings.

    `use_prior` adds a drawn-out prior pair to each score, so that no rating is infinite. The
    search begins at `initial_guess` if that is set. Raises `ValueError` if there are no scores.
    """
    scores = [
        (rating, score.with_prior_pair if use_prior else score)
        for rating, score in scores_by_opponent
    ]
    if not scores:
        raise ValueError("Nobody was met.")
    low = min(rating for rating, _ in scores) - _FARTHEST
    high = max(rating for rating, _ in scores) + _FARTHEST
    at = (low + high) / 2 if initial_guess is None else initial_guess
    points = fsum(score.points for _, score in scores)
    while True:
        shares = [(score.pairs, expected_score(at - rating)) for rating, score in scores]
        missing = points - fsum(pairs * share for pairs, share in shares)
        low, high = (at, high) if missing > 0 else (low, at)
        slope = fsum(pairs * share * (1 - share) for pairs, share in shares) / _LOGIT
        step = missing / slope if slope else high - low
        if not low < at + step < high:
            step = (low + high) / 2 - at
        at += step
        if abs(step) < _STILL / 2:
            return Rating(at, Z_95 * _standard_error(at, scores))


def _standard_error(player_rating: float, scores: Iterable[tuple[float, PairScore]]) -> float:
    """From the spread that the pairs have, not from the one that single matches would have."""
    information = spread = 0.0
    for rating, score in scores:
        share = expected_score(player_rating - rating)
        information += score.pairs * share * (1 - share)
        spread += score.points_squared - 2 * share * score.points + score.pairs * share * share
    return _LOGIT * sqrt(spread) / information


def ratings_of(
    pair_scores: Mapping[tuple[str, str], PairScore], *, use_prior: bool = True
) -> dict[str, Rating]:
    """Return the ratings of players who met each other; their mean is `MEAN_RATING`.

    Each margin assumes that the ratings of the opponents are exact. `use_prior` as in
    `rating_of`.
    """
    met: dict[str, dict[str, PairScore]] = {}
    for (player, other), score in pair_scores.items():
        met.setdefault(player, {})[other] = score
        met.setdefault(other, {})[player] = score.reversed
    values, moved = dict.fromkeys(met, MEAN_RATING), True
    ratings: dict[str, Rating] = {}
    while moved:
        previous = dict(values)
        for name, scores in met.items():
            opponents = [(values[other], score) for other, score in scores.items()]
            ratings[name] = rating_of(opponents, use_prior=use_prior, initial_guess=values[name])
            values[name] = ratings[name].value
        moved = any(abs(values[name] - previous[name]) > _STILL for name in met)
    shift = MEAN_RATING - fmean(values.values())
    return {name: Rating(values[name] + shift, ratings[name].margin) for name in met}
