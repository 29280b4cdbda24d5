"""Euchre: rules, positions and strategies, and the service that answers a tournament coordinator.

A strategy file needs no more than this:

    from cardsharp.games.euchre import Decision, Position, strategy
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.games.euchre.actions import Bid, DecisionType, Defend, Discard, Play
    from cardsharp.games.euchre.position import EuchrePosition as Position
    from cardsharp.games.euchre.strategies import (
        EuchreDecision as Decision,
    )
    from cardsharp.games.euchre.strategies import (
        EuchreOption as PointsOption,
    )
    from cardsharp.games.euchre.strategies import (
        Strategy,
        build,
        strategy,
    )

__all__ = (
    "Bid",
    "Decision",
    "DecisionType",
    "Defend",
    "Discard",
    "Play",
    "PointsOption",
    "Position",
    "Strategy",
    "build",
    "strategy",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "Bid": "actions",
        "Decision": "strategies:EuchreDecision",
        "DecisionType": "actions",
        "Defend": "actions",
        "Discard": "actions",
        "Play": "actions",
        "PointsOption": "strategies:EuchreOption",
        "Position": "position:EuchrePosition",
        "Strategy": "strategies",
        "build": "strategies",
        "strategy": "strategies",
    },
)
