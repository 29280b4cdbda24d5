"""A legal action for when no strategy answers: late, broken or refused."""

from cardsharp.blef.actions import CHECK
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import Decision
from cardsharp.deciding import Decider


def safe_action(position: Position, refused: frozenset[int] = frozenset()) -> int:
    """The action that needs no thought: check, or open with the own highest card.

    Actions in `refused` come last.
    """
    legal = position.legal_actions() or (CHECK,)
    wanted = CHECK if CHECK in legal else max((card.value for card in position.hand), default=0)
    return min(legal, key=lambda action: (action in refused, action != wanted, action))


def _refusal(position: Position, action: int) -> str | None:
    return None if action in position.legal_actions() else f"the rules refuse action {action}"


DECIDER = Decider(_refusal, safe_action, Decision, (int,), Position.legal_actions)
