"""What the match log holds of a decision, alike in every game; `replay` reads it again.

Apart from `replay`, whose models would make every function's start slower.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from cardsharp.deciding import Decided
from cardsharp.strategy import Decision

A = TypeVar("A")


def intent_body(
    decided: Decided[Decision[A]],
    at: datetime,
    worker: str,
    strategy: str,
    named: Callable[[A], str] = str,
) -> dict[str, object]:
    """What every game's log says of a decision before it is sent; `replay.Thought` reads it.

    `named` says how the log names an action.
    """
    decision = decided.decision
    heard = {"trace": decided.trace, "printed": decided.printed}
    return {
        "action": named(decision.action),
        "reason": decision.reason,
        "options": [
            {
                "action": named(option.action),
                "value": option.value,
                "note": option.note,
                **({"unit": option.unit} if option.unit else {}),
            }
            for option in decision.options
        ],
        "strategy": strategy,
        "fault": decided.fault,
        "decidedAt": at.isoformat(),
        "decisionMs": round(decided.took / timedelta(milliseconds=1), 3),
        "worker": worker,
        **{name: text for name, text in heard.items() if text},
    }
