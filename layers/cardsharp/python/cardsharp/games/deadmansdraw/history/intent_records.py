"""Intents of this game in the match log: the actions that we are about to send, as JSON bodies.

They are apart from the other entries, because only a bot writes them: who reads a match does not
need what runs decisions.
"""

from datetime import datetime

from cardsharp.games.deadmansdraw.actions import Action, action_json
from cardsharp.games.deadmansdraw.history.log_records import position_body
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.play import decision_runner
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.strategy import Decision


def intent_body(
    position: DeadMansDrawPosition,
    result: DecisionResult[Decision[Action]],
    decided_at: datetime,
    worker: str,
    strategy: str,
) -> dict[str, object]:
    """Return the action that we are about to send, with its reason and its position."""
    return {
        **decision_runner.intent_body(result, decided_at, worker, strategy),
        "seat": position.seat,
        "turn": position.turn,
        "action": action_json(result.decision.action),
        "position": position_body(position),
    }


def fallback_intent_body(
    action: Action, reason: str, decided_at: datetime, worker: str
) -> dict[str, object]:
    """Return the intent of a fallback action for a view that is not understood."""
    return {
        "action": action_json(action),
        "reason": reason,
        "fault": reason,
        "decidedAt": decided_at.isoformat(),
        "worker": worker,
    }
