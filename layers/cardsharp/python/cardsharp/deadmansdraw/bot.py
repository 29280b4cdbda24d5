"""A match of Dead Man's Draw as the bot attends it; all that every game shares is in cloud/attend.

The match is played from what the arena says and nothing else. Which seats are ours is worked out
from each view; where both are, the same worker plays both.
"""

import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple

from cardsharp.cloud.attended import After, Facts, Meet, Sight, Turn
from cardsharp.cloud.ports import Body, Clock, MatchReader
from cardsharp.deadmansdraw.actions import END_TURN, Action
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
from cardsharp.deadmansdraw.wire_views import CreationView, MatchView
from cardsharp.deciding import Decided
from cardsharp.errors import NotFound, Rejected
from cardsharp.strategy import Decision

_log = logging.getLogger("cardsharp.bot")

GRAIN = timedelta(seconds=1)
"""By so much an answer may be later than its date says, which has whole seconds."""

NAMED_IN_TIME = timedelta(seconds=10)
"""A turn of so long is not lost where only the poller waits for it (docs/reliability.md)."""

NO_SUCH_MATCH = "Match does not exist."
"""The arena's own words (docs/spec/arena.md section 4)."""


def meeting(players: Players, log: MatchReader, clock: Clock, tags: Collection[str] = ()) -> Meet:
    """How these players meet a match: learning strategies know what the log has of an opponent.

    `tags` are those of the matches that the poller asks for; none means all.
    """

    @contextmanager
    def meet(match_id: str) -> Iterator[ArenaMatch]:
        briefed = BriefedPlayers(players.me, players.dummy, log=log)
        yield ArenaMatch(match_id, briefed, clock, tags)

    return meet


class ArenaMatch:
    """A match at an arena, on whose seats we play as some of these players.

    `dated` says whether the dates of its answers are believed.
    """

    def __init__(
        self, match_id: str, players: Players, clock: Clock, tags: Collection[str] = ()
    ) -> None:
        self.match_id, self.players, self.clock, self.tags = match_id, players, clock, tags
        self.dated = True

    @property
    def header(self) -> None:
        """Nothing is known of a match that was not looked at."""

    def look(self, known: Facts) -> Sight[Action]:
        """The match as it is now."""
        asked = self.clock.monotonic()
        return self._sight(self.players.me.client.view(self.match_id), known, asked)

    def wait(self, known: Facts) -> Sight[Action] | None:
        """The match when we are to act or it has ended, None where that took too long."""
        client, asked = self.players.me.client, self.clock.monotonic()
        try:
            view = client.wait_for_turn(self.match_id)
        except MatchClosed as closed:
            view = closed.closing.view or client.view(self.match_id)
        return None if view is None else self._sight(view, known, asked)

    def gone(self, denied: Rejected) -> Body | None:
        """The outcome where the arena says that there is no such match."""
        missing = isinstance(denied, NotFound) and denied.message == NO_SUCH_MATCH
        return missing_body() if missing else None

    def _sight(self, view: MatchView, known: Facts, asked: float) -> Sight[Action]:
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
            turn=None if view.finished else self._turn(view, seats, asked),
            acted_at=instant(view.last_move_at),
            header=header_body(view, names),
            may_rest=self._may_rest(view.creation_params),
        )

    def _may_rest(self, params: CreationView) -> bool:
        """Whether the poller asks for such a match, and no turn is over before it is told."""
        asked_for = not self.tags or not set(self.tags).isdisjoint(params.tags)
        return asked_for and (params.timeout is None or params.timeout >= NAMED_IN_TIME)

    def _turn(self, view: MatchView, seats: dict[int, Seat], asked: float) -> Turn[Action] | None:
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
        ends = self._end_of_turn(view, asked)
        return ReadTurn(self, seat, position, len(seats) == 1, view.creation_params.timeout, ends)

    def _end_of_turn(self, view: MatchView, asked: float) -> float | None:
        """Our monotonic second until which, at least, the arena lets us act; None if unknown.

        Its limit runs from the last move; both that and the answer are dated by its own clock.
        """
        limit, moved = view.creation_params.timeout, instant(view.last_move_at)
        told = self.players.me.client.told_at
        if not self.dated or limit is None or moved is None or told is None:
            return None
        gone = max(told - moved, timedelta(0)) + GRAIN
        return asked + (limit - gone).total_seconds()


class ReadTurn(NamedTuple):
    """A turn whose position is known; `alone` says that the other seat is not ours.

    `limit` is what the arena gives us from one move to the next, and `ends` the monotonic second
    until which we may act at least. What arrived later could open our next turn.
    """

    match: ArenaMatch
    seat: Seat
    position: Position
    alone: bool
    limit: timedelta | None
    ends: float | None

    def decide(
        self, limit: timedelta, monotonic: Callable[[], float], refused: frozenset[Action]
    ) -> Decided[Decision[Action]]:
        """The decision of the strategy that plays this seat; EndTurn when the time is over.

        That alone can do no harm when it is late: the arena ends the turn by force, or refuses.
        """
        left = self._left
        if left is not None and left <= timedelta(0):
            reason = "the time of this turn is over"
            return Decided(Decision(END_TURN, f"Safe action: {reason}."), fault=reason)
        limit = limit if left is None else min(limit, left)
        return decide(self.seat.strategy, self.position, limit, monotonic, refused)

    def intent(self, decided: Decided[Decision[Action]], at: datetime, worker: str) -> Body:
        """The decision, and the position that it was made on."""
        return intent_body(self.position, decided, at, worker, self.seat.strategy_name)

    def act(self, action: Action) -> "ReadTurn | After":
        """Send the action, if it arrives in this turn, and follow the events that it caused."""
        sent, left = self.match.clock.monotonic(), self._left
        try:
            answer = self.seat.client.act(
                self.match.match_id, action, None if action == END_TURN else left
            )
        except Rejected:
            if action == END_TURN and left is not None and left < -GRAIN:
                self.match.dated = False  # the turn was not over: the dates are somebody else's
            raise
        if ends_turn(answer):
            goes_on = end_of(answer) is None
            return After.WAIT if goes_on and self.alone else After.LOOK
        try:
            position = follow(self.position, action, answer)
        except Exception:  # noqa: BLE001 - as above; a new look tells what is so
            _log.exception("cannot follow the match", extra={"match_id": self.match.match_id})
            position = None
        if position is None:
            return After.LOOK
        ends = None if self.limit is None else sent + self.limit.total_seconds()
        return self._replace(position=position, ends=ends)

    @property
    def _left(self) -> timedelta | None:
        """For how long we may act yet, None where nobody says."""
        if self.ends is None:
            return None
        return timedelta(seconds=self.ends - self.match.clock.monotonic())


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
