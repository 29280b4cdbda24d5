"""Elo ratings: of one player against rated opponents, or of all players at once.

The ratings follow the Bradley-Terry model, fitted by maximum likelihood: a player's rating is the
one at which the expected points equal the points that it scored.

No rating library fits this purpose. Some update ratings match by match, so that the result depends
on the order. Others can neither hold a rating fixed nor take into account that matches of one deal
are alike. Here a confidence interval is computed from pairs of matches, because a duel is dealt in
pairs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum, log, sqrt
from statistics import fmean

Z_95 = 1.959964  # standard errors to each side of a mean that hold 95 %
ELO_SCALE = 400  # Elo points by which the odds of two players differ tenfold
MEAN_RATING = 1000.0  # the mean of the ratings of a ladder's players: the anchor of all others
_ELO_PER_LOGIT = ELO_SCALE / log(10)  # Elo points of a unit of the logistic distribution
_MAX_DISTANCE = 8 * ELO_SCALE  # Elo points from the opponents to the ends of the search range
_TOLERANCE = 0.01  # Elo points; the iteration ends when ratings move by less


def expected_score(rating_difference: float) -> float:
    """Return the share of the points that a player expects at this Elo difference."""
    return 1 / (1 + 10 ** (-rating_difference / ELO_SCALE))


@dataclass(frozen=True, slots=True)
class HeadToHeadScore:
    """Score of a player against one opponent: number of pairs, points, and sum of squares."""

    pairs: float
    points: float
    points_squared: float

    @classmethod
    def from_shares(cls, shares: Iterable[float]) -> "HeadToHeadScore":
        """Return the score of pairs of matches, given the player's share of the points in each.

        With luck adjustment a single share may lie outside 0 and 1, but their sum is clamped to
        the range from 0 to the number of pairs.
        """
        values = tuple(shares)
        points = min(float(len(values)), max(0.0, fsum(values)))
        return cls(len(values), points, fsum(share * share for share in values))

    @property
    def from_opponent_side(self) -> "HeadToHeadScore":
        """The same score from the opponent's side."""
        rest = self.pairs - self.points
        return HeadToHeadScore(self.pairs, rest, rest - self.points + self.points_squared)

    @property
    def with_prior_pair(self) -> "HeadToHeadScore":
        """The score with one virtual pair of even result, so that no rating becomes infinite."""
        return HeadToHeadScore(self.pairs + 1, self.points + 0.5, self.points_squared + 0.375)


@dataclass(frozen=True, slots=True)
class Rating:
    """Rating in Elo points, with half the width of its 95 % confidence interval."""

    value: float
    margin: float

    @property
    def rounded(self) -> "Rating":
        """Rating and margin in whole points."""
        return Rating(round(self.value), round(self.margin))

    def __str__(self) -> str:
        return f"{self.value:,.0f} ± {self.margin:,.0f}"


def rating_of(
    scores_by_opponent: Iterable[tuple[float, HeadToHeadScore]],
    *,
    use_prior: bool = True,
    initial_guess: float | None = None,
) -> Rating:
    """Return the rating of a player from its scores against opponents with these ratings.

    `use_prior` adds a virtual tied pair to each score, so that no rating is infinite. The search
    begins at `initial_guess` if it is set. Raises `ValueError` if there are no scores.
    """
    scores = [
        (rating, score.with_prior_pair if use_prior else score)
        for rating, score in scores_by_opponent
    ]
    if not scores:
        raise ValueError("A rating needs at least one opponent.")
    low = min(rating for rating, _ in scores) - _MAX_DISTANCE
    high = max(rating for rating, _ in scores) + _MAX_DISTANCE
    at = (low + high) / 2 if initial_guess is None else initial_guess
    points = fsum(score.points for _, score in scores)
    # Newton's method, inside a bracket that holds the solution. A step that leaves the bracket, or
    # one where all expected scores are 0 or 1 and the slope vanishes, is replaced by bisection.
    while True:
        shares = [(score.pairs, expected_score(at - rating)) for rating, score in scores]
        missing = points - fsum(pairs * share for pairs, share in shares)
        low, high = (at, high) if missing > 0 else (low, at)
        slope = fsum(pairs * share * (1 - share) for pairs, share in shares) / _ELO_PER_LOGIT
        step = missing / slope if slope else high - low
        if not low < at + step < high:
            step = (low + high) / 2 - at
        at += step
        if abs(step) < _TOLERANCE / 2:
            return Rating(at, Z_95 * _compute_standard_error(at, scores))


def _compute_standard_error(
    player_rating: float, scores: Iterable[tuple[float, HeadToHeadScore]]
) -> float:
    """Return the standard error of a rating, from the observed spread of the pairs.

    The two matches of a pair have the same cards, so their results are not independent. The spread
    of single matches would give a wrong error.
    """
    information = spread = 0.0
    for rating, score in scores:
        share = expected_score(player_rating - rating)
        information += score.pairs * share * (1 - share)
        spread += score.points_squared - 2 * share * score.points + score.pairs * share * share
    return _ELO_PER_LOGIT * sqrt(spread) / information


def ratings_of(
    pair_scores: Mapping[tuple[str, str], HeadToHeadScore], *, use_prior: bool = True
) -> dict[str, Rating]:
    """Return the ratings of players who met each other. Their mean is `MEAN_RATING`.

    Each margin assumes that the ratings of the opponents are exact. `use_prior` is as in
    `rating_of`.
    """
    met: dict[str, dict[str, HeadToHeadScore]] = {}
    for (player, opponent), score in pair_scores.items():
        met.setdefault(player, {})[opponent] = score
        met.setdefault(opponent, {})[player] = score.from_opponent_side
    values, moved = dict.fromkeys(met, MEAN_RATING), True
    ratings: dict[str, Rating] = {}
    # Rate one player after the other with all others held fixed, until no rating moves any more.
    # The likelihood is concave, so this coordinate ascent converges to the only maximum.
    while moved:
        previous = dict(values)
        for name, scores in met.items():
            opponents = [(values[opponent], score) for opponent, score in scores.items()]
            ratings[name] = rating_of(opponents, use_prior=use_prior, initial_guess=values[name])
            values[name] = ratings[name].value
        moved = any(abs(values[name] - previous[name]) > _TOLERANCE for name in met)
    shift = MEAN_RATING - fmean(values.values())
    return {name: Rating(values[name] + shift, ratings[name].margin) for name in met}
