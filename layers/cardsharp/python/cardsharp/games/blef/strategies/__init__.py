"""Strategies of Blef: one module each, registered by name.

To add one, copy the smallest (`greedy.py`), give it a name with `@strategy("name")` and write
`decide`. A strategy has no memory: everything that it may know is in the position. Some strategies
take numbers, as in `threshold(0.2, 0.5)`.
"""

import re
from random import Random
from typing import TypeAlias

from cardsharp.errors import ConfigError, IllegalAction
from cardsharp.games.blef.position import BlefPosition
from cardsharp.play import strategy as shared
from cardsharp.play.strategy_registry import StrategyRegistry


class BlefOption(shared.Option[int]):
    """Action that a strategy considered. Its `value` is a probability between 0 and 1."""

    __slots__ = ()
    value: float
    unit = "%"


class BlefDecision(shared.Decision[int]):
    """Chosen action, the reason in one sentence, and the options that were considered."""

    __slots__ = ()
    options: tuple[BlefOption, ...]


Strategy: TypeAlias = shared.Strategy[BlefPosition, BlefDecision]
"""Player of Blef. It raises `IllegalAction` if the viewer of the position is not to act."""


def legal_choices(position: BlefPosition) -> tuple[int, ...]:
    """Return the legal actions of the position's viewer, at least one.

    Raises `IllegalAction` if the viewer is not to act.
    """
    if position.seat is None or position.turn != position.seat:
        raise IllegalAction(
            "There is nothing to decide: the viewer of this position is not to act."
        )
    return position.legal_actions()


_CALL_PATTERN = re.compile(r"([a-z][a-z0-9-]*)(?:\(([0-9., ]*)\))?")


class _NumericStrategyRegistry(StrategyRegistry[Random, Strategy]):
    """Registry of strategies that take a random generator and numbers, each with a default."""

    def build(self, name: str, argument: Random) -> Strategy:
        """Return a new strategy, such as `threshold(0.2, 0.5)`.

        `argument` is its random generator. Raises `ConfigError` if there is no such strategy, or if
        it does not take these numbers.
        """
        call = _CALL_PATTERN.fullmatch(name.strip())
        maker = self.factory(name if call is None else call[1])
        try:
            parameters = [float(value) for value in call[2].split(",")] if call and call[2] else []
            return maker(argument, *parameters)
        except (TypeError, ValueError):
            raise ConfigError(
                f"The strategy in '{name}' does not take these numbers; "
                "write them as in threshold(0.2, 0.5)."
            ) from None


STRATEGIES = _NumericStrategyRegistry("cardsharp.games.blef.strategies")

strategy, build = STRATEGIES.register, STRATEGIES.build
names, about = STRATEGIES.names, STRATEGIES.summary
