"""Fallback action of Blef, for a strategy whose decision is late, broken or rejected."""

from cardsharp.games.blef.actions import CHECK
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import BlefDecision
from cardsharp.play.decision_runner import DecisionRunner


def fallback_action(position: BlefPosition, rejected_actions: frozenset[int] = frozenset()) -> int:
    """Return the simplest action: check, or else open with our highest card.

    Actions in `rejected_actions` come last.
    """
    legal = position.legal_actions() or (CHECK,)
    preferred = CHECK if CHECK in legal else max((card.value for card in position.hand), default=0)
    return min(legal, key=lambda action: (action in rejected_actions, action != preferred, action))


def _explain_refusal(position: BlefPosition, action: int) -> str | None:
    return None if action in position.legal_actions() else f"the rules refuse action {action}"


DECISION_RUNNER = DecisionRunner(
    _explain_refusal, fallback_action, BlefDecision, (int,), BlefPosition.legal_actions
)
