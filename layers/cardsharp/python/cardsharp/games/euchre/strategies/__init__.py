"""Strategies: one module each, one method each, found by name.

To add one, copy the smallest (`chance.py`), give it a name with `@strategy("name")` and decide.
A strategy remembers nothing and throws no dice of its own: all it may know is in the `Position`,
and whatever randomness it wants it draws from its `seed`. So the same question has one answer, on
any machine, and no hidden card can leak into it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cardsharp.games.euchre.actions import Action
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.play import strategy as shared
from cardsharp.play.strategy_registry import StrategyRegistry

ElapsedSeconds = Callable[[], float]  # seconds that never go back, to take not too long


def frozen_stopwatch() -> float:
    """A stopwatch on which no time passes: decisions end by their work alone."""
    return 0.0


class EuchreOption(shared.Option[Action]):
    """A choice that was weighed; `value` is its expected gain in points of the deal, or None."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class EuchreDecision(shared.Decision[Action]):
    """The chosen action, why, what else was weighed, and over how many worlds.

    `worlds` are the layouts of the hidden cards that were tried, 0 where none were. `cut` says
    that a limit of time ended the weighing early.
    """

    options: tuple[EuchreOption, ...] = ()
    world_count: int = 0
    was_cut_short: bool = False


Strategy: TypeAlias = shared.Strategy[EuchrePosition, EuchreDecision]
"""A player: the same position, the same decision, which is one of the position's `choices`."""

STRATEGIES: StrategyRegistry[ElapsedSeconds, Strategy] = StrategyRegistry(
    "cardsharp.games.euchre.strategies"
)
"""Each is made from a stopwatch, the only time that it may know."""

strategy, names, about = STRATEGIES.register, STRATEGIES.names, STRATEGIES.summary


def build(name: str, stopwatch: ElapsedSeconds = frozen_stopwatch) -> Strategy:
    """A new strategy; raises `ConfigError` where none has this name."""
    return STRATEGIES.build(name, stopwatch)
