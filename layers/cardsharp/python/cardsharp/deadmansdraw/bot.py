"""A match of Dead Man's Draw as the bot attends it; all that every game shares is in cloud/attend.

The match is played from what the arena says and nothing else. Which seats are ours is worked out
from each view; where both are, the same worker plays both.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple

from cardsharp.cloud.attend import After, Facts, Meet, Sight, Turn
from cardsharp.cloud.ports import Body, MatchReader
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.briefing import BriefedPlayers
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.client import MatchClosed
from cardsharp.deadmansdraw.fallback import blind_action, decide
from cardsharp.deadmansdraw.logbook import (
    blind_intent_body,
    end_of,
    ends_turn,
    facts_beyond,
    header_body,
    intent_body,
    missing_body,
    outcome_body,
    timed_out,
)
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import follow, rebuild
from cardsharp.deadmansdraw.seats import Players, Seat
from cardsharp.deadmansdraw.wire import instant
from cardsharp.deadmansdraw.wire_views import MatchView
from cardsharp.deciding import Decided
from cardsharp.errors import NotFound, Rejected
from cardsharp.strategy import Decision

_log = logging.getLogger("cardsharp.bot")

NO_SUCH_MATCH = "Match does not exist."
"""The arena's own words (docs/spec/arena.md section 4)."""


def meeting(players: Players, log: MatchReader) -> Meet:
    """How these players meet a match: learning strategies know what the log has of an opponent."""

    @contextmanager
    def meet(match_id: str) -> Iterator[ArenaMatch]:
        yield ArenaMatch(match_id, BriefedPlayers(players.me, players.dummy, log=log))

    return meet


class ArenaMatch(NamedTuple):
    """A match at an arena, on whose seats we play as some of these players."""

    match_id: str
    players: Players

    @property
    def header(self) -> None:
        """Nothing is known of a match that was not looked at."""

    def look(self, known: Facts) -> Sight[Action]:
        """The match as it is now."""
        return self._sight(self.players.me.client.view(self.match_id), known)

    def wait(self, known: Facts) -> Sight[Action] | None:
        """The match when we are to act or it has ended, None where that took too long."""
        client = self.players.me.client
        try:
            view = client.wait_for_turn(self.match_id)
        except MatchClosed as closed:
            view = closed.closing.view or client.view(self.match_id)
        return None if view is None else self._sight(view, known)

    def gone(self, denied: Rejected) -> Body | None:
        """The outcome where the arena says that there is no such match."""
        missing = isinstance(denied, NotFound) and denied.message == NO_SUCH_MATCH
        return missing_body() if missing else None

    def _sight(self, view: MatchView, known: Facts) -> Sight[Action]:
        seats = self.players.seats(view)
        if not seats:
            raise NotFound(404, "the match has no seat of ours; check the user's id")
        late = (timed_out(m) in seats for m in view.moves if m.sequence_id not in known)
        names = {index: seat.strategy_name for index, seat in seats.items()}
        return Sight(
            sequence=view.move_count,
            facts=facts_beyond(view, known),
            timeouts=sum(late),
            outcome=outcome_body(view, set(seats)) if view.finished else None,
            turn=None if view.finished else self._turn(view, seats),
            acted_at=instant(view.last_move_at),
            header=header_body(view, names),
        )

    def _turn(self, view: MatchView, seats: dict[int, Seat]) -> Turn[Action] | None:
        active = view.active_player_index
        seat = None if active is None else seats.get(active)
        if active is None or seat is None:
            return None
        try:
            position = rebuild(view, active)
        except Exception as error:  # noqa: BLE001 - a newer arena's words must end no match
            _log.exception("cannot read the match", extra={"match_id": self.match_id})
            area = () if view.move_count_in_turn is None else view.state.play_area
            return BlindTurn(self.match_id, seat, area, str(error))
        return ReadTurn(self.match_id, seat, position, alone=len(seats) == 1)


class ReadTurn(NamedTuple):
    """A turn whose position is known; `alone` says that the other seat is not ours."""

    match_id: str
    seat: Seat
    position: Position
    alone: bool

    def decide(
        self, limit: timedelta, monotonic: Callable[[], float], refused: frozenset[Action]
    ) -> Decided[Decision[Action]]:
        """The decision of the strategy that plays this seat."""
        return decide(self.seat.strategy, self.position, limit, monotonic, refused)

    def intent(self, decided: Decided[Decision[Action]], at: datetime, worker: str) -> Body:
        """The decision, and the position that it was made on."""
        return intent_body(self.position, decided, at, worker, self.seat.strategy_name)

    def act(self, action: Action) -> "ReadTurn | After":
        """Send the action and follow the events that it caused."""
        answer = self.seat.client.act(self.match_id, action)
        if ends_turn(answer):
            goes_on = end_of(answer) is None
            return After.WAIT if goes_on and self.alone else After.LOOK
        try:
            position = follow(self.position, action, answer)
        except Exception:  # noqa: BLE001 - as above; a new look tells what is so
            _log.exception("cannot follow the match", extra={"match_id": self.match_id})
            position = None
        return After.LOOK if position is None else self._replace(position=position)


class BlindTurn(NamedTuple):
    """A turn in a match that cannot be read: an action that the arena completes itself."""

    match_id: str
    seat: Seat
    play_area: tuple[Card, ...]
    reason: str

    def decide(
        self, limit: timedelta, monotonic: Callable[[], float], refused: frozenset[Action]
    ) -> Decided[Decision[Action]]:
        """The blind action, which takes no time."""
        del limit, monotonic
        action = blind_action(self.play_area, refused)
        return Decided(Decision(action, self.reason), fault=self.reason)

    def intent(self, decided: Decided[Decision[Action]], at: datetime, worker: str) -> Body:
        """The action, and why no strategy could decide."""
        return blind_intent_body(decided.decision.action, self.reason, at, worker)

    def act(self, action: Action) -> After:
        """Send the action."""
        self.seat.client.act(self.match_id, action)
        return After.LOOK
