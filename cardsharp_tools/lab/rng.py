"""Random numbers of the lab: a small generator that plain Python and compiled code share.

A match is repeatable by either of them. The deal, the picks from the discard pile and the
strategies' own random numbers are SplitMix64 streams. Each is seeded from the run's seed, the
pair's number and a purpose (`rng_for` and its companions in native/core.c).
"""

from enum import IntEnum
from random import Random

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


class RngPurpose(IntEnum):
    """Purpose of a random stream of a pair."""

    DECK = 0
    CHANCE = 1
    FIRST = 2
    SECOND = 3


STREAM_COUNT = len(RngPurpose)
"""First number of the streams of replayed endings: two each, for hidden cards and for the rest."""


class SplitMix64Random(Random):
    """`Random` with bits from SplitMix64, and ranges from a single multiplication."""

    def __init__(self, state: int) -> None:
        super().__init__(0)
        self.state = state & _MASK

    def __reduce__(self) -> tuple[type["SplitMix64Random"], tuple[int]]:
        """Return the parts of a copy that continues with the same numbers in any process."""
        return SplitMix64Random, (self.state,)

    def getrandbits(self, k: int, /) -> int:
        """Return `k` random bits, 64 at most."""
        self.state = (self.state + _STEP) & _MASK
        mixed = ((self.state ^ (self.state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return (mixed ^ (mixed >> 31)) >> (64 - k)

    def random(self) -> float:
        """Return a number from 0 up to but not including 1."""
        return self.getrandbits(53) / (1 << 53)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """Return a number of that range."""
        candidates = range(start) if stop is None else range(start, stop, step)
        return candidates[(self.getrandbits(64) * len(candidates)) >> 64]


def pair_rng(seed: int, pair_number: int, stream_number: int) -> SplitMix64Random:
    """Return the random stream of that name for a pair of a run."""
    stream = SplitMix64Random(seed)
    for seed_part in (pair_number, stream_number, 0):
        stream.state = (stream.getrandbits(64) + seed_part) & _MASK
    return stream
