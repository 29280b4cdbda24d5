"""History of an opponent from the match log, for the strategies that ask for it.

A strategy has no memory and reads no store. If it is a `OpponentAware`, its seat is given the
last finished matches against the same player when a worker takes up a match. If the log cannot
be read, the match is played as against an unknown opponent.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pydantic import ValidationError

from cardsharp.analysis.match_listing import is_match_of, newest_matches
from cardsharp.errors import StoreError
from cardsharp.games.deadmansdraw.arena_bot.client import DUMMY_ID, ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import past_move_from_view
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView, MoveView
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.games.deadmansdraw.strategies import (
    OpponentAware,
    PastMatch,
    Strategy,
    with_past_matches,
)
from cardsharp.store.match_log import MatchReader, MatchRecord, MatchStatus


class ArenaBotPlayer(NamedTuple):
    """A player that we play as: its arena client and its strategy."""

    player_id: str
    client: ArenaClient
    strategy: Strategy
    strategy_name: str


MAX_PAST_MATCHES = (
    6  # matches that are enough to know an opponent: the last ones, for players change
)
MAX_SCANNED_MATCHES = 300  # newest matches of the game among which they are looked for
MAX_HISTORY_HEADERS = (
    1_000  # newest matches of any game that are read for that: each is paid for in the cloud
)
_log = logging.getLogger("cardsharp.bot")


@dataclass(frozen=True, slots=True)
class BotAndDummySeats:
    """Our seat and, if we play both sides of our practice matches, the dummy's.

    Strategies that use the opponent's history get it from the log, if there is one.
    """

    own_seat: ArenaBotPlayer
    dummy_seat: ArenaBotPlayer | None = None
    match_reader: MatchReader | None = None
    _seat_by_opponent: dict[str, ArenaBotPlayer] = field(
        default_factory=dict, compare=False, repr=False
    )

    def bot_seats_by_index(self, view: MatchView) -> dict[int, ArenaBotPlayer]:
        """The seats that we play, by player index; the dummy's only in matches that we created.

        Their strategies are briefed once for each opponent.
        """
        seat_by_player = {self.own_seat.player_id: self.own_seat}
        if self.dummy_seat is not None and view.created_by_player_id == self.own_seat.player_id:
            seat_by_player = {DUMMY_ID: self.dummy_seat, **seat_by_player}
        seats = enumerate(map(seat_by_player.get, view.player_ids))
        return {
            index: self._add_opponent_history(seat, index, view)
            for index, seat in seats
            if seat is not None
        }

    def _add_opponent_history(
        self, seat: ArenaBotPlayer, index: int, view: MatchView
    ) -> ArenaBotPlayer:
        if self.match_reader is None or not isinstance(seat.strategy, OpponentAware):
            return seat
        opponent = view.player_ids[1 - index]
        if opponent not in self._seat_by_opponent:
            try:
                past = last_matches_against(self.match_reader, opponent, MAX_PAST_MATCHES)
            except StoreError as error:
                _log.warning("the opponent's past cannot be read: %s", error)
                past = []
            self._seat_by_opponent[opponent] = seat._replace(
                strategy=with_past_matches(seat.strategy, past)
            )
        return self._seat_by_opponent[opponent]


def last_matches_against(log: MatchReader, opponent: str, limit: int) -> list[PastMatch]:
    """Return the last finished matches against the player with that id, the oldest first.

    They are among the `MAX_SCANNED_MATCHES` newest matches of this game. Matches between two
    strategies of ours are left out, as one id may stand for a different strategy each time.
    Raises `StoreError` if the log cannot be read.
    """
    finished = MatchStatus.FINISHED
    records = newest_matches(
        log, GAME, finished, limit=MAX_SCANNED_MATCHES, max_read=MAX_HISTORY_HEADERS
    )
    rivals = (record for record in records if record.header.get("opponent") is None)
    matches = (match for record in rivals for match in load_past_match(log, record, opponent))
    return list(islice(matches, limit))[::-1]


def load_past_match(log: MatchReader, record: MatchRecord, opponent: str) -> Iterator[PastMatch]:
    """Yield the match as one of that opponent's past; nothing if it is none or is unreadable."""
    players = record.header.get("players")
    is_this_game = is_match_of(GAME, record)
    if not is_this_game or not isinstance(players, list) or players.count(opponent) != 1:
        return
    moves = log.moves(record.match_id)
    bodies = [move.facts for move in moves if move.facts is not None]
    is_complete = all(move.read_error is None for move in moves)
    try:
        history = tuple(past_move_from_view(MoveView.model_validate(facts)) for facts in bodies)
    except ValidationError:
        is_complete = False
    if not is_complete:
        _log.warning("a match of the log cannot be read", extra={"match_id": record.match_id})
        return
    yield PastMatch(players.index(opponent), history)
