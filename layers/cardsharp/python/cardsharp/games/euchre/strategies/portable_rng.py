"""Random numbers that are the same on every machine and in every language.

Python's own generator would do, but a compiled solver for research has to produce the same numbers.
So this is one of the simplest generators that are good enough: a 64-bit linear congruential
generator with Knuth's constants, of which only the high bits are used.
"""

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

_FACTOR, _STEP = 6364136223846793005, 1442695040888963407
_ALL = (1 << 64) - 1


def mix_seed(numbers: Iterable[int]) -> int:
    """Return a 64-bit seed mixed from numbers; any change alters it completely (SplitMix64)."""
    seed = 0
    for number in numbers:
        seed = seed + number & _ALL
        seed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & _ALL
        seed = (seed ^ seed >> 27) * 0x94D049BB133111EB & _ALL
        seed ^= seed >> 31
    return seed


class PortableRng:
    """Random generator whose numbers depend on its seed alone."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def shuffle(self, items: list[T]) -> None:
        """Shuffle the items in place."""
        state, remaining = self._state, len(items)
        for spot in range(remaining - 1):
            state = state * _FACTOR + _STEP & _ALL
            swap_index = spot + ((state >> 33) * remaining >> 31)
            items[spot], items[swap_index] = items[swap_index], items[spot]
            remaining -= 1
        self._state = state

    def random(self) -> float:
        """Return a number from 0 to nearly 1."""
        self._state = self._state * _FACTOR + _STEP & _ALL
        return (self._state >> 11) * 2.0**-53
