"""Strategies of Dead Man's Draw: one module each, registered by name.

To add one, copy the smallest (`example_clients.py`), give it a name with `@strategy("name")` and
write `decide`. A strategy is built anew for every turn and has no memory: everything that it may
know is in the position.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, PastMove
from cardsharp.play import strategy as shared
from cardsharp.play.strategy_registry import StrategyRegistry


class PointsOption(shared.Option[Action]):
    """Action that a strategy considered. Its `value` is in points."""

    __slots__ = ()
    value: float


class ProbabilityOption(PointsOption):
    """Action whose `value` is a probability, such as that of winning."""

    __slots__ = ()
    unit = "%"


class DeadMansDrawDecision(shared.Decision[Action]):
    """Chosen action, the reason in one sentence, and the options that were considered."""

    __slots__ = ()
    options: tuple[PointsOption, ...]


Strategy: TypeAlias = shared.Strategy[DeadMansDrawPosition, DeadMansDrawDecision]
"""Player of Dead Man's Draw.

The same position always gives the same decision, except for the random generator that the
constructor received.
"""

IsLate = Callable[[], bool]  # returns True once time is short


@runtime_checkable
class TimeAware(Protocol):
    """A strategy that can return its best decision so far when time is short."""

    def with_deadline(self, is_late: IsLate) -> Strategy:
        """Return the strategy with a check of the time; this one stays unchanged."""


@runtime_checkable
class CpuTimeAware(Protocol):
    """A strategy that searches further if a decision has more processor time."""

    def with_cpu_seconds(self, cpu_seconds: float | None) -> Strategy:
        """Return the strategy for decisions of this length; this one stays unchanged.

        None means that the time is not limited.
        """


STRATEGIES: StrategyRegistry[Random, Strategy] = StrategyRegistry(
    "cardsharp.games.deadmansdraw.strategies"
)
"""Registry. Each strategy is built from a `Random`, its only source of randomness."""

strategy, build = STRATEGIES.register, STRATEGIES.build


class PastMatch(NamedTuple):
    """Finished match: the opponent's player index in it, and every recorded move."""

    opponent_seat: int
    history: tuple[PastMove, ...]


@runtime_checkable
class OpponentAware(Protocol):
    """A strategy that plays differently against an opponent whose past matches it gets."""

    def with_past_matches(self, matches: Sequence[PastMatch]) -> Strategy:
        """Return the same strategy, prepared with these matches; this one stays as it is."""


def with_past_matches(strategy: Strategy, matches: Sequence[PastMatch]) -> Strategy:
    """Return the strategy with the past matches if it uses them, else the strategy unchanged."""
    return (
        strategy.with_past_matches(matches)
        if matches and isinstance(strategy, OpponentAware)
        else strategy
    )
