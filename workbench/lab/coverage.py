"""How often the lab's interval holds the truth, by simulated duels of which the truth is known."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

from workbench.lab.interval import interval

SHARES = (0.5, 0.7, 0.9, 0.97, 0.99)
ALIKE = (-0.5, 0.0, 0.3, 0.6, 1.0)
PAIRS = (2, 3, 5, 10, 20, 50, 100, 500, 2000)

_OUTCOMES = (0.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Covered:
    """Of so many pairs: how often the truth lay within, and how wide the interval was."""

    pairs: int
    held: float
    width: float


def coverage_table(repeats: int, seed: int) -> Iterator[tuple[float, float, list[Covered]]]:
    """A line for each true share and each correlation of a pair's two matches that can be."""
    for share, alike in product(SHARES, ALIKE):
        if chances(share, alike) is not None:
            rolls = Random(f"{seed}/{share}/{alike}")
            yield share, alike, [covered(number, share, alike, repeats, rolls) for number in PAIRS]


def covered(pairs: int, share: float, alike: float, repeats: int, dice: Random) -> Covered:
    """What the interval does over so many simulated duels.

    Raises:
        ValueError: two matches cannot be so unlike.
    """
    weights = chances(share, alike)
    if weights is None:
        raise ValueError(f"Two matches won with {share} cannot correlate by {alike}.")
    held, width = 0, 0.0
    for _ in range(repeats):
        low, high = interval(dice.choices(_OUTCOMES, weights, k=pairs), 2)
        held += low <= share <= high
        width += high - low
    return Covered(pairs, held / repeats, width / repeats)


def chances(share: float, alike: float) -> tuple[float, float, float] | None:
    """How likely a pair is lost, halved and won; None where the correlation is impossible."""
    common = alike * share * (1 - share)
    lost, won = (1 - share) ** 2 + common, share * share + common
    halved = 1 - lost - won
    return (lost, halved, won) if min(lost, halved, won) >= -1e-12 else None  # noqa: PLR2004 - rounding
