"""What the match log holds of Nim: facts, intents and outcome as JSON bodies."""

from datetime import datetime

from cardsharp.cloud.ports import Body
from cardsharp.deciding import Decided
from cardsharp.logbook import intent_body
from cardsharp.strategy import Decision
from nim.position import Position
from nim.rules import Action
from nim.wire import GameBody


def facts_of(seen: GameBody) -> dict[int, Body]:
    """The moves of a game by number."""
    return {number: move.model_dump() for number, move in enumerate(seen.moves)}


def intent_of(
    position: Position, decided: Decided[Decision[Action]], at: datetime, worker: str, strategy: str
) -> Body:
    """What we are about to do and why, on which heaps."""
    return {
        **intent_body(decided, at, worker, strategy),
        "seat": position.me,
        "turn": position.turn,
        "position": {"heaps": position.heaps},
    }


def outcome_of(seen: GameBody, name: str) -> Body | None:
    """How a game ended for us, None while it runs."""
    if seen.winner is None:
        return None
    result = "won" if seen.names[seen.winner] == name else "lost"
    return {"result": result, "winner": seen.winner, "turns": len(seen.moves)}
