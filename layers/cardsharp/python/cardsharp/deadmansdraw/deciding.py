"""One decision within its time: the strategy's, or a safe one that says why."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.fallback import safe_action
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import apply
from cardsharp.deadmansdraw.strategies import Decision, Hurrying, Strategy
from cardsharp.errors import RulesError
from cardsharp.promptly import within

HURRY = 0.8
"""The share of its time after which a strategy that can be hurried is."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision, how long it took, and what went wrong where the safe action replaced it."""

    decision: Decision
    took: timedelta
    fault: str | None = None


def decide(
    strategy: Strategy,
    position: Position,
    limit: timedelta,
    monotonic: Callable[[], float],
    refused: frozenset[Action] = frozenset(),
) -> Decided:
    """The strategy's decision, or the safe action where it is late, fails or would be refused.

    `refused` are the actions that the arena has already turned down in this position.
    """
    began = monotonic()
    if isinstance(strategy, Hurrying):
        soon = HURRY * limit.total_seconds()
        strategy = strategy.hurried(lambda: monotonic() - began > soon)
    found = within(limit, lambda: _checked(strategy.decide(position), position, refused))
    fault: str | None = None
    if isinstance(found, str):
        fault = found
        found = Decision(safe_action(position, refused), f"Safe action: {fault}.")
    return Decided(found, timedelta(seconds=monotonic() - began), fault)


def _checked(decision: Decision, position: Position, refused: frozenset[Action]) -> Decision | str:
    """The decision, or why its action must not be sent."""
    if decision.action in refused:
        return f"the arena refused '{decision.action}'"
    try:
        apply(position.state(), decision.action, lambda pile, number: pile[:number])
    except RulesError as error:
        return f"the rules refuse '{decision.action}': {error}"
    return decision
