"""What is known of an opponent before a match begins: the matches it has played against us.

A strategy is rebuilt for every turn and remembers nothing, so the past comes to it from outside:
from the match log, or in the lab from the series that is being played.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from cardsharp.deadmansdraw.position import PastMove
from cardsharp.deadmansdraw.strategies.base import Strategy


class PastMatch(NamedTuple):
    """A match that was played: the opponent's player index in it, and every recorded move."""

    opponent: int
    history: tuple[PastMove, ...]


@runtime_checkable
class Learner(Protocol):
    """A strategy that plays differently against an opponent whose past it knows."""

    def knowing(self, past: Sequence[PastMatch]) -> Strategy:
        """The same strategy with that past in mind; this one stays as it is."""
        ...


def briefed(strategy: Strategy, past: Sequence[PastMatch]) -> Strategy:
    """`strategy` with the past in mind where it asks for it, else as it is."""
    return strategy.knowing(past) if past and isinstance(strategy, Learner) else strategy
