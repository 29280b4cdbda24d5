"""A match of Dead Man's Draw as the bot attends it; all that every game shares is in cloud/attend.

The match is played from what the arena says and nothing else. Which seats are ours is worked out
from each view; where both are, the same worker plays both.
"""

import logging
from collections.abc import Callable, Collection
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from cardsharp.budget import FED, Purpose
from cardsharp.cloud.attended import UNDER_WAY, After, Facts, Meet, Sight, Turn
from cardsharp.cloud.ports import Body, Clock
from cardsharp.cloud.trouble import is_refusal
from cardsharp.deadmansdraw.actions import END_TURN, Action
from cardsharp.deadmansdraw.briefing import Players, Seat
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.events import Event
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
)
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import events_of, follow, played, rebuild
from cardsharp.deadmansdraw.settings import NAMED_IN_TIME
from cardsharp.deadmansdraw.wire import instant
from cardsharp.deadmansdraw.wire_views import EventType, MatchView
from cardsharp.deciding import Decided
from cardsharp.errors import NotFound, Rejected
from cardsharp.far_clock import NEVER, FarClock, When
from cardsharp.strategy import Decision

_log = logging.getLogger("cardsharp.bot")

PATIENCE = timedelta(seconds=5)  # so long at most the budget holds back a turn or a wait
LOOK_AGAIN = timedelta(seconds=2)  # a turn that may be over is looked at again by then
NO_SUCH_MATCH = "Match does not exist."  # the arena's own words (docs/spec/arena.md section 4)


def meeting(players: Players, clock: Clock, tags: Collection[str] = ()) -> Meet:
    """How these players meet a match; `tags` are those that the poller asks for, none means all."""
    return lambda match_id: nullcontext(ArenaMatch(match_id, players, clock, tags))


class ArenaMatch:
    """A match at an arena, on whose seats we play as some of these players.

    `acted` are the seconds at which actions of ours were sent and answered, by their sequence, and
    `answers` the events that they were answered with. `goes_on` is the sequence at which the arena
    refused to end a turn whose time seemed over, and the second at which it was asked to. For
    `under_way` the next action may last, as its intent has told.
    """

    def __init__(
        self, match_id: str, players: Players, clock: Clock, tags: Collection[str] = ()
    ) -> None:
        self.match_id, self.players, self.clock, self.tags = match_id, players, clock, tags
        self.under_way = timedelta.max
        self.acted: dict[int, tuple[float, float]] = {}
        self.answers: dict[int, tuple[Event, ...]] = {}
        self.goes_on = (-1, 0.0)
        self.patience = PATIENCE

    @property
    def header(self) -> None:
        """Nothing is known of a match that was not looked at."""

    def look(self, known: Facts) -> Sight[Action]:
        """The match as it is now."""
        return self._sight(self.players.me.client.view(self.match_id), known)

    def wait(self, known: Facts) -> Sight[Action] | None:
        """The match when we are to act or it has ended, None where that took too long."""
        view = self.players.me.client.wait_for_turn(self.match_id, self.patience)
        return None if view is None else self._sight(view, known)

    def gone(self, denied: Rejected) -> Body | None:
        """The outcome where the arena says that there is no such match."""
        missing = isinstance(denied, NotFound) and denied.message == NO_SUCH_MATCH
        return missing_body() if missing else None

    def limit_next(self, seat: Seat) -> Body:
        """Fix how long the next action may be under way, and what its intent says of that."""
        self.under_way = seat.client.act_limit
        return {UNDER_WAY: self.under_way.total_seconds()}

    def _sight(self, view: MatchView, known: Facts) -> Sight[Action]:
        self._note_times(view)
        params = view.creation_params
        if params.timeout is not None:
            self.patience = min(PATIENCE, params.timeout / 4)
        seats = self.players.seats(view)
        if not seats:
            raise NotFound(404, "the match has no seat of ours; check the user's id")
        moves = {move.sequence_id: played(move) for move in view.moves}
        late = (one.timed_out in seats for number, one in moves.items() if number not in known)
        names = {index: seat.strategy_name for index, seat in seats.items()}
        # What opens the match, and what the arena ends for want of time, nobody has done.
        done = (number for number, one in moves.items() if number and one.timed_out is None)
        ours = {number: moves[number].events for number in done if moves[number].player in seats}
        asked_for = not self.tags or not set(self.tags).isdisjoint(params.tags)
        return Sight(
            sequence=view.move_count,
            facts=facts_beyond(view, known),
            timeouts=sum(late),
            outcome=outcome_body(view, set(seats)) if view.finished else None,
            turn=None if view.finished else self._turn(view, seats),
            acted_at=instant(view.last_move_at),
            limit=params.timeout,
            header=header_body(view, names),
            # The poller asks for such a match, and no turn is over before it is told.
            may_rest=asked_for and (params.timeout is None or params.timeout >= NAMED_IN_TIME),
            ours=frozenset(ours),
            strange=frozenset(n for n in ours if ours[n] != self.answers.get(n, ours[n])),
            held_back=self.players.me.client.contact.is_slowed,
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
            return BlindTurn(self, seat, area, str(error))
        ends = self._end_of_turn(view)
        return ReadTurn(self, seat, position, len(seats) == 1, view.creation_params.timeout, ends)

    def _note_times(self, view: MatchView) -> None:
        """What an answer that has just come says of the arena's clock."""
        far, now = self.players.me.client.contact.far, self.clock.monotonic()
        for move in view.moves:
            acted, at = self.acted.pop(move.sequence_id, None), instant(move.at)
            if acted is not None and at is not None:
                far.written(at, *acted)
        moved = instant(view.last_move_at)
        if moved is not None:
            far.shown(moved, now)

    def _end_of_turn(self, view: MatchView) -> When:
        """When the arena's limit is over in our monotonic seconds.

        It runs from the last move, by the arena's own clock. Where it goes on after that, the arena
        was down and gave all time again when it came back, not long before it was asked.
        """
        limit, moved = view.creation_params.timeout, instant(view.last_move_at)
        if limit is None or moved is None:
            return NEVER
        now, ends = self.clock.monotonic(), NEVER
        with suppress(OverflowError):
            ends = self.players.me.client.contact.far.when(moved + limit, now)
        number, asked = self.goes_on
        if number == view.move_count and ends.latest <= now:
            seconds = limit.total_seconds()
            return When(asked + seconds / 2, asked + seconds)
        return ends


class ReadTurn(NamedTuple):
    """A turn whose position is known; `alone` says that the other seat is not ours.

    `limit` is what the arena gives us from one move to the next, and `ends` when it is over. What
    arrived later could open our next turn.
    """

    match: ArenaMatch
    seat: Seat
    position: Position
    alone: bool
    limit: timedelta | None
    ends: When

    def decide(
        self, limit: timedelta, monotonic: Callable[[], float], refused: frozenset[Action]
    ) -> Decided[Decision[Action]] | None:
        """The decision of the strategy that plays this seat; EndTurn when the time is over.

        That alone can do no harm when it is late: the arena ends the turn by force, or refuses.
        None where the time may be over and may not be: then a look has to tell.
        """
        self._await_budget()
        over, left = self._until(self.ends.latest), self._until(self.ends.earliest)
        if over <= timedelta(0):
            reason = "the time of this turn is over"
            return Decided(Decision(END_TURN, f"Safe action: {reason}."), fault=reason)
        if left <= timedelta(0):
            self.match.clock.sleep(min(over, LOOK_AGAIN))
            return None
        return decide(self.seat.strategy, self.position, min(limit, left), monotonic, refused)

    def intent(self, decided: Decided[Decision[Action]], at: datetime, worker: str) -> Body:
        """The decision, the position that it was made on, and how long the action may take."""
        body = intent_body(self.position, decided, at, worker, self.seat.strategy_name)
        return {**body, **self.match.limit_next(self.seat)}

    def act(self, action: Action) -> "ReadTurn | After":
        """Send the action, if it arrives in this turn, and follow the events that it caused."""
        sent, left = self.match.clock.monotonic(), self._until(self.ends.earliest)
        over = sent >= self.ends.latest
        under_way = self.match.under_way
        within = under_way if action == END_TURN else min(left, under_way)
        try:
            answer = self.seat.client.act(self.match.match_id, action, within)
        except Rejected as error:
            # Nothing else says that the turn goes on: after a 409 it is over indeed.
            if over and is_refusal(error):
                self._clock.distrust_dates()
                self.match.goes_on = len(self.position.history), sent
            raise
        if over and all(event.event_type != EventType.COMMENT for event in answer):
            self._clock.distrust_dates()
        answered = self.match.clock.monotonic()
        self.match.acted[len(self.position.history)] = sent, answered
        self.match.answers[len(self.position.history)] = events_of(answer)
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
        ends = NEVER
        if self.limit is not None:
            seconds = self.limit.total_seconds()
            ends = When(sent + seconds, answered + seconds)
        return self._replace(position=position, ends=ends)

    def _await_budget(self) -> None:
        """Wait until the arena takes another action without slowing us, while there is time."""
        contact, now = self.seat.client.contact, self.match.clock.monotonic()
        latest = now + PATIENCE.total_seconds()
        if self.limit is not None:
            rest = (1 - FED) * self.limit.total_seconds()
            latest = min(latest, self.ends.earliest - rest)
        contact.admit(Purpose.ACT, latest)

    @property
    def _clock(self) -> FarClock:
        return self.match.players.me.client.contact.far

    def _until(self, second: float) -> timedelta:
        """How long until a second of ours, the endless as many days."""
        return timedelta(seconds=min(second - self.match.clock.monotonic(), 1e6))


class BlindTurn(NamedTuple):
    """A turn in a match that cannot be read: an action that the arena completes itself."""

    match: ArenaMatch
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
        body = blind_intent_body(decided.decision.action, self.reason, at, worker)
        return {**body, **self.match.limit_next(self.seat)}

    def act(self, action: Action) -> After:
        """Send the action."""
        self.seat.client.act(self.match.match_id, action, self.match.under_way)
        return After.LOOK
