"""What the match log knows of an opponent, brought to the strategies that ask for it.

A strategy remembers nothing and reads no store. Where it is a `Learner`, its seat is briefed when
a worker takes up a match: with the last finished matches against the same player, as they stand
in the log. Without a log that can be read the match is played as against a stranger.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pydantic import ValidationError

from cardsharp.cloud.listing import is_match_of, newest_matches
from cardsharp.cloud.ports import MatchReader, MatchRecord, Status
from cardsharp.deadmansdraw.client import DUMMY_ID, ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.reading import played
from cardsharp.deadmansdraw.strategies import Learner, PastMatch, Strategy, briefed
from cardsharp.deadmansdraw.wire_views import MatchView, MoveView
from cardsharp.errors import StoreError


class Seat(NamedTuple):
    """Somebody we play as: the client that speaks for the player, and the strategy."""

    player_id: str
    client: ArenaClient
    strategy: Strategy
    strategy_name: str


PAST_MATCHES = 6  # matches that are enough to know an opponent: the last ones, for players change
LOOKED_THROUGH = 300  # newest matches of the game among which they are looked for
MAX_READ = 1_000  # newest matches of any game that are read for that: each is paid for in the cloud
_log = logging.getLogger("cardsharp.bot")


@dataclass(frozen=True, slots=True)
class Players:
    """Ourselves and, where we play both sides of our own practice matches, the dummy.

    Learning strategies know what the log, where there is one, holds of their opponent.
    """

    me: Seat
    dummy: Seat | None = None
    log: MatchReader | None = None
    _briefed: dict[str, Seat] = field(default_factory=dict, compare=False, repr=False)

    def seats(self, view: MatchView) -> dict[int, Seat]:
        """The seats that we play, by player index; the dummy's only in matches that we created.

        Their strategies are briefed once for each opponent.
        """
        ours = {self.me.player_id: self.me}
        if self.dummy is not None and view.created_by_player_id == self.me.player_id:
            ours = {DUMMY_ID: self.dummy, **ours}
        seats = enumerate(map(ours.get, view.player_ids))
        return {index: self._brief(seat, index, view) for index, seat in seats if seat is not None}

    def _brief(self, seat: Seat, index: int, view: MatchView) -> Seat:
        if self.log is None or not isinstance(seat.strategy, Learner):
            return seat
        opponent = view.player_ids[1 - index]
        if opponent not in self._briefed:
            try:
                past = last_matches(self.log, opponent, PAST_MATCHES)
            except StoreError as error:
                _log.warning("the opponent's past cannot be read: %s", error)
                past = []
            self._briefed[opponent] = seat._replace(strategy=briefed(seat.strategy, past))
        return self._briefed[opponent]


def last_matches(log: MatchReader, opponent: str, number: int) -> list[PastMatch]:
    """The last finished matches against the player with that id, the oldest first.

    They are looked for among the `LOOKED_THROUGH` newest matches of this game. Matches against a
    strategy of ours are left out: under one id it may be another each time. Raises `StoreError` if
    the log cannot be read.
    """
    finished = Status.FINISHED
    records = newest_matches(log, GAME, finished, limit=LOOKED_THROUGH, max_read=MAX_READ)
    rivals = (record for record in records if record.header.get("opponent") is None)
    found = (match for record in rivals for match in past_match(log, record, opponent))
    return list(islice(found, number))[::-1]


def past_match(log: MatchReader, record: MatchRecord, opponent: str) -> Iterator[PastMatch]:
    """The match as the past of the player with that id; nothing where it is none, or unreadable."""
    players = record.header.get("players")
    is_own = is_match_of(GAME, record)
    if not is_own or not isinstance(players, list) or players.count(opponent) != 1:
        return
    moves = log.moves(record.match_id)
    told = [move.facts for move in moves if move.facts is not None]
    is_whole = all(move.fault is None for move in moves)
    try:
        history = tuple(played(MoveView.model_validate(facts)) for facts in told)
    except ValidationError:
        is_whole = False
    if not is_whole:
        _log.warning("a match of the log cannot be read", extra={"match_id": record.match_id})
        return
    yield PastMatch(players.index(opponent), history)
