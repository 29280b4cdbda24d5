"""The lab's randomness: a small generator that plain Python and compiled code share.

A match is repeatable whatever plays it: the deal, the picks from the discard pile and the
strategies' own dice are SplitMix64 streams, each of a run's seed, a pair's number and a purpose
(`rng_for` and its companions in native/core.c).
"""

from enum import IntEnum
from random import Random

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


class RngStream(IntEnum):
    """Purpose of a stream of random numbers of a pair."""

    DECK = 0
    CHANCE = 1
    FIRST = 2
    SECOND = 3


STREAM_COUNT = len(
    RngStream
)  # from here on two each are of another end: hidden cards, and what comes


class SplitMix64Random(Random):
    """A `Random` whose bits come from SplitMix64, and whose ranges from one multiplication."""

    def __init__(self, state: int) -> None:
        super().__init__(0)
        self.state = state & _MASK

    def __reduce__(self) -> tuple[type["SplitMix64Random"], tuple[int]]:
        """A copy, also in another process, rolls the same from here on."""
        return SplitMix64Random, (self.state,)

    def getrandbits(self, k: int, /) -> int:
        """`k` random bits, 64 at most."""
        self.state = (self.state + _STEP) & _MASK
        mixed = ((self.state ^ (self.state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return (mixed ^ (mixed >> 31)) >> (64 - k)

    def random(self) -> float:
        """A number from 0 up to but not including 1."""
        return self.getrandbits(53) / (1 << 53)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """A number of that range."""
        numbers = range(start) if stop is None else range(start, stop, step)
        return numbers[(self.getrandbits(64) * len(numbers)) >> 64]


def pair_rng(seed: int, pair_number: int, stream_name: int) -> SplitMix64Random:
    """New dice of that purpose for that pair of a run."""
    stream = SplitMix64Random(seed)
    for part in (pair_number, stream_name, 0):
        stream.state = (stream.getrandbits(64) + part) & _MASK
    return stream
