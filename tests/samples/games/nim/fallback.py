"""A legal action for when no strategy answers: late, broken or refused."""

from cardsharp.deciding import Decider
from cardsharp.strategy import Decision
from nim.position import Position
from nim.rules import Action


def safe_action(position: Position, refused: frozenset[Action]) -> Action:
    """The first legal action, those in `refused` last."""
    return min(position.legal_actions(), key=lambda action: (action in refused, action))


def _refusal(position: Position, action: Action) -> str | None:
    """Why the rules refuse an action, None where they do not."""
    return None if action in position.legal_actions() else f"the rules refuse {action}"


DECIDER = Decider(_refusal, safe_action, Decision, (Action,))
decide = DECIDER.decide
