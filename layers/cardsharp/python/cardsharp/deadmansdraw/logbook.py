"""What the match log holds for this game: header, intents, facts and outcome as JSON bodies.

Facts are the arena's own moves, so the log is a copy of the arena's history with our reasons
beside it. Seeds are not in the views and so cannot get here.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from cardsharp import deciding
from cardsharp.cloud.ports import Body
from cardsharp.deadmansdraw.actions import Action, action_body
from cardsharp.deadmansdraw.cards import Card, deck_order
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.position import Ended, Position
from cardsharp.deadmansdraw.wire_views import EventType, EventView, MatchView, MoveView
from cardsharp.deciding import Decided
from cardsharp.strategy import Decision


def header_body(view: MatchView, seats: dict[int, str]) -> dict[str, object]:
    """Who plays, and which seats are ours with which strategy."""
    timeout = view.creation_params.timeout
    return {
        "game": GAME.name,
        "players": list(view.player_ids),
        "names": list(view.player_names),
        "tags": list(view.creation_params.tags),
        "seats": {str(index): strategy for index, strategy in seats.items()},
        "startedAt": view.started_at,
        "timeoutSeconds": None if timeout is None else timeout.total_seconds(),
    }


def intent_body(
    position: Position, decided: Decided[Decision[Action]], at: datetime, worker: str, strategy: str
) -> dict[str, object]:
    """What we are about to do and why, with the position that it was decided on."""
    return {
        **deciding.intent_body(decided, at, worker, strategy),
        "seat": position.me,
        "turn": position.turn,
        "action": action_body(decided.decision.action),
        "position": position_body(position),
    }


def blind_intent_body(action: Action, reason: str, at: datetime, worker: str) -> dict[str, object]:
    """The intent of an action that no strategy could decide, because the view is not understood."""
    return {
        "action": action_body(action),
        "reason": reason,
        "fault": reason,
        "decidedAt": at.isoformat(),
        "worker": worker,
    }


def position_body(position: Position) -> dict[str, object]:
    """A position as text: cards as "Key3 Map5", banks in order of entry.

    Not as lists, whose quotes would make many an intent a unit dearer to write.
    """
    pending = position.pending
    return {
        "me": position.me,
        "banks": [_names(bank) for bank in position.banks],
        "playArea": _names(position.play_area),
        "pending": None
        if pending is None
        else {
            "effect": pending.effect_type.value,
            "cards": _names(pending.cards),
            "krakenCount": pending.kraken_count,
        },
        "discardPile": _names(position.discard_pile),
        "unseen": _names(position.unseen),
        "knownTop": None if position.known_top is None else str(position.known_top),
    }


def _names(cards: Iterable[Card]) -> str:
    return " ".join(map(str, cards))


def state_body(seen: Position, ended: Ended | None) -> dict[str, object]:
    """What lies open, and what became of the turn that ended with this move, as a JSON object."""
    pending = seen.pending
    return {
        "banks": [_listed(sorted(bank)) for bank in seen.banks],
        "scores": [bank.score for bank in seen.banks],
        "playArea": _listed(seen.play_area),
        "ended": ended and {"bust": ended.bust, "cards": _listed(ended.cards)},
        "pending": pending
        and {"effect": pending.effect_type.value, "cards": _listed(pending.cards)},
        "discardPile": _listed(sorted(seen.discard_pile, key=deck_order)),
        "unseen": _listed(sorted(seen.unseen, key=deck_order)),
    }


def _listed(cards: Iterable[Card]) -> list[str]:
    return [str(card) for card in cards]


def facts_body(move: MoveView) -> dict[str, object]:
    """A move as the arena's history has it."""
    return move.model_dump(mode="json", by_alias=True, exclude_unset=True)


def facts_beyond(view: MatchView, known: Mapping[int, Body]) -> dict[int, Body]:
    """The facts of all moves of a view that are not `known`, or known as made at another time."""
    return {
        move.sequence_id: facts_body(move)
        for move in view.moves
        if known.get(move.sequence_id, {}).get("at") != move.at
    }


def outcome_body(view: MatchView, seats: set[int]) -> dict[str, object]:
    """How a finished match ended; `result` is ours: won, lost, tied, or both seats played."""
    ended = end_of(view.moves[-1].events if view.moves else ())
    winner = view.state.winner_idx
    return {
        "scores": None if ended is None else list(ended.match_ended_scores or ()),
        "winner": winner,
        "result": _result(winner, seats),
        "terminated": bool(ended and ended.match_ended_terminated),
        "turns": view.turn_count,
        "moves": view.move_count,
        "timeouts": view.state.timeout_count,
        "endedAt": view.last_move_at,
    }


def missing_body() -> dict[str, object]:
    """The outcome of a match that the arena no longer has."""
    told = ("scores", "winner", "result", "terminated", "turns", "moves", "timeouts", "endedAt")
    return {**dict.fromkeys(told), "result": "unknown", "terminated": False}


def _result(winner: int | None, seats: set[int]) -> str:
    if len(seats) != 1:
        return "both seats"
    if winner is None:
        return "tied"
    return "won" if winner in seats else "lost"


def end_of(events: Iterable[EventView]) -> EventView | None:
    """The event that ended the match, None where these events did not."""
    return next((e for e in events if e.event_type == EventType.MATCH_ENDED), None)


def ends_turn(events: Iterable[EventView]) -> bool:
    """Whether an answer says that the turn, or the match with it, is over."""
    return any(e.event_type in (EventType.TURN_ENDED, EventType.MATCH_ENDED) for e in events)
