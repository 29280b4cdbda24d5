"""Strategies: one module each, one method each, found by name.

To add one, copy the smallest (`chance.py`), give it a name with `@strategy("name")` and decide.
A strategy remembers nothing and throws no dice of its own: all it may know is in the `Position`,
and whatever randomness it wants it draws from its `seed`. So the same question has one answer, on
any machine, and no hidden card can leak into it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cardsharp import strategy as shared
from cardsharp.euchre.actions import Action
from cardsharp.euchre.position import Position
from cardsharp.registry import Registry

Stopwatch = Callable[[], float]  # seconds that never go back, to take not too long


def standing() -> float:
    """A stopwatch on which no time passes: decisions end by their work alone."""
    return 0.0


class Option(shared.Option[Action]):
    """A choice that was weighed; `value` is its expected gain in points of the deal, or None."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Decision(shared.Decision[Action]):
    """The chosen action, why, what else was weighed, and over how many worlds.

    `worlds` are the layouts of the hidden cards that were tried, 0 where none were. `cut` says
    that a limit of time ended the weighing early.
    """

    options: tuple[Option, ...] = ()
    worlds: int = 0
    cut: bool = False


Strategy: TypeAlias = shared.Strategy[Position, Decision]
"""A player: the same position, the same decision, which is one of the position's `choices`."""

STRATEGIES: Registry[Stopwatch, Strategy] = Registry("cardsharp.euchre.strategies")
"""Each is made from a stopwatch, the only time that it may know."""

strategy, names, about = STRATEGIES.strategy, STRATEGIES.names, STRATEGIES.about


def build(name: str, stopwatch: Stopwatch = standing) -> Strategy:
    """A new strategy; raises `ConfigError` where none has this name."""
    return STRATEGIES.build(name, stopwatch)
