"""What a strategy of Euchre is: one method, from a position to a decision with its reason."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cardsharp import strategy
from cardsharp.euchre.actions import Action
from cardsharp.euchre.position import Position

Stopwatch = Callable[[], float]
"""Seconds that never go back, for a strategy that must not take too long."""


def standing() -> float:
    """A stopwatch on which no time passes: decisions end by their work alone."""
    return 0.0


class Option(strategy.Option[Action]):
    """A choice that was weighed; `value` is its expected gain in points of the deal, or None."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Decision(strategy.Decision[Action]):
    """The chosen action, why, what else was weighed, and over how many worlds.

    `worlds` are the layouts of the hidden cards that were tried, 0 where none were. `cut` says
    that a limit of time ended the weighing early.
    """

    options: tuple[Option, ...] = ()
    worlds: int = 0
    cut: bool = False


Strategy: TypeAlias = strategy.Strategy[Position, Decision]
"""A player: the same position, the same decision, which is one of the position's `choices`."""
