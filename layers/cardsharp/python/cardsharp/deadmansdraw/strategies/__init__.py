"""Strategies: one module each, one method each, found by name.

To add one, copy the smallest (`example_clients.py`), give it a name with `@strategy("name")` and
decide. A strategy is rebuilt for every turn and remembers nothing: all it may know is in the
`Position`.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from cardsharp import strategy as shared
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.position import PastMove, Position
from cardsharp.registry import Registry


class Option(shared.Option[Action]):
    """An action that was considered; its `value` is in points."""

    __slots__ = ()
    value: float


class Chance(Option):
    """An action whose `value` is a chance, such as that of winning."""

    __slots__ = ()
    unit = "%"


class Decision(shared.Decision[Action]):
    """The chosen action, why it was chosen in one sentence, and what else was weighed."""

    __slots__ = ()
    options: tuple[Option, ...]


Strategy: TypeAlias = shared.Strategy[Position, Decision]
"""A player: same position, same decision, but for the randomness given at construction."""

Late = Callable[[], bool]  # says whether time is short


@runtime_checkable
class Hurrying(Protocol):
    """A strategy that can answer with its best so far where time is short."""

    def hurried(self, late: Late) -> Strategy:
        """The same strategy, which asks `late` while it thinks; this one stays as it is."""


STRATEGIES: Registry[Random, Strategy] = Registry("cardsharp.deadmansdraw.strategies")
"""Each is made from a `Random`, the only chance that it may use."""

strategy, build = STRATEGIES.strategy, STRATEGIES.build


class PastMatch(NamedTuple):
    """A match that was played: the opponent's player index in it, and every recorded move."""

    opponent: int
    history: tuple[PastMove, ...]


@runtime_checkable
class Learner(Protocol):
    """One that plays differently against an opponent whose past, from log or lab, it is told."""

    def knowing(self, past: Sequence[PastMatch]) -> Strategy:
        """The same strategy with that past in mind; this one stays as it is."""


def briefed(player: Strategy, past: Sequence[PastMatch]) -> Strategy:
    """The player with the past in mind where it asks for it, else as it is."""
    return player.knowing(past) if past and isinstance(player, Learner) else player
