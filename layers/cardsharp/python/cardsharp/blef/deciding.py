"""One decision within its time: the strategy's, or a safe one that says why."""

from collections.abc import Callable
from datetime import timedelta

from cardsharp.blef.actions import CHECK
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import Decision, Strategy
from cardsharp.promptly import Decided, decided


def decide(
    strategy: Strategy,
    position: Position,
    limit: timedelta,
    monotonic: Callable[[], float],
    refused: frozenset[int] = frozenset(),
) -> Decided[Decision]:
    """The strategy's decision, or the safe action where it is late, fails or would be refused.

    `refused` are the actions that the service has already turned down in this position.
    """
    return decided(
        limit,
        monotonic,
        lambda: _checked(strategy.decide(position), position, refused),
        lambda fault: Decision(safe_action(position, refused), f"Safe action: {fault}."),
    )


def safe_action(position: Position, refused: frozenset[int] = frozenset()) -> int:
    """The action that needs no thought: check, or open with the own highest card.

    Actions in `refused` come last.
    """
    legal = position.legal_actions() or (CHECK,)
    wanted = CHECK if CHECK in legal else max((card.value for card in position.hand), default=0)
    return min(legal, key=lambda action: (action in refused, action != wanted, action))


def _checked(decision: Decision, position: Position, refused: frozenset[int]) -> Decision | str:
    """The decision, or why its action must not be sent."""
    if decision.action in refused:
        return f"the service refused action {decision.action}"
    if decision.action not in position.legal_actions():
        return f"the rules refuse action {decision.action}"
    return decision
