"""A sequential test: play until it is shown who is stronger, and not a pair longer.

Wald's sequential probability ratio test between two strengths in Elo, on the shares of the points
that the pairs brought. A pair counts as one observation, because its matches are of one deal; with
two matches it has five results (a *pentanomial*). The ratio is the one of normal distributions
with the spread that was found (the generalized test that chess engines are tuned with).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, log, log10

from cardsharp.ratings import PER_TENFOLD, share_at

_PRIOR = 4.0
"""So many drawn-out pairs of every result are taken as seen: the spread of the first few pairs
says little, and without them it calls one player in three stronger by mistake."""

_MEAN, _SQUARE = 0.5, 0.375  # of the five results of a pair: 0, 1/4, 1/2, 3/4, 1


def elo_of(share: float) -> float:
    """The Elo difference at which so large a share of the points is expected."""
    if not 0 < share < 1:
        return inf if share >= 1 else -inf
    return PER_TENFOLD * log10(share / (1 - share))


ERROR = 0.05  # how often the lower strength may be called stronger, or the higher not
BOUND = log((1 - ERROR) / ERROR)  # the log ratio at which FIRST is called stronger


@dataclass(slots=True)
class Sequential:
    """Whether FIRST is at least `elo1` stronger or at most `elo0`, in Elo points.

    It takes the pairs in the order of their numbers.
    """

    elo0: float = 0.0
    elo1: float = 20.0
    number: int = 0
    _weight: float = field(default=_PRIOR, init=False)
    _sum: float = field(default=_PRIOR * _MEAN, init=False)
    _squares: float = field(default=_PRIOR * _SQUARE, init=False)

    def rule(self) -> str:
        """When the test ends, in words."""
        return (
            f"until a test with {100 * ERROR:g} % error decides between {self.elo1:+g} "
            f"and {self.elo0:g} Elo"
        )

    def take(self, shares: Iterable[float]) -> bool:
        """Take the next pairs, as far as they are needed; whether the test has ended."""
        for share in shares:
            if self.ended:
                break
            self.number += 1
            self._weight += 1
            self._sum += share
            self._squares += share * share
        return self.ended

    @property
    def ratio(self) -> float:
        """The log likelihood ratio of the two strengths."""
        mean = self._sum / self._weight
        spread = self._squares / self._weight - mean * mean
        low, high = share_at(self.elo0), share_at(self.elo1)
        return self._weight * (high - low) * (2 * mean - low - high) / (2 * spread)

    @property
    def ended(self) -> bool:
        """Whether it is decided."""
        return bool(self.number) and abs(self.ratio) >= BOUND

    @property
    def verdict(self) -> str:
        """What is shown so far."""
        if not self.ended:
            return "the test is not decided"
        if self.ratio > 0:
            return f"the test says stronger: Elo {self.elo1:g} rather than {self.elo0:g}"
        return f"the test says not stronger: Elo {self.elo0:g} rather than {self.elo1:g}"

    def document(self) -> dict[str, object]:
        """The test as JSON: what was asked, the log likelihood ratio, and whether it is decided."""
        told = {"elo0": self.elo0, "elo1": self.elo1, "ratio": round(self.ratio, 3)}
        return {**told, "decided": self.ended, "stronger": self.ended and self.ratio > 0}
