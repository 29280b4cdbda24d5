"""Sequential test: a duel that ends as soon as it is shown who is stronger.

It is Wald's sequential probability ratio test between two strengths in Elo, on the shares of the
points in each pair. A pair counts as one observation, because its matches have the same deal; with
two matches it has five possible results (a *pentanomial*). The ratio is that of normal
distributions with the observed variance (the generalized test with which chess engines are tuned).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, log, log10

from cardsharp.analysis.ratings import ELO_SCALE, expected_score

_PRIOR = 4.0
"""Number of virtual tied pairs that are counted in advance.

The variance of the first few pairs is unreliable. Without the virtual pairs the test would wrongly
call one player in three stronger.
"""

_MEAN, _SQUARE = 0.5, 0.375  # means over the five results of a pair: 0, 1/4, 1/2, 3/4, 1


def elo_from_share(share: float) -> float:
    """Return the Elo difference at which that share of the points is expected."""
    if not 0 < share < 1:
        return inf if share >= 1 else -inf
    return ELO_SCALE * log10(share / (1 - share))


ERROR_RATE = 0.05  # maximum probability of either wrong decision
LLR_BOUND = log((1 - ERROR_RATE) / ERROR_RATE)  # log likelihood ratio at which the test decides


@dataclass(slots=True)
class SequentialTest:
    """Sequential test whether FIRST is at least `elo1` or at most `elo0` Elo points stronger.

    Pairs are added in the order of their numbers.
    """

    elo0: float = 0.0
    elo1: float = 20.0
    pair_count: int = 0
    _weight: float = field(default=_PRIOR, init=False)
    _sum: float = field(default=_PRIOR * _MEAN, init=False)
    _squares: float = field(default=_PRIOR * _SQUARE, init=False)

    def stop_rule_text(self) -> str:
        """Return the stop rule of the test in words."""
        return (
            f"until a test with {100 * ERROR_RATE:g} % error decides between {self.elo1:+g} "
            f"and {self.elo0:g} Elo"
        )

    def add_pairs_until_decided(self, shares: Iterable[float]) -> bool:
        """Add pairs until the test has ended; return True if it has."""
        for share in shares:
            if self.is_decided:
                break
            self.pair_count += 1
            self._weight += 1
            self._sum += share
            self._squares += share * share
        return self.is_decided

    @property
    def log_likelihood_ratio(self) -> float:
        """Log likelihood ratio of the two hypotheses."""
        # For normal distributions of equal variance the ratio depends on the mean alone: on which
        # side of the middle between the two expected shares it is, and how far in standard errors.
        mean = self._sum / self._weight
        spread = self._squares / self._weight - mean * mean
        low, high = expected_score(self.elo0), expected_score(self.elo1)
        return self._weight * (high - low) * (2 * mean - low - high) / (2 * spread)

    @property
    def is_decided(self) -> bool:
        """True once the test has reached a decision."""
        return bool(self.pair_count) and abs(self.log_likelihood_ratio) >= LLR_BOUND

    @property
    def result_text(self) -> str:
        """Return the state of the test in words."""
        if not self.is_decided:
            return "the test is not decided"
        if self.log_likelihood_ratio > 0:
            return f"the test says stronger: Elo {self.elo1:g} rather than {self.elo0:g}"
        return f"the test says not stronger: Elo {self.elo0:g} rather than {self.elo1:g}"

    def document(self) -> dict[str, object]:
        """Return the test as JSON.

        It has the hypotheses, the log likelihood ratio, and whether the test is decided.
        """
        parameters = {
            "elo0": self.elo0,
            "elo1": self.elo1,
            "ratio": round(self.log_likelihood_ratio, 3),
        }
        return {
            **parameters,
            "decided": self.is_decided,
            "stronger": self.is_decided and self.log_likelihood_ratio > 0,
        }
