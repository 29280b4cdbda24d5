"""Strategies: one module each, one method each, found by name.

To add one, copy the smallest (`greedy.py`), give it a name with `@strategy("name")` and decide.
A strategy remembers nothing: all it may know is in the `Position`. Some take numbers:
`threshold(0.2, 0.5)`.
"""

import re
from random import Random
from typing import TypeAlias

from cardsharp import strategy as shared
from cardsharp.blef.position import Position
from cardsharp.errors import ConfigError, Illegal
from cardsharp.registry import Registry


class Option(shared.Option[int]):
    """An action that was considered; its `value` is a chance between 0 and 1."""

    __slots__ = ()
    value: float
    unit = "%"


class Decision(shared.Decision[int]):
    """The chosen action, why it was chosen in one sentence, and what else was weighed."""

    __slots__ = ()
    options: tuple[Option, ...]


Strategy: TypeAlias = shared.Strategy[Position, Decision]
"""A player, who raises `Illegal` where the viewer of the position is not to act."""


def choices(position: Position) -> tuple[int, ...]:
    """What the viewer may do, at least one action; raises `Illegal` if the viewer is not to act."""
    if position.me is None or position.turn != position.me:
        raise Illegal("There is nothing to decide: the viewer of this position is not to act.")
    return position.legal_actions()


_CALL = re.compile(r"([a-z][a-z0-9-]*)(?:\(([0-9., ]*)\))?")


class _Numbered(Registry[Random, Strategy]):
    """Each is made from a `Random`, and the numbers in parentheses, each with a default."""

    def build(self, name: str, given: Random) -> Strategy:
        """A new strategy, such as `threshold(0.2, 0.5)`, with its chance; raises `ConfigError`."""
        call = _CALL.fullmatch(name.strip())
        maker = self.maker(name if call is None else call[1])
        try:
            numbers = [float(number) for number in call[2].split(",")] if call and call[2] else []
            return maker(given, *numbers)
        except (TypeError, ValueError):
            raise ConfigError(
                f"The numbers of '{name}' are not what the strategy takes; "
                "write them as in threshold(0.2, 0.5)."
            ) from None


STRATEGIES = _Numbered("cardsharp.blef.strategies")

strategy, build = STRATEGIES.strategy, STRATEGIES.build
names, about = STRATEGIES.names, STRATEGIES.about
