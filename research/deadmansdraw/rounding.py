"""A network's weights as they are learned, and whole as they ship."""

from array import array
from collections.abc import Iterable, Iterator
from functools import cache

from cardsharp.deadmansdraw.strategies.search.network import FIELDS, HIDDEN, PARTS, Network

_MOST = (1 << 15) - 1  # of 16 bits


def rounded(weights: Iterable[float]) -> Network:
    """The network as it ships, in 16 bits: a weight beyond them, of which few are, stops there."""
    numbers = (round(weight * one) for weight, one in zip(weights, _ones(), strict=True))
    return Network(array("h", (max(-_MOST, min(number, _MOST)) for number in numbers)))


@cache
def floats_of(network: Network) -> "array[float]":
    """A network's weights as they were learned, but for rounding."""
    pairs = zip(network.numbers, _ones(), strict=True)
    return array("f", (number / one for number, one in pairs))


def _ones() -> Iterator[int]:
    """What 1.0 is, weight by weight."""
    for _ in range(PARTS):
        for field in FIELDS.values():
            yield from (1 << field.bits for _ in range(field.rows * HIDDEN))
