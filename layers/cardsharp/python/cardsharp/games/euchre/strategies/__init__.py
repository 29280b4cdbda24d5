"""Strategies of Euchre: one module each, registered by name.

To add one, copy the smallest (`uniform.py`), give it a name with `@strategy("name")` and write
`decide`. A strategy has no memory and no random generator of its own: everything that it may know
is in the position, and it must draw any randomness from the position's `seed`. So the same question
has the same answer on any machine, and no hidden card can leak into it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cardsharp.games.euchre.actions import Action
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.play import strategy as shared
from cardsharp.play.strategy_registry import StrategyRegistry

ElapsedSeconds = Callable[[], float]  # monotonic seconds, by which a strategy limits its time


def zero_elapsed_seconds() -> float:
    """Return 0 elapsed seconds.

    As a stopwatch on which no time passes it lets decisions end by their work alone.
    """
    return 0.0


class EuchreOption(shared.Option[Action]):
    """Action that a strategy considered; `value` is its expected points in the deal, or None."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class EuchreDecision(shared.Decision[Action]):
    """Chosen action, its reason, the options that were considered, and the number of worlds.

    `world_count` is the number of tried layouts of the hidden cards, 0 if there were none.
    `was_cut_short` is True if a time limit ended the search early.
    """

    options: tuple[EuchreOption, ...] = ()
    world_count: int = 0
    was_cut_short: bool = False


Strategy: TypeAlias = shared.Strategy[EuchrePosition, EuchreDecision]
"""Player of Euchre: the same position always gives the same decision, a legal action."""

STRATEGIES: StrategyRegistry[ElapsedSeconds, Strategy] = StrategyRegistry(
    "cardsharp.games.euchre.strategies"
)
"""Registry. Each strategy is built from a stopwatch, its only source of time."""

strategy, names, about = STRATEGIES.register, STRATEGIES.names, STRATEGIES.summary


def build(name: str, stopwatch: ElapsedSeconds = zero_elapsed_seconds) -> Strategy:
    """Return a new strategy; raise `ConfigError` if there is none with this name."""
    return STRATEGIES.build(name, stopwatch)
