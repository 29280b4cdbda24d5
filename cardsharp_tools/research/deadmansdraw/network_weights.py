"""Weights of a network as floats for training, and as 16-bit integers for shipping."""

from array import array
from collections.abc import Iterable, Iterator
from functools import cache

from cardsharp.games.deadmansdraw.strategies.search.network import (
    HIDDEN_UNITS,
    OUTPUT_COUNT,
    WEIGHT_FIELDS,
    ValueNetwork,
)

_MAX_WEIGHT = (1 << 15) - 1  # maximum of a shipped network weight of 16 bits


def quantised(weights: Iterable[float]) -> ValueNetwork:
    """Return the network as it is shipped, in 16 bits; the few larger weights are clipped."""
    rounded_weights = (
        round(weight * scale)
        for weight, scale in zip(weights, _iter_fixed_point_scales(), strict=True)
    )
    return ValueNetwork(
        array(
            "h",
            (
                max(-_MAX_WEIGHT, min(rounded_weight, _MAX_WEIGHT))
                for rounded_weight in rounded_weights
            ),
        )
    )


@cache
def float_weights(network: ValueNetwork) -> "array[float]":
    """Return a network's weights as floats; they are exact up to rounding."""
    pairs = zip(network.numbers, _iter_fixed_point_scales(), strict=True)
    return array("f", (weight / scale for weight, scale in pairs))


def _iter_fixed_point_scales() -> Iterator[int]:
    """Yield the fixed-point value of 1.0 for each weight."""
    for _ in range(OUTPUT_COUNT):
        for field in WEIGHT_FIELDS.values():
            yield from (1 << field.fraction_bits for _ in range(field.rows * HIDDEN_UNITS))
