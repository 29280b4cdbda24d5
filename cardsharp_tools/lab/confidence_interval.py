"""Confidence intervals of measured shares (docs/decisions/0010).

The interval is Wilson's score interval with continuity correction, for the effective number of
pairs. Matches of one deal are not independent, and a design effect, estimated from the pairs,
measures by how much. If few matches were lost, or few won, that estimate is unreliable. So it is
shrunk towards the worst case, in which all matches of a pair end alike.
"""

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import fmean
from typing import NamedTuple

from cardsharp.analysis.ratings import Z_95

_PRIOR = 2.0  # weight of the worst case, as a number of the rarer outcome


class Interval(NamedTuple):
    """95 % confidence interval of a share."""

    low: float
    high: float

    def scaled(self, factor: float, offset: float = 0.0) -> "Interval":
        """Return the interval on another scale; a negative factor reverses it."""
        return Interval(*sorted(factor * end + offset for end in self))

    @property
    def margin(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def mean_interval(shares: Sequence[float], matches_per_share: int = 1) -> Interval:
    """Return the 95 % interval of the mean of independent shares, each of so many matches.

    Each share is the mean of `matches_per_share` matches, which need not be independent.
    Raises `ValueError` if there are no shares.
    """
    if not shares:
        raise ValueError("No share was measured.")
    sample_count, mean = len(shares), min(1.0, max(0.0, fmean(shares)))
    worst = mean * (1 - mean)
    spread = (
        fsum((share - mean) ** 2 for share in shares) / (sample_count - 1)
        if sample_count > 1
        else worst
    )
    relative_spread = min(1.0, spread / worst) if worst > 0 else 1.0
    # The design effect is the variance of the shares over that of independent matches. It is a mean
    # of the estimate and the worst case, weighted by the number of rarer outcomes that were seen.
    rarer = sample_count * matches_per_share * min(mean, 1 - mean)
    return wilson_interval(
        mean, sample_count / ((rarer * relative_spread + _PRIOR) / (rarer + _PRIOR))
    )


def wilson_interval(mean: float, trials: float) -> Interval:
    """Return Wilson's score interval with continuity correction for a share of trials."""
    z, n, rest = Z_95, trials, 1 - mean
    scale = 2 * (n + z * z)
    below = z * sqrt(max(0.0, z * z - 2 - 1 / n + 4 * mean * (n * rest + 1)))
    above = z * sqrt(max(0.0, z * z + 2 - 1 / n + 4 * mean * (n * rest - 1)))
    low = (2 * n * mean + z * z - 1 - below) / scale if mean > 0 else 0.0
    high = (2 * n * mean + z * z + 1 + above) / scale if mean < 1 else 1.0
    return Interval(max(0.0, low), min(1.0, high))
