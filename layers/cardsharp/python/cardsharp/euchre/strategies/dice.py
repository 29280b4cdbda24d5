"""Dice that fall the same way on every machine, and in every language.

Python's own would do, but a solver that is compiled for the laboratory has to throw the same
numbers; so this is one of the simplest good enough: a linear congruential generator of 64 bits,
Knuth's constants, of which only the high bits are used.
"""

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

_FACTOR, _STEP = 6364136223846793005, 1442695040888963407
_ALL = (1 << 64) - 1


def mixed(numbers: Iterable[int]) -> int:
    """A seed of 64 bits that any of the numbers changes altogether (the mixer of SplitMix64)."""
    seed = 0
    for number in numbers:
        seed = seed + number & _ALL
        seed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & _ALL
        seed = (seed ^ seed >> 27) * 0x94D049BB133111EB & _ALL
        seed ^= seed >> 31
    return seed


class Dice:
    """A sequence of random numbers from one seed."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def shuffle(self, items: list[T]) -> None:
        """Put the items into a random order."""
        state, left = self._state, len(items)
        for spot in range(left - 1):
            state = state * _FACTOR + _STEP & _ALL
            other = spot + ((state >> 33) * left >> 31)
            items[spot], items[other] = items[other], items[spot]
            left -= 1
        self._state = state

    def share(self) -> float:
        """A number from 0 to nearly 1."""
        self._state = self._state * _FACTOR + _STEP & _ALL
        return (self._state >> 11) * 2.0**-53
