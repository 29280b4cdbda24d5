"""One match: the table, its counters and the moves that were made on it.

How moves and turns are counted, and when an event carries `playerIndex`, is the original's
(docs/spec/arena.md sections 4 and 5).
"""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from cardsharp.deadmansdraw.actions import Action, action_body
from cardsharp.deadmansdraw.arena.creation import CreationParams, lay_table
from cardsharp.deadmansdraw.arena.dto import Json, event_json
from cardsharp.deadmansdraw.arena.randomness import Draws, Randomness, draws_of
from cardsharp.deadmansdraw.events import Comment, Event, MatchEnded, TurnStarted
from cardsharp.deadmansdraw.rules import apply, force_turn_end, terminate
from cardsharp.deadmansdraw.state import State
from cardsharp.errors import StoreError


@dataclass(frozen=True, slots=True)
class Pairing:
    """Who plays, and who asked for it; `creator` is None for the admin."""

    players: tuple[str, str]
    creator: str | None


@dataclass(frozen=True, slots=True)
class Match:
    """A match at one moment; every move makes a new one."""

    id: str
    pairing: Pairing
    params: CreationParams
    randomness: Randomness
    started_at: datetime
    last_move_at: datetime
    state: State
    draws: int
    moves: int = 1
    turn: int = 1
    moves_in_turn: int = 1

    @property
    def finished(self) -> bool:
        """Whether nothing more can happen in it."""
        return self.state.outcome is not None

    @property
    def active_player(self) -> str | None:
        """Id of the player who is to act, None once the match has ended."""
        index = self.state.active
        return None if index is None else self.pairing.players[index]

    @property
    def shown_moves_in_turn(self) -> int | None:
        """Moves of the running turn, None between turns; a natural end leaves the last turn's."""
        outcome = self.state.outcome
        ended_naturally = outcome is not None and not outcome.terminated
        return self.moves_in_turn if ended_naturally or not self.state.between_turns else None


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[Json, ...]:
    """Read once: every view of a running match shows all that was played in it."""
    return tuple(json.loads(text))


@dataclass(frozen=True, slots=True)
class Move:
    """One entry of a match's history; its events are kept as JSON text, which is compact."""

    sequence: int
    sequence_in_turn: int
    turn: int
    at: datetime
    events_text: str
    user_action: Json | None = None
    client_ip: str | None = None

    def events(self) -> list[Json]:
        """The events with `playerIndex`, as a view shows them; whoever asks may change them."""
        return [dict(event) for event in _read(self.events_text)]

    def answer(self) -> list[Json]:
        """The events without `playerIndex`, as the answer to the action shows them."""
        events = self.events()
        for event in events:
            event.pop("playerIndex", None)
        return events


@dataclass(frozen=True, slots=True)
class Origin:
    """Where and when a request came in."""

    at: datetime
    ip: str | None = None


def begin(
    match_id: str, pairing: Pairing, params: CreationParams, randomness: Randomness, origin: Origin
) -> tuple[Match, Move]:
    """A new match and the move that opens it."""
    draws = draws_of(params.seed, randomness)
    state = lay_table(params, draws)
    at = origin.at
    match = Match(match_id, pairing, params, randomness, at, at, state, draws.used)
    events = [
        {"eventType": "MatchStarted", "matchStartedSeed": params.seed},
        {**event_json(TurnStarted(None)), "playerIndex": state.player},
    ]
    return match, Move(0, 1, 1, at, _text(events), None, origin.ip)


def act(match: Match, action: Action, origin: Origin) -> tuple[Match, Move]:
    """The match after an action of the player to move; raises `RulesError`."""
    draws = _draws(match)
    state, events = apply(match.state, action, draws)
    after, move = _moved(match, state, events, draws.used, origin)
    return after, replace(move, user_action=action_body(action))


def end_turn_by_force(match: Match, origin: Origin) -> tuple[Match, Move]:
    """The match after the player to move ran out of time (docs/spec/arena.md section 5)."""
    late, other = match.active_player, match.pairing.players[1 - (match.state.active or 0)]
    # Seconds as JavaScript prints milliseconds divided by 1000, e.g. `1.326`, `2`.
    elapsed = f"{(origin.at - match.last_move_at).total_seconds():.3f}".rstrip("0").rstrip(".")
    draws = _draws(match)
    state, events = force_turn_end(
        match.state,
        f"Forceful turn ending due to player {late} inactivity after {elapsed} seconds.",
        f"Forceful match ending due to player {other} inactivity after {elapsed} seconds.",
        draws,
    )
    return _moved(match, state, events, draws.used, origin)


def end_by_decision(
    match: Match, winner: int | None, comment: str | None, origin: Origin
) -> tuple[Match, Move]:
    """The match after it was terminated."""
    state, events = terminate(match.state, winner, comment)
    return _moved(match, state, events, match.draws, origin)


def _draws(match: Match) -> Draws:
    return draws_of(match.params.seed, match.randomness, match.draws)


def _moved(
    match: Match, state: State, events: tuple[Event, ...], draws: int, origin: Origin
) -> tuple[Match, Move]:
    opened = any(isinstance(event, TurnStarted) for event in events)
    after = replace(
        match,
        state=state,
        last_move_at=origin.at,
        draws=draws,
        moves=match.moves + 1,
        turn=match.turn + opened,
        moves_in_turn=1 if opened else match.moves_in_turn + 1,
    )
    text = _text(attributed(events, state.player))
    move = Move(match.moves, after.moves_in_turn, after.turn, origin.at, text, client_ip=origin.ip)
    return after, move


def attributed(events: tuple[Event, ...], player: int) -> list[Json]:
    """The events with `playerIndex`, except a match's end and the remark that announces it."""
    shown = []
    for event, following in zip(events, (*events[1:], None), strict=True):
        body = event_json(event)
        announces_end = isinstance(event, Comment) and isinstance(following, MatchEnded)
        if not announces_end and not isinstance(event, MatchEnded):
            body["playerIndex"] = player
        shown.append(body)
    return shown


def _text(events: list[Json]) -> str:
    return json.dumps(events, separators=(",", ":"))


# --- stored, as JSON text that every later version reads -----------------------------------------

FORMAT = 2
"""The number of a snapshot's format; where a field is renamed or means something else, it grows.

| format | versions    | what it changed                                           |
|--------|-------------|-----------------------------------------------------------|
| 1      | 0.1.0       | no number; who plays is under `seats`                     |
| 1      | from 0.2.0  | no number; who plays is under `pairing`, like today       |
| 2      | from 0.3.0  | the number                                                |

`_brought_up` knows each step; `tests/samples/stores` holds a file of each version.
"""

_MATCH = TypeAdapter(Match)


class NewerSnapshot(StoreError):
    """A newer Cardsharp wrote it, so nobody here can say what it holds."""


def snapshot_of(match: Match) -> bytes:
    """The match as JSON text in today's format."""
    return to_json({"format": FORMAT, **_MATCH.dump_python(match, mode="json")})


def match_of(snapshot: str | bytes, match_id: str) -> Match:
    """The match of a snapshot; raises `StoreError`, or `NewerSnapshot` for a format to come."""
    try:
        return _MATCH.validate_python(_brought_up(from_json(snapshot), match_id))
    except (ValidationError, ValueError, TypeError, AttributeError):
        raise StoreError(
            f"The stored match {match_id} cannot be read. It is kept as it is, and not played."
        ) from None


def _brought_up(raw: dict[str, Any], match_id: str) -> dict[str, Any]:
    """What today's `Match` is made of, from a snapshot of any format up to today's."""
    found = raw.get("format", 1)
    if found > FORMAT:
        raise NewerSnapshot(
            f"A newer Cardsharp stored the match {match_id} (format {found}, "
            f"known up to {FORMAT}); install that one or name another data file."
        )
    if "seats" in raw:
        raw["pairing"] = raw.pop("seats")
    return raw
