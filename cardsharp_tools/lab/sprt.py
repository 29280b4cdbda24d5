"""A sequential test: play until it is shown who is stronger, and not a pair longer.

Wald's sequential probability ratio test between two strengths in Elo, on the shares of the points
that the pairs brought. A pair counts as one observation, because its matches are of one deal; with
two matches it has five results (a *pentanomial*). The ratio is the one of normal distributions
with the spread that was found (the generalized test that chess engines are tuned with).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, log, log10

from cardsharp.analysis.ratings import ELO_SCALE, expected_score

_PRIOR = 4.0
"""So many drawn-out pairs of every result are taken as seen: the spread of the first few pairs
says little, and without them it calls one player in three stronger by mistake."""

_MEAN, _SQUARE = 0.5, 0.375  # of the five results of a pair: 0, 1/4, 1/2, 3/4, 1


def elo_from_share(share: float) -> float:
    """The Elo difference at which so large a share of the points is expected."""
    if not 0 < share < 1:
        return inf if share >= 1 else -inf
    return ELO_SCALE * log10(share / (1 - share))


ERROR_RATE = 0.05  # how often the lower strength may be called stronger, or the higher not
LLR_BOUND = log((1 - ERROR_RATE) / ERROR_RATE)  # the log ratio at which FIRST is called stronger


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

    def add_pairs(self, shares: Iterable[float]) -> bool:
        """Take the next pairs, as far as they are needed; whether the test has ended."""
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
        """The log likelihood ratio of the two strengths."""
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
        """State of the test in words."""
        if not self.is_decided:
            return "the test is not decided"
        if self.log_likelihood_ratio > 0:
            return f"the test says stronger: Elo {self.elo1:g} rather than {self.elo0:g}"
        return f"the test says not stronger: Elo {self.elo0:g} rather than {self.elo1:g}"

    def document(self) -> dict[str, object]:
        """The test as JSON: what was asked, the log likelihood ratio, and whether it is decided."""
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
