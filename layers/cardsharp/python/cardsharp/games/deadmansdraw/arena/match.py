"""One match: the table, its counters and the moves that were made on it.

How moves and turns are counted, and when an event carries `playerIndex`, is the original's
(docs/spec/arena.md sections 4 and 5).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from cardsharp.errors import StoreError
from cardsharp.games.deadmansdraw.actions import Action, action_json
from cardsharp.games.deadmansdraw.arena.dto import Json, event_json
from cardsharp.games.deadmansdraw.arena.match_creation import CreationParams, initial_state
from cardsharp.games.deadmansdraw.arena.randomness import (
    RandomnessMethod,
    SeededDraws,
    seeded_draws,
)
from cardsharp.games.deadmansdraw.events import Comment, Event, EventType, MatchEnded, TurnStarted
from cardsharp.games.deadmansdraw.rules import apply, force_turn_end, terminate
from cardsharp.games.deadmansdraw.state import State

if TYPE_CHECKING:
    from cardsharp.games.deadmansdraw.arena.api_types import EventJson


@dataclass(frozen=True, slots=True)
class MatchPlayers:
    """Players of a match, and its creator; `creator` is None for the admin."""

    players: tuple[str, str]
    creator: str | None


@dataclass(frozen=True, slots=True)
class ArenaMatch:
    """A match at one moment; every move makes a new one."""

    id: str
    pairing: MatchPlayers
    params: CreationParams
    randomness: RandomnessMethod
    started_at: datetime
    last_move_at: datetime
    state: State
    draws: int
    moves: int = 1
    turn: int = 1
    moves_in_turn: int = 1

    @property
    def is_finished(self) -> bool:
        """True if nothing more can happen in the match."""
        return self.state.outcome is not None

    @property
    def active_player(self) -> str | None:
        """Id of the player to act, None once the match has ended."""
        index = self.state.active_player
        return None if index is None else self.pairing.players[index]

    @property
    def move_count_in_current_turn(self) -> int | None:
        """Number of moves in the current turn, None between turns.

        After a natural end it stays the number of the last turn.
        """
        outcome = self.state.outcome
        has_natural_end = outcome is not None and not outcome.was_terminated
        return self.moves_in_turn if has_natural_end or not self.state.is_between_turns else None


@lru_cache(maxsize=4096)
def _parse_events(text: str) -> "tuple[EventJson, ...]":
    """Parse events; cached, because every view of a running match shows all of its events."""
    return tuple(json.loads(text))


@dataclass(frozen=True, slots=True)
class ArenaMove:
    """One entry of a match's history; its events are kept as JSON text, which is compact."""

    sequence: int
    sequence_in_turn: int
    turn: int
    at: datetime
    events_text: str
    user_action: Json | None = None
    client_ip: str | None = None

    def events(self) -> "list[EventJson]":
        """Return the events with `playerIndex` as a view shows them; the caller may change them."""
        return [event.copy() for event in _parse_events(self.events_text)]

    def response_events(self) -> "list[EventJson]":
        """The events without `playerIndex`, as the answer to the action shows them."""
        events = self.events()
        for event in events:
            event.pop("playerIndex", None)
        return events


@dataclass(frozen=True, slots=True)
class RequestTimeAndAddress:
    """Address and time of a request."""

    received_at: datetime
    ip: str | None = None


def begin_match(
    match_id: str,
    pairing: MatchPlayers,
    params: CreationParams,
    randomness: RandomnessMethod,
    origin: RequestTimeAndAddress,
) -> tuple[ArenaMatch, ArenaMove]:
    """Return a new match and the move that opens it."""
    draws = seeded_draws(params.seed, randomness)
    state = initial_state(params, draws)
    at = origin.received_at
    match = ArenaMatch(match_id, pairing, params, randomness, at, at, state, draws.used)
    events: list[EventJson] = [
        {"eventType": EventType.MATCH_STARTED, "matchStartedSeed": params.seed},
        {**event_json(TurnStarted(None)), "playerIndex": state.turn_player},
    ]
    return match, ArenaMove(0, 1, 1, at, _dump_events(events), None, origin.ip)


def apply_player_action(
    match: ArenaMatch, action: Action, origin: RequestTimeAndAddress
) -> tuple[ArenaMatch, ArenaMove]:
    """Return the match after an action of the player to move; raise `RulesError` if illegal."""
    draws = _restore_draws(match)
    state, events = apply(match.state, action, draws)
    next_match, move = _apply_move(match, state, events, draws.used, origin)
    return next_match, replace(move, user_action=action_json(action))


def end_overdue_turn(
    match: ArenaMatch, origin: RequestTimeAndAddress
) -> tuple[ArenaMatch, ArenaMove]:
    """The match after the player to move ran out of time (docs/spec/arena.md section 5).

    Raises `RulesError` if the match can be ended no more, a fault that only the original has.
    """
    late, opponent = (
        match.active_player,
        match.pairing.players[1 - (match.state.active_player or 0)],
    )
    # Seconds as JavaScript prints milliseconds divided by 1000, e.g. `1.326`, `2`.
    elapsed = f"{(origin.received_at - match.last_move_at).total_seconds():.3f}".rstrip("0").rstrip(
        "."
    )
    draws = _restore_draws(match)
    state, events = force_turn_end(
        match.state,
        f"Forceful turn ending due to player {late} inactivity after {elapsed} seconds.",
        f"Forceful match ending due to player {opponent} inactivity after {elapsed} seconds.",
        draws,
        can_get_stuck=match.randomness is RandomnessMethod.ORIGINAL,
    )
    return _apply_move(match, state, events, draws.used, origin)


def terminate_match(
    match: ArenaMatch, winner: int | None, comment: str | None, origin: RequestTimeAndAddress
) -> tuple[ArenaMatch, ArenaMove]:
    """The match after it was terminated."""
    state, events = terminate(match.state, winner, comment)
    return _apply_move(match, state, events, match.draws, origin)


def _restore_draws(match: ArenaMatch) -> SeededDraws:
    return seeded_draws(match.params.seed, match.randomness, match.draws)


def _apply_move(
    match: ArenaMatch,
    state: State,
    events: tuple[Event, ...],
    draws: int,
    origin: RequestTimeAndAddress,
) -> tuple[ArenaMatch, ArenaMove]:
    opened = any(isinstance(event, TurnStarted) for event in events)
    next_match = replace(
        match,
        state=state,
        last_move_at=origin.received_at,
        draws=draws,
        moves=match.moves + 1,
        turn=match.turn + opened,
        moves_in_turn=1 if opened else match.moves_in_turn + 1,
    )
    events_json = _dump_events(events_json_with_player_index(events, state.turn_player))
    move = ArenaMove(
        match.moves,
        next_match.moves_in_turn,
        next_match.turn,
        origin.received_at,
        events_json,
        client_ip=origin.ip,
    )
    return next_match, move


def events_json_with_player_index(events: tuple[Event, ...], player: int) -> "list[EventJson]":
    """Return the events as JSON with `playerIndex`.

    The end of a match and the comment that announces it have none.
    """
    bodies: list[EventJson] = []
    for event, following in zip(events, (*events[1:], None), strict=True):
        body = event_json(event)
        announces_end = isinstance(event, Comment) and isinstance(following, MatchEnded)
        if not announces_end and not isinstance(event, MatchEnded):
            body["playerIndex"] = player
        bodies.append(body)
    return bodies


def _dump_events(events: "list[EventJson]") -> str:
    return json.dumps(events, separators=(",", ":"))


# --- stored, as JSON text that every later version reads -----------------------------------------

STORED_MATCH_FORMAT = 2
"""The number of a snapshot's format; where a field is renamed or means something else, it grows.

| format | versions    | what it changed                                           |
|--------|-------------|-----------------------------------------------------------|
| 1      | 0.1.0       | no number; who plays is under `seats`                     |
| 1      | from 0.2.0  | no number; who plays is under `pairing`, like today       |
| 2      | from 0.3.0  | the number                                                |

`_upgrade_snapshot` knows each step; `tests/samples/stores` holds a file of each version.
"""

_MATCH_ADAPTER = TypeAdapter(ArenaMatch)
_STORED_NAMES = {
    "turn_player": "player",
    "pending_effect": "pending",
    "is_between_turns": "between_turns",
    "timeout_count": "timeouts",
    "remaining_draws": "kraken_count",
}
"""Stored names of fields of the state."""
_FIELD_NAMES = {stored: field for field, stored in _STORED_NAMES.items()}


class UnsupportedSnapshot(StoreError):
    """Snapshot of a newer version of Cardsharp, in a format that this version cannot read."""


def to_snapshot(match: ArenaMatch) -> bytes:
    """The match as JSON text in today's format."""
    body = _MATCH_ADAPTER.dump_python(match, mode="json")
    body["state"] = _rename_fields(body["state"], _STORED_NAMES)
    return to_json({"format": STORED_MATCH_FORMAT, **body})


def from_snapshot(snapshot: str | bytes, match_id: str) -> ArenaMatch:
    """Return the match of a snapshot; raise `StoreError`, `UnsupportedSnapshot` if it is newer."""
    try:
        return _MATCH_ADAPTER.validate_python(_upgrade_snapshot(from_json(snapshot), match_id))
    except (ValidationError, ValueError, TypeError, AttributeError):
        raise StoreError(
            f"The stored match {match_id} cannot be read. It is kept as it is, and not played."
        ) from None


def _upgrade_snapshot(raw: dict[str, Any], match_id: str) -> dict[str, Any]:
    """Return the fields of an `ArenaMatch` from a snapshot of this or any older format.

    Raises `UnsupportedSnapshot` for a newer format.
    """
    version = raw.get("format", 1)
    if version > STORED_MATCH_FORMAT:
        raise UnsupportedSnapshot(
            f"A newer Cardsharp stored the match {match_id} (format {version}, "
            f"known up to {STORED_MATCH_FORMAT}); install that one or name another data file."
        )
    if "seats" in raw:
        raw["pairing"] = raw.pop("seats")
    return {**raw, "state": _rename_fields(raw["state"], _FIELD_NAMES)}


def _rename_fields(state: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a state with renamed fields, also in its pending effect."""
    renamed = {names.get(name, name): value for name, value in state.items()}
    for effect in ("pending", "pending_effect"):
        if renamed.get(effect) is not None:
            renamed[effect] = {
                names.get(name, name): value for name, value in renamed[effect].items()
            }
    return renamed
