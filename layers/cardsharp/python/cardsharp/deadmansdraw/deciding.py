"""One decision within its time: the strategy's, or a safe one that says why."""

from collections.abc import Callable
from datetime import timedelta

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.fallback import safe_action
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import apply
from cardsharp.deadmansdraw.strategies import Decision, Hurrying, Strategy
from cardsharp.errors import RulesError
from cardsharp.promptly import Decided, decided

HURRY = 0.8
"""The share of its time after which a strategy that can be hurried is."""


def decide(
    strategy: Strategy,
    position: Position,
    limit: timedelta,
    monotonic: Callable[[], float],
    refused: frozenset[Action] = frozenset(),
) -> Decided[Decision]:
    """The strategy's decision, or the safe action where it is late, fails or would be refused.

    `refused` are the actions that the arena has already turned down in this position.
    """
    if isinstance(strategy, Hurrying):
        late = monotonic() + HURRY * limit.total_seconds()
        strategy = strategy.hurried(lambda: monotonic() > late)
    return decided(
        limit,
        monotonic,
        lambda: _checked(strategy.decide(position), position, refused),
        lambda fault: Decision(safe_action(position, refused), f"Safe action: {fault}."),
    )


def _checked(decision: Decision, position: Position, refused: frozenset[Action]) -> Decision | str:
    """The decision, or why its action must not be sent."""
    if decision.action in refused:
        return f"the arena refused '{decision.action}'"
    try:
        apply(position.state(), decision.action, lambda pile, number: pile[:number])
    except RulesError as error:
        return f"the rules refuse '{decision.action}': {error}"
    return decision
