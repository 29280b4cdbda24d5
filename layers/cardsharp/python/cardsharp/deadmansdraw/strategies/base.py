"""What a strategy is: one method, from a position to a decision with its reason."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.position import Position


@dataclass(frozen=True, slots=True)
class Option:
    """An action that was considered and what it was thought to be worth.

    The unit of `value` is the strategy's own (points, or a chance of winning): it ranks the
    options of one decision and explains them, nothing more.
    """

    action: Action
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The chosen action, why it was chosen in one sentence, and what else was weighed."""

    action: Action
    reason: str
    options: tuple[Option, ...] = ()


class Strategy(Protocol):
    """A player: same position, same decision, but for the randomness given at construction."""

    def decide(self, position: Position) -> Decision:
        """The decision of the player who is to act in `position`."""
        ...


Late = Callable[[], bool]
"""Says whether time is short."""


@runtime_checkable
class Hurrying(Protocol):
    """A strategy that can answer with its best so far where time is short."""

    def hurried(self, late: Late) -> Strategy:
        """The same strategy, which asks `late` while it thinks; this one stays as it is."""
        ...
