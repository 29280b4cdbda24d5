"""What a strategy of Blef is: one method, from a position to a decision."""

from typing import TypeAlias

from cardsharp import strategy
from cardsharp.blef.position import Position
from cardsharp.errors import Illegal


class Option(strategy.Option[int]):
    """An action that was considered; its `value` is a chance between 0 and 1."""

    __slots__ = ()
    value: float
    unit = "%"


class Decision(strategy.Decision[int]):
    """The chosen action, why it was chosen in one sentence, and what else was weighed."""

    __slots__ = ()
    options: tuple[Option, ...]


Strategy: TypeAlias = strategy.Strategy[Position, Decision]
"""A player, who raises `Illegal` where the viewer of the position is not to act."""


def choices(position: Position) -> tuple[int, ...]:
    """What the viewer may do, at least one action.

    Raises:
        Illegal: the viewer is not to act.
    """
    if position.me is None or position.turn != position.me:
        raise Illegal("There is nothing to decide: the viewer of this position is not to act.")
    return position.legal_actions()
