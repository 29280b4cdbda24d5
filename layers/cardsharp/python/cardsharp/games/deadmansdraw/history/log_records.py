"""Entries of the match log for this game: header, facts and outcome as JSON bodies.

Facts are the arena's own moves, so the log is a copy of the arena's history. The reasons of our
decisions are in the intents (`intent_records`). Seeds are not in the views, so they cannot get into
the log.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from cardsharp.games.deadmansdraw.arena_bot.wire_views import (
    EventView,
    MatchView,
    MoveView,
)
from cardsharp.games.deadmansdraw.cards import Card, deck_sort_key
from cardsharp.games.deadmansdraw.events import (
    CardDrawn,
    EffectAnswered,
    Event,
    EventType,
    action_from_events,
    describe_events,
)
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.games.deadmansdraw.position import (
    DeadMansDrawPosition,
    PastMove,
    PublicInfoTracker,
    TurnResult,
)
from cardsharp.store.match_log import Body, MoveSummary


def header_body(view: MatchView, seats: dict[int, str]) -> dict[str, object]:
    """Return the players of a match, and the strategies of the seats that we play."""
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


def position_body(position: DeadMansDrawPosition) -> dict[str, object]:
    """Return a position as a JSON object for the log: cards as text, banks in order of entry.

    The cards of a place are one text such as "Key3 Map5", which is shorter than a list of
    quoted names. With lists many intents would exceed the size of one write unit of the
    database and cost another unit.
    """
    pending = position.pending
    return {
        "me": position.seat,
        "banks": [_join_card_names(bank) for bank in position.banks],
        "playArea": _join_card_names(position.play_area),
        "pending": None
        if pending is None
        else {
            "effect": pending.effect_type.value,
            "cards": _join_card_names(pending.cards),
            "krakenCount": pending.remaining_draws,
        },
        "discardPile": _join_card_names(position.discard_pile),
        "unseen": _join_card_names(position.unseen),
        "knownTop": None if position.known_top is None else str(position.known_top),
    }


def _join_card_names(cards: Iterable[Card]) -> str:
    return " ".join(map(str, cards))


def public_state_body(
    position: DeadMansDrawPosition, turn_result: TurnResult | None
) -> dict[str, object]:
    """Return the public cards, and the result of a turn that ended with this move, as JSON."""
    pending = position.pending
    return {
        "banks": [_list_card_names(sorted(bank)) for bank in position.banks],
        "scores": [bank.score for bank in position.banks],
        "playArea": _list_card_names(position.play_area),
        "ended": turn_result
        and {"bust": turn_result.is_bust, "cards": _list_card_names(turn_result.cards)},
        "pending": pending
        and {"effect": pending.effect_type.value, "cards": _list_card_names(pending.cards)},
        "discardPile": _list_card_names(sorted(position.discard_pile, key=deck_sort_key)),
        "unseen": _list_card_names(sorted(position.unseen, key=deck_sort_key)),
    }


def _list_card_names(cards: Iterable[Card]) -> list[str]:
    return [str(card) for card in cards]


def facts_body(move: MoveView) -> dict[str, object]:
    """Return a move as in the arena's history."""
    return move.model_dump(mode="json", by_alias=True, exclude_unset=True)


def new_or_changed_facts(view: MatchView, recorded: Mapping[int, Body]) -> dict[int, Body]:
    """Return the facts of all moves of a view that are not `recorded`, or recorded differently.

    A move differs if it was made at another time.
    """
    return {
        move.sequence_id: facts_body(move)
        for move in view.moves
        if recorded.get(move.sequence_id, {}).get("at") != move.at
    }


class MoveSummarizer(NamedTuple):
    """Summarizes a match move by move; `public_info` is that before the next move.

    `names` are the players' by seat.
    """

    public_info: PublicInfoTracker
    names: Sequence[str]

    def summarize(self, move: PastMove, played_at: datetime | None) -> MoveSummary:
        """Return the next move as a person wants to see it."""
        self.public_info.apply_move(move)
        action, seat = action_from_events(move.events), move.player
        is_named = seat is not None and seat < len(self.names)
        return MoveSummary(
            turn=move.turn,
            player=self.names[seat] if seat is not None and is_named else None,
            action=None if action is None else str(action),
            cards=tuple(dict.fromkeys(_iter_revealed_cards(move.events))) or None,
            description=describe_events(move.events),
            scores=tuple(bank.score for bank in self.public_info.banks),
            played_at=played_at,
        )


def _iter_revealed_cards(events: Iterable[Event]) -> Iterator[str]:
    """Yield the names of the cards that were drawn, or named in answer to an effect."""
    for event in events:
        if isinstance(event, CardDrawn | EffectAnswered) and event.card is not None:
            yield str(event.card)


def outcome_body(view: MatchView, seats: set[int]) -> dict[str, object]:
    """Return the outcome of a finished match as JSON.

    `result` is from our seat: won, lost or tied, or that we played both seats.
    """
    end_event = match_end_event(view.moves[-1].events if view.moves else ())
    winner = view.state.winner_idx
    return {
        "scores": None if end_event is None else list(end_event.match_ended_scores or ()),
        "winner": winner,
        "result": _describe_result(winner, seats),
        "terminated": bool(end_event and end_event.match_ended_terminated),
        "turns": view.turn_count,
        "moves": view.move_count,
        "timeouts": view.state.timeout_count,
        "endedAt": view.last_move_at,
    }


def missing_match_outcome_body() -> dict[str, object]:
    """Return the outcome of a match that the arena no longer has."""
    fields = ("scores", "winner", "result", "terminated", "turns", "moves", "timeouts", "endedAt")
    return {**dict.fromkeys(fields), "result": "unknown", "terminated": False}


def _describe_result(winner: int | None, seats: set[int]) -> str:
    if len(seats) != 1:
        return "both seats"
    if winner is None:
        return "tied"
    return "won" if winner in seats else "lost"


def match_end_event(events: Iterable[EventView]) -> EventView | None:
    """Return the event that ended the match, None if there is none."""
    return next((e for e in events if e.event_type == EventType.MATCH_ENDED), None)


def ends_turn(events: Iterable[EventView]) -> bool:
    """Return True if the events say that the turn, or the match with it, is over."""
    return any(e.event_type in (EventType.TURN_ENDED, EventType.MATCH_ENDED) for e in events)
