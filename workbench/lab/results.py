"""How the matches of a duel ended."""

from collections.abc import Mapping
from dataclasses import dataclass

Counts = Mapping[str, tuple[float, ...]]
"""By name: the first player's and the second's, or one number for the match."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended for the first player."""

    points: float
    counts: Counts


Pair = tuple[Result, ...]
"""The matches of one deal, one for each side that the first player can have."""
