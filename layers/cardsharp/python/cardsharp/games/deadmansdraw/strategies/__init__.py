"""Strategies: one module each, one method each, found by name.

To add one, copy the smallest (`example_clients.py`), give it a name with `@strategy("name")` and
decide. A strategy is rebuilt for every turn and remembers nothing: all it may know is in the
`Position`.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, PastMove
from cardsharp.play import strategy as shared
from cardsharp.play.strategy_registry import StrategyRegistry


class PointsOption(shared.Option[Action]):
    """An action that was considered; its `value` is in points."""

    __slots__ = ()
    value: float


class ProbabilityOption(PointsOption):
    """An action whose `value` is a chance, such as that of winning."""

    __slots__ = ()
    unit = "%"


class DeadMansDrawDecision(shared.Decision[Action]):
    """The chosen action, why it was chosen in one sentence, and what else was weighed."""

    __slots__ = ()
    options: tuple[PointsOption, ...]


Strategy: TypeAlias = shared.Strategy[DeadMansDrawPosition, DeadMansDrawDecision]
"""A player: same position, same decision, but for the randomness given at construction."""

IsLate = Callable[[], bool]  # says whether time is short


@runtime_checkable
class TimeAware(Protocol):
    """A strategy that can answer with its best so far where time is short."""

    def with_deadline(self, is_late: IsLate) -> Strategy:
        """The same strategy, which asks `late` while it thinks; this one stays as it is."""


STRATEGIES: StrategyRegistry[Random, Strategy] = StrategyRegistry(
    "cardsharp.games.deadmansdraw.strategies"
)
"""Each is made from a `Random`, the only chance that it may use."""

strategy, build = STRATEGIES.register, STRATEGIES.build


class PastMatch(NamedTuple):
    """A match that was played: the opponent's player index in it, and every recorded move."""

    opponent_seat: int
    history: tuple[PastMove, ...]


@runtime_checkable
class OpponentAware(Protocol):
    """One that plays differently against an opponent whose past, from log or lab, it is told."""

    def with_past_matches(self, matches: Sequence[PastMatch]) -> Strategy:
        """The same strategy with that past in mind; this one stays as it is."""


def with_past_matches(strategy: Strategy, matches: Sequence[PastMatch]) -> Strategy:
    """The player with the past in mind where it asks for it, else as it is."""
    return (
        strategy.with_past_matches(matches)
        if matches and isinstance(strategy, OpponentAware)
        else strategy
    )
