"""Strategies: one module each, one method each, found by name.

To add one, copy the smallest (`greedy.py`), give it a name with `@strategy("name")` and decide.
A strategy remembers nothing: all it may know is in the `Position`. Some take numbers:
`threshold(0.2, 0.5)`.
"""

import re
from random import Random
from typing import TypeAlias

from cardsharp.errors import ConfigError, IllegalAction
from cardsharp.games.blef.position import BlefPosition
from cardsharp.play import strategy as shared
from cardsharp.play.strategy_registry import StrategyRegistry


class BlefOption(shared.Option[int]):
    """An action that was considered; its `value` is a chance between 0 and 1."""

    __slots__ = ()
    value: float
    unit = "%"


class BlefDecision(shared.Decision[int]):
    """The chosen action, the reason in one sentence, and the options that were considered."""

    __slots__ = ()
    options: tuple[BlefOption, ...]


Strategy: TypeAlias = shared.Strategy[BlefPosition, BlefDecision]
"""A player, who raises `Illegal` where the viewer of the position is not to act."""


def legal_choices(position: BlefPosition) -> tuple[int, ...]:
    """Return the viewer's legal actions, at least one; raise `IllegalAction` if not to act."""
    if position.seat is None or position.turn != position.seat:
        raise IllegalAction(
            "There is nothing to decide: the viewer of this position is not to act."
        )
    return position.legal_actions()


_CALL = re.compile(r"([a-z][a-z0-9-]*)(?:\(([0-9., ]*)\))?")


class _Numbered(StrategyRegistry[Random, Strategy]):
    """Each is made from a `Random`, and the numbers in parentheses, each with a default."""

    def build(self, name: str, argument: Random) -> Strategy:
        """A new strategy, such as `threshold(0.2, 0.5)`, with its chance; raises `ConfigError`."""
        call = _CALL.fullmatch(name.strip())
        maker = self.factory(name if call is None else call[1])
        try:
            numbers = [float(number) for number in call[2].split(",")] if call and call[2] else []
            return maker(argument, *numbers)
        except (TypeError, ValueError):
            raise ConfigError(
                f"The numbers of '{name}' are not what the strategy takes; "
                "write them as in threshold(0.2, 0.5)."
            ) from None


STRATEGIES = _Numbered("cardsharp.games.blef.strategies")

strategy, build = STRATEGIES.register, STRATEGIES.build
names, about = STRATEGIES.names, STRATEGIES.summary
