"""How the matches of a duel ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Counts = Mapping[str, tuple[float, ...]]
"""By name: the first player's and the second's, or one number for the match."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended for the first player; `seconds` are the processor's, a decision."""

    points: float
    counts: Counts
    seconds: tuple[float, ...] = field(default=(), compare=False)


Pair = tuple[Result, ...]
"""The matches of one deal, one for each side that the first player can have."""
