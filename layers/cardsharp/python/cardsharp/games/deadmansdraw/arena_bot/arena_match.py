"""Match of Dead Man's Draw as the bot plays it; what all games share is in `cardsharp.bot`.

The match is played from the arena's responses and nothing else. Our seats are determined from
each view; if both are ours, the same worker plays both.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from cardsharp.bot.bot_match import (
    IN_FLIGHT_SECONDS,
    BotTurn,
    MoveFacts,
    NextRead,
    Observation,
    OpenMatch,
)
from cardsharp.bot.error_policy import is_action_rejected
from cardsharp.client.remote_clock import NEVER_BOUNDS, RemoteClock, TimeBounds
from cardsharp.client.request_budget import MAX_ACTION_WAIT_SHARE, RequestPriority
from cardsharp.core.clock import Clock
from cardsharp.core.limits import DECISION_TIMEOUT
from cardsharp.errors import NotFound, RequestRejected
from cardsharp.games.deadmansdraw.actions import END_TURN, Action
from cardsharp.games.deadmansdraw.arena_bot.decision_time import (
    cpu_seconds_for_decision,
    memory_of_this_function,
)
from cardsharp.games.deadmansdraw.arena_bot.opponent_history import ArenaBotPlayer, BotAndDummySeats
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import (
    events_from_view,
    initial_public_info,
    next_position,
    past_move_from_view,
    position_from_view,
)
from cardsharp.games.deadmansdraw.arena_bot.settings import MIN_UNWATCHED_TURN
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView, parse_timestamp
from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.games.deadmansdraw.events import Event, EventType
from cardsharp.games.deadmansdraw.fallback import decide_in_time, fallback_for_unreadable_match
from cardsharp.games.deadmansdraw.history.intent_records import fallback_intent_body, intent_body
from cardsharp.games.deadmansdraw.history.log_records import (
    MoveSummarizer,
    ends_turn,
    header_body,
    match_end_event,
    missing_match_outcome_body,
    new_or_changed_facts,
    outcome_body,
)
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, PastMove
from cardsharp.games.deadmansdraw.strategies import CpuTimeAware, Strategy
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import Body, Summaries

_log = logging.getLogger("cardsharp.bot")

MAX_BUDGET_WAIT = timedelta(seconds=5)  # so long at most the budget holds back a turn or a wait
DELAY_RESERVE = 1.5  # times the arena's delay: it grows while an action waits to be sent
MAX_DECISION_SHARE = 0.8  # of a turn's remaining time, for a longer limit than the usual one
REREAD_DELAY = timedelta(seconds=2)  # a turn that may be over is looked at again by then
NO_SUCH_MATCH = "Match does not exist."  # the arena's own words (docs/spec/arena.md section 4)


def match_opener(players: BotAndDummySeats, clock: Clock, tags: Collection[str] = ()) -> OpenMatch:
    """Return a function that opens a match for these players.

    `tags` are the tags that the poller looks for; none means all.
    """
    return lambda match_id: nullcontext(ArenaBotMatch(match_id, players, clock, tags))


class ArenaBotMatch:
    """A match at an arena in which some of these players hold seats.

    `acted` maps the sequence of an action of ours to the local seconds at which it was sent and
    answered, and `answers` to the events of the response. `goes_on` holds a sequence and a
    local second: there the arena refused to end a turn whose time seemed over. `action_timeout`
    is how long the next action may be in flight, as its intent in the log says.
    """

    def __init__(
        self, match_id: str, seats: BotAndDummySeats, clock: Clock, tags: Collection[str] = ()
    ) -> None:
        self.match_id, self.players, self.clock, self.tags = match_id, seats, clock, tags
        self.action_timeout = timedelta.max
        self.acted: dict[int, tuple[float, float]] = {}
        self.answers: dict[int, tuple[Event, ...]] = {}
        self.goes_on = (-1, 0.0)
        self.turn_timeout: timedelta | None = None

    @property
    def header(self) -> None:
        """Always None: only an observation supplies the header of an arena's match."""

    def observe(self, recorded_facts: MoveFacts) -> Observation[Action]:
        """Return the match as it is now, with the moves that are not in `recorded_facts`.

        There is nothing to join: the arena seats the players when a match is created.
        """
        return self._build_observation(
            self.players.own_seat.client.get_match(self.match_id), recorded_facts
        )

    def wait_for_change(self, recorded_facts: MoveFacts) -> Observation[Action] | None:
        """Wait until we are to act or the match has ended; return it, or None after too long."""
        client, patience = self.players.own_seat.client, MAX_BUDGET_WAIT
        if self.turn_timeout is not None:
            # The arena holds the wait back as it does everything, and it must lie there when the
            # opponent's turn ends.
            patience = min(
                patience, self.turn_timeout / 4 - client.session_state.expected_extra_latency
            )
        view = client.wait_for_turn(self.match_id, max(patience, timedelta(0)))
        return None if view is None else self._build_observation(view, recorded_facts)

    def outcome_if_missing(self, error: RequestRejected) -> Body | None:
        """Return the outcome of a match that the arena says does not exist, None otherwise."""
        missing = isinstance(error, NotFound) and error.message == NO_SUCH_MATCH
        return missing_match_outcome_body() if missing else None

    def set_next_action_timeout(self, seat: ArenaBotPlayer) -> Body:
        """Set the timeout of the next action; return it as a field of the action's intent."""
        self.action_timeout = seat.client.max_action_flight_time(self.turn_timeout)
        return {IN_FLIGHT_SECONDS: self.action_timeout.total_seconds()}

    def _build_observation(self, view: MatchView, recorded: MoveFacts) -> Observation[Action]:
        self._update_remote_clock(view)
        params = view.creation_params
        self.turn_timeout = params.timeout
        seats = self.players.bot_seats_by_index(view)
        if not seats:
            raise NotFound(404, "the match has no seat of ours; check the user's id")
        moves = {move.sequence_id: past_move_from_view(move) for move in view.moves}
        facts = new_or_changed_facts(view, recorded)
        late = (
            move.timed_out_player in seats
            for sequence, move in moves.items()
            if sequence not in recorded
        )
        names = {index: seat.strategy_name for index, seat in seats.items()}
        # What opens the match, and what the arena ends for want of time, nobody has done.
        done = (
            sequence
            for sequence, move in moves.items()
            if sequence and move.timed_out_player is None
        )
        our_moves = {
            sequence: moves[sequence].events for sequence in done if moves[sequence].player in seats
        }
        is_polled = not self.tags or not set(self.tags).isdisjoint(params.tags)
        return Observation(
            next_sequence=view.move_count,
            facts=facts,
            summaries=self._summarize_moves(view, moves) if facts else {},
            timeout_count=sum(late),
            outcome=outcome_body(view, set(seats)) if view.finished else None,
            turn=None if view.finished else self._build_turn(view, seats),
            turn_began_at=parse_timestamp(view.last_move_at),
            turn_timeout=params.timeout,
            header=header_body(view, names),
            # The poller asks for such a match, and no turn is over before it is told.
            may_park=is_polled and (params.timeout is None or params.timeout >= MIN_UNWATCHED_TURN),
            our_moves=frozenset(our_moves),
            foreign_moves=frozenset(
                n for n in our_moves if our_moves[n] != self.answers.get(n, our_moves[n])
            ),
            was_throttled=self.players.own_seat.client.session_state.is_budget_exhausted,
        )

    def _summarize_moves(self, view: MatchView, moves: Mapping[int, PastMove]) -> Summaries:
        """Return the text of each move for readers of the log; none if a move is unreadable."""
        try:
            public_info = initial_public_info(view, moves.values())
            tracker = MoveSummarizer(public_info, view.player_names)
            return {
                move.sequence_id: tracker.summarize(
                    moves[move.sequence_id], parse_timestamp(move.at)
                )
                for move in view.moves
            }
        except Exception:  # noqa: BLE001 - a newer arena's words must end no match
            about = {"match_id": self.match_id}
            _log.warning("cannot summarize the match", exc_info=True, extra=about)
            return {}

    def _build_turn(
        self, view: MatchView, seats: dict[int, ArenaBotPlayer]
    ) -> BotTurn[Action] | None:
        active = view.active_player_index
        seat = None if active is None else seats.get(active)
        if active is None or seat is None:
            return None
        try:
            position = position_from_view(view, active)
        except Exception as error:  # noqa: BLE001 - a newer arena's words must end no match
            _log.exception("cannot read the match", extra={"match_id": self.match_id})
            area = () if view.move_count_in_turn is None else view.state.play_area
            return FallbackTurn(self, seat, area, str(error))
        ends = self._estimate_turn_end(view)
        return ArenaTurn(self, seat, position, len(seats) == 1, view.creation_params.timeout, ends)

    def _update_remote_clock(self, view: MatchView) -> None:
        """Update the estimate of the arena's clock from a view that has just arrived."""
        far, received_at = (
            self.players.own_seat.client.session_state.remote_clock,
            self.clock.monotonic(),
        )
        for move in view.moves:
            acted, at = self.acted.pop(move.sequence_id, None), parse_timestamp(move.at)
            if acted is not None and at is not None:
                far.update_from_write(at, *acted)
        moved = parse_timestamp(view.last_move_at)
        if moved is not None:
            far.update_from_timestamp(moved, received_at)

    def _estimate_turn_end(self, view: MatchView) -> TimeBounds:
        """Return bounds of the end of the arena's turn limit, in local monotonic seconds.

        The limit runs from the last move, by the arena's clock. If the turn continues beyond it,
        the arena was down: at its restart, shortly before our request, it gave the turn its full
        time again.
        """
        limit, moved = view.creation_params.timeout, parse_timestamp(view.last_move_at)
        if limit is None or moved is None:
            return NEVER_BOUNDS
        current, ends = self.clock.monotonic(), NEVER_BOUNDS
        with suppress(OverflowError):
            ends = self.players.own_seat.client.session_state.remote_clock.to_local_bounds(
                moved + limit, current
            )
        move_count, sent_at = self.goes_on
        if move_count == view.move_count and ends.latest <= current:
            seconds = limit.total_seconds()
            return TimeBounds(sent_at + seconds / 2, sent_at + seconds)
        return ends


class ArenaTurn(NamedTuple):
    """A turn with its position; `is_only_our_seat` is True if the other seat is not ours.

    `turn_timeout` is the arena's time limit from one move to the next, and `ends_at` bounds its
    end. An action that arrived later could open our next turn.
    """

    match: ArenaBotMatch
    seat: ArenaBotPlayer
    position: DeadMansDrawPosition
    is_only_our_seat: bool
    turn_timeout: timedelta | None
    ends_at: TimeBounds

    def decide(
        self,
        timeout: timedelta,
        monotonic: Callable[[], float],
        rejected_actions: frozenset[Action],
    ) -> DecisionResult[Decision[Action]] | None:
        """Return the decision of this seat's strategy; END_TURN if the time is over.

        Only END_TURN is harmless when it is late: the arena ends the turn by force, or rejects
        it. Returns None if the time may be over: then only a new view can tell.
        """
        self._await_budget()
        over, remaining = (
            self._time_until(self.ends_at.latest),
            self._time_until(self.ends_at.earliest),
        )
        if over <= timedelta(0):
            reason = "the time of this turn is over"
            return DecisionResult(Decision(END_TURN, f"Safe action: {reason}."), error=reason)
        if remaining <= timedelta(0):
            self.match.clock.sleep(min(over, REREAD_DELAY))
            return None
        delay = self.seat.client.session_state.expected_extra_latency
        timeout = min(
            timeout,
            max(DECISION_TIMEOUT, MAX_DECISION_SHARE * remaining),
            max(remaining - delay, remaining / 4),  # the action takes the rest
        )
        return decide_in_time(
            self._strategy_for_turn(), self.position, timeout, monotonic, rejected_actions
        )

    def _strategy_for_turn(self) -> Strategy:
        """Return the seat's strategy, which may search further in longer turns."""
        strategy = self.seat.strategy
        if not isinstance(strategy, CpuTimeAware):
            return strategy
        memory_mb = memory_of_this_function()
        return strategy.with_cpu_seconds(
            cpu_seconds_for_decision(self.turn_timeout, memory_mb=memory_mb)
        )

    def intent_body(
        self,
        decision_result: DecisionResult[Decision[Action]],
        decided_at: datetime,
        worker_id: str,
    ) -> Body:
        """The decision, the position that it was made on, and how long the action may take."""
        body = intent_body(
            self.position, decision_result, decided_at, worker_id, self.seat.strategy_name
        )
        return {**body, **self.match.set_next_action_timeout(self.seat)}

    def send(self, action: Action) -> "ArenaTurn | NextRead":
        """Send the action, if it arrives in this turn, and follow the events that it caused."""
        sent_at, remaining = self.match.clock.monotonic(), self._time_until(self.ends_at.earliest)
        over = sent_at >= self.ends_at.latest
        action_timeout = self.match.action_timeout
        within = action_timeout if action == END_TURN else min(remaining, action_timeout)
        try:
            response = self.seat.client.act(self.match.match_id, action, within)
        except RequestRejected as error:
            # Nothing else says that the turn goes on: after a 409 it is over indeed.
            if over and is_action_rejected(error):
                self._remote_clock.ignore_date_headers()
                self.match.goes_on = len(self.position.history), sent_at
            raise
        if over and all(event.event_type != EventType.COMMENT for event in response):
            self._remote_clock.ignore_date_headers()
        answered = self.match.clock.monotonic()
        self.match.acted[len(self.position.history)] = sent_at, answered
        self.match.answers[len(self.position.history)] = events_from_view(response)
        # After the end of a turn there is nothing to decide until the opponent has moved. But if
        # both seats are ours, the next turn is ours too, and is read at once.
        if ends_turn(response):
            goes_on = match_end_event(response) is None
            return (
                NextRead.WAIT_FOR_CHANGE
                if goes_on and self.is_only_our_seat
                else NextRead.READ_IMMEDIATELY
            )
        try:
            position = next_position(self.position, action, response)
        except Exception:  # noqa: BLE001 - as above; a new look tells what is so
            _log.exception("cannot follow the match", extra={"match_id": self.match.match_id})
            position = None
        if position is None:
            return NextRead.READ_IMMEDIATELY
        ends = NEVER_BOUNDS
        if self.turn_timeout is not None:
            seconds = self.turn_timeout.total_seconds()
            ends = TimeBounds(sent_at + seconds, answered + seconds)
        return self._replace(position=position, ends_at=ends)

    def _await_budget(self) -> None:
        """Wait, while time allows, until the arena would not throttle another action."""
        contact, started_at = self.seat.client.session_state, self.match.clock.monotonic()
        latest = started_at + MAX_BUDGET_WAIT.total_seconds()
        if self.turn_timeout is not None:
            rest = (1 - MAX_ACTION_WAIT_SHARE) * self.turn_timeout.total_seconds()
            rest += DELAY_RESERVE * contact.expected_extra_latency.total_seconds()
            latest = min(latest, self.ends_at.earliest - rest)
        contact.wait_for_budget(RequestPriority.ACT, latest)

    @property
    def _remote_clock(self) -> RemoteClock:
        return self.match.players.own_seat.client.session_state.remote_clock

    def _time_until(self, deadline: float) -> timedelta:
        """Return the time until a local monotonic second, at most 1,000,000 s."""
        return timedelta(seconds=min(deadline - self.match.clock.monotonic(), 1e6))


class FallbackTurn(NamedTuple):
    """A turn in a match that cannot be read: an action that the arena completes itself."""

    match: ArenaBotMatch
    seat: ArenaBotPlayer
    play_area: tuple[Card, ...]
    reason: str

    def decide(
        self,
        timeout: timedelta,
        monotonic: Callable[[], float],
        rejected_actions: frozenset[Action],
    ) -> DecisionResult[Decision[Action]]:
        """Return the fallback action for an unreadable match, without asking a strategy."""
        del timeout, monotonic
        action = fallback_for_unreadable_match(self.play_area, rejected_actions)
        return DecisionResult(Decision(action, self.reason), error=self.reason)

    def intent_body(
        self,
        decision_result: DecisionResult[Decision[Action]],
        decided_at: datetime,
        worker_id: str,
    ) -> Body:
        """Return the body of the intent: the action, and why no strategy could decide."""
        body = fallback_intent_body(
            decision_result.decision.action, self.reason, decided_at, worker_id
        )
        return {**body, **self.match.set_next_action_timeout(self.seat)}

    def send(self, action: Action) -> NextRead:
        """Send the action to the arena; the match is then read at once."""
        self.seat.client.act(self.match.match_id, action, self.match.action_timeout)
        return NextRead.READ_IMMEDIATELY
