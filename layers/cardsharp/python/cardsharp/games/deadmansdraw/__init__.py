"""Dead Man's Draw: rules, positions, strategies, the arena, and the bot that plays there.

A strategy file needs no more than this:

    from cardsharp.games.deadmansdraw import DRAW, END_TURN, Action, Decision, Position, strategy
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
    from cardsharp.games.deadmansdraw.cards import Bank, Card, Suit
    from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition as Position
    from cardsharp.games.deadmansdraw.strategies import (
        DeadMansDrawDecision as Decision,
    )
    from cardsharp.games.deadmansdraw.strategies import (
        PointsOption,
        ProbabilityOption,
        Strategy,
        build,
        strategy,
    )

__all__ = (
    "DRAW",
    "END_TURN",
    "Action",
    "Bank",
    "Card",
    "Decision",
    "EffectType",
    "PointsOption",
    "Position",
    "ProbabilityOption",
    "Strategy",
    "Suit",
    "build",
    "respond",
    "strategy",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "Action": "actions",
        "Bank": "cards",
        "Card": "cards",
        "DRAW": "actions",
        "Decision": "strategies:DeadMansDrawDecision",
        "END_TURN": "actions",
        "EffectType": "actions",
        "PointsOption": "strategies",
        "Position": "position:DeadMansDrawPosition",
        "ProbabilityOption": "strategies",
        "Strategy": "strategies",
        "Suit": "cards",
        "build": "strategies",
        "respond": "actions",
        "strategy": "strategies",
    },
)
