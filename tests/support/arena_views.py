"""A match at an arena as its views and events tell it, and a strategy that always does the same."""

from datetime import timedelta
from typing import Any

from fault_simulation.virtual_clock import START

from cardsharp.games.deadmansdraw.actions import DRAW, Action
from cardsharp.games.deadmansdraw.arena_bot.wire import parse_events, parse_view
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision
from support.arena_server import ALICE, BOB
from support.recorded_arena_responses import running_view

LIMIT = timedelta(seconds=20)


def draw(suit: str, value: int) -> list[dict[str, Any]]:
    """The events of a card that is drawn without an effect."""
    card = {"suit": suit, "value": value}
    return [
        {"eventType": "Draw", "drawCard": card},
        {"eventType": "CardPlacedToPlayArea", "cardPlacedToPlayAreaCard": card},
    ]


DRAWN = parse_events(draw("Key", 7))
TURN_END = {"eventType": "TurnEnded", "turnEndedIsSuccessful": True, "turnEndedDelta": {}}
ENDED = parse_events([TURN_END])
TIMED_OUT = [{"eventType": "Comment", "comment": "Player timed out.", "playerIndex": 0}, TURN_END]


def view_of(limit: timedelta | None = LIMIT, **fields: Any) -> MatchView:  # noqa: ANN401
    """The recorded match in our first turn, with a limit, and as if its last move were now."""
    body = running_view()
    params = {**body["creationParams"], "timeout": limit and limit.total_seconds()}
    moved = {"lastMoveAt": START.isoformat(), "playerids": [ALICE, BOB]}
    return parse_view({**body, **moved, "creationParams": params, **fields})


class Plays:
    """A strategy that always does the same."""

    def __init__(self, action: Action = DRAW) -> None:
        self.action = action

    def decide(self, _position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        return DeadMansDrawDecision(self.action, "as the test says")
