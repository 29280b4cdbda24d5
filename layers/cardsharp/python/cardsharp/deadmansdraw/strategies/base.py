"""What a strategy of Dead Man's Draw is: one method, from a position to a decision."""

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from cardsharp import strategy
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.position import Position


class Option(strategy.Option[Action]):
    """An action that was considered; its `value` is in points."""

    __slots__ = ()
    value: float


class Chance(Option):
    """An action whose `value` is a chance, such as that of winning."""

    __slots__ = ()
    unit = "%"


class Decision(strategy.Decision[Action]):
    """The chosen action, why it was chosen in one sentence, and what else was weighed."""

    __slots__ = ()
    options: tuple[Option, ...]


Strategy: TypeAlias = strategy.Strategy[Position, Decision]
"""A player: same position, same decision, but for the randomness given at construction."""

Late = Callable[[], bool]
"""Says whether time is short."""


@runtime_checkable
class Hurrying(Protocol):
    """A strategy that can answer with its best so far where time is short."""

    def hurried(self, late: Late) -> Strategy:
        """The same strategy, which asks `late` while it thinks; this one stays as it is."""
        ...
