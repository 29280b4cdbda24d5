"""Blef: rules, positions and strategies, its HTTP service, and a bot that plays there.

A strategy file needs no more than this:

    from cardsharp.games.blef import BETS, CHECK, Decision, Position, strategy
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.games.blef.actions import BETS, CHECK, action_name
    from cardsharp.games.blef.cards import BlefCard as Card
    from cardsharp.games.blef.position import BlefPosition as Position
    from cardsharp.games.blef.strategies import (
        BlefDecision as Decision,
    )
    from cardsharp.games.blef.strategies import (
        BlefOption as ProbabilityOption,
    )
    from cardsharp.games.blef.strategies import (
        Strategy,
        build,
        legal_choices,
        strategy,
    )

__all__ = (
    "BETS",
    "CHECK",
    "Card",
    "Decision",
    "Position",
    "ProbabilityOption",
    "Strategy",
    "action_name",
    "build",
    "legal_choices",
    "strategy",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "BETS": "actions",
        "CHECK": "actions",
        "Card": "cards:BlefCard",
        "Decision": "strategies:BlefDecision",
        "Position": "position:BlefPosition",
        "ProbabilityOption": "strategies:BlefOption",
        "Strategy": "strategies",
        "action_name": "actions",
        "build": "strategies",
        "legal_choices": "strategies",
        "strategy": "strategies",
    },
)
