"""How the matches of a duel ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

Counts = Mapping[str, tuple[float, ...]]
"""By name: the first player's and the second's, or one number for the match."""


class Luck(NamedTuple):
    """What tells the luck of a match, for the first player.

    `again` is its mean share of the points over all ends that were played, the real one included,
    `cards` what the cards before them brought it, as the judge has it.
    """

    again: float
    cards: float


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended for the first player."""

    points: float
    counts: Counts
    luck: Luck | None = None


Pair = tuple[Result, ...]
"""The matches of one deal, one for each side that the first player can have."""
