"""One worker's time with one match: look, decide, act, log, until it ends or time is up.

Three rules keep every action one that was decided on the state it met (docs/reliability.md).
The intent is in the match log before the action is sent, under a lease that is valid until it is
sent. An action is sent once and, after any doubtful answer, the state is read again, once the
action can no longer be under way. And whoever takes over a match waits as long for what its
predecessor may have sent: the intent says until when that is.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cardsharp.cloud.lease import LeaseKeeper
from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.cloud.ports import Body, Clock, MatchLog, MoveRecord
from cardsharp.cloud.timing import Remaining, Timing
from cardsharp.cloud.trouble import count_error, is_final, pause_after
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.arena import MatchClosed
from cardsharp.deadmansdraw.deciding import Decided, decide
from cardsharp.deadmansdraw.fallback import blind_action
from cardsharp.deadmansdraw.logbook import (
    blind_intent_body,
    end_of,
    ends_turn,
    facts_after,
    header_body,
    intent_body,
    outcome_body,
    position_body,
    timed_out,
)
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import follow, rebuild
from cardsharp.deadmansdraw.seats import Players, Seat
from cardsharp.deadmansdraw.views import EventView, MatchView
from cardsharp.deadmansdraw.wire import instant
from cardsharp.errors import (
    ArenaError,
    MatchOver,
    NotFound,
    NotYourTurn,
    StoreError,
    Unauthorized,
)

_log = logging.getLogger("cardsharp.bot")

_RESULTS = {
    "won": Metric.MATCHES_WON,
    "lost": Metric.MATCHES_LOST,
    "tied": Metric.MATCHES_TIED,
}


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker works with, and the name under which it holds leases."""

    players: Players
    log: MatchLog
    clock: Clock
    name: str
    meter: Meter


class Attendance:
    """A match as long as one worker holds its lease; all of it can be lost at any moment.

    `described` says whether the match log has the match's header already.
    """

    def __init__(
        self,
        worker: Worker,
        timing: Timing,
        keeper: LeaseKeeper,
        remaining: Remaining,
        *,
        described: bool,
    ) -> None:
        self.worker = worker
        self.timing = timing
        self.keeper = keeper
        self.match_id = keeper.lease.match_id
        self.remaining = remaining
        self.described = described
        self.me = worker.players.me.client
        self.logged = 0
        self.refused: dict[int, frozenset[Action]] = {}

    def run(self) -> bool:
        """Play turn by turn; True when the match has ended, False when the time is up."""
        view = self._first_look()
        while view is not None:
            seats = self.worker.players.seats(view)
            if not seats:
                raise NotFound(404, "the match has no seat of ours; check the user's id")
            self._record(view, seats)
            if view.finished:
                self._close(view, seats)
                return True
            if self.remaining() < self.timing.handover or not self._time_for_action():
                return False
            seat = seats.get(-1 if view.active_player_index is None else view.active_player_index)
            ended = seat is None or self._play_turn(view, seat)
            view = self._await_turn() if ended and len(seats) == 1 else self._look()
        return False

    # --- looking -----------------------------------------------------------------------------

    def _look(self) -> MatchView | None:
        """The match as it is; None when the time is up before the arena answers."""
        return self._patiently(lambda: self.me.view(self.match_id))

    def _first_look(self) -> MatchView | None:
        """The match, once no action of a predecessor can be under way any more."""
        asked = self.worker.clock.now()
        view = self._look()
        if view is None:
            return None
        if not self.described:
            seats = self.worker.players.seats(view)
            names = {index: seat.strategy_name for index, seat in seats.items()}
            self.worker.log.describe(self.keeper.lease, header_body(view, names))
            return view
        moves = self.worker.log.moves(self.match_id)
        self.logged = _first_gap(moves)
        arrives = _latest_arrival(moves, view.move_count)
        if arrives is None or arrives <= asked:
            return view
        self.worker.clock.sleep(arrives - self.worker.clock.now())
        return self._look()

    def _await_turn(self) -> MatchView | None:
        """The view of our next turn or of the end; None when the time is up."""
        while self.remaining() > self.timing.long_poll + self.timing.handover:
            view = self._patiently(self._wait_once)
            if view is not None:
                self._note_pick_up(view)
                return view
            self.keeper.ensure(timedelta(0))
        return None

    def _wait_once(self) -> MatchView | None:
        try:
            return self.me.wait_for_turn(self.match_id)
        except MatchClosed as closed:
            return closed.closing.view or self.me.view(self.match_id)

    def _patiently(self, look: Callable[[], MatchView | None]) -> MatchView | None:
        """What `look` returns, asked again while the arena fails and time is left."""
        while True:
            try:
                return look()
            except ArenaError as error:
                if is_final(error):
                    raise
                self._note_error(error)
                if self.remaining() < self.timing.handover:
                    return None
                self._pause(pause_after(error, self.timing.breath))
                self.keeper.ensure(timedelta(0))

    def _note_error(self, error: ArenaError, action: Action | None = None) -> None:
        count_error(self.worker.meter, error)
        about = {} if action is None else {"action": str(action)}
        _log.warning("%s", error, extra={"match_id": self.match_id, **about})

    def _pause(self, wanted: timedelta) -> None:
        """Sleep as long as is wanted, but wake in time to hand the match on."""
        self.worker.clock.sleep(min(wanted, self.remaining() - self.timing.handover / 2))

    def _note_pick_up(self, view: MatchView) -> None:
        moved = instant(view.last_move_at)
        if moved is not None and not view.finished:
            late = max(self.worker.clock.now() - moved, timedelta(0))
            self.worker.meter.time(Metric.PICK_UP, late)

    # --- playing -----------------------------------------------------------------------------

    def _play_turn(self, view: MatchView, seat: Seat) -> bool:
        """Play a turn; True when it ended and the match goes on, False to look what is so."""
        sequence = view.move_count
        try:
            position: Position | None = rebuild(view, view.active_player_index or 0)
        except Exception as error:  # noqa: BLE001 - a newer arena's words must end no match
            _log.exception("cannot read the match", extra={"match_id": self.match_id})
            self._play_blindly(view, seat, str(error))
            return False
        while position is not None and self._time_for_action():
            decided = self._decide(position, sequence, seat)
            at, name = self.worker.clock.now(), self.worker.name
            body = intent_body(position, decided, at, name, seat.strategy_name)
            answer = self._act(sequence, decided.decision.action, body, seat)
            if answer is None:
                return False
            if ends_turn(answer):
                return end_of(answer) is None
            position = self._follow(position, decided.decision.action, answer)
            sequence += 1
        return False

    def _play_blindly(self, view: MatchView, seat: Seat, reason: str) -> None:
        area = () if view.move_count_in_turn is None else view.state.play_area
        action = blind_action(area, self.refused.get(view.move_count, frozenset()))
        at, name = self.worker.clock.now(), self.worker.name
        self._act(view.move_count, action, blind_intent_body(action, reason, at, name), seat)

    def _follow(
        self, position: Position, action: Action, answer: list[EventView]
    ) -> Position | None:
        try:
            return follow(position, action, answer)
        except Exception:  # noqa: BLE001 - as above; a new look tells what is so
            _log.exception("cannot follow the match", extra={"match_id": self.match_id})
            return None

    def _time_for_action(self) -> bool:
        return self.remaining() > self.timing.decision + 2 * self.timing.act

    def _decide(self, position: Position, sequence: int, seat: Seat) -> Decided:
        worker = self.worker
        refused = self.refused.get(sequence, frozenset())
        limit, monotonic = self.timing.decision, worker.clock.monotonic
        decided = decide(seat.strategy, position, limit, monotonic, refused)
        worker.meter.time(Metric.DECISION, decided.took)
        if decided.fault is not None:
            worker.meter.count(Metric.SAFE_ACTIONS)
            _log.warning("%s", decided.fault, extra={"match_id": self.match_id})
            body = {"fault": decided.fault, "sequence": sequence, **position_body(position)}
            self._note("decision", body)
        return decided

    def _act(
        self, sequence: int, action: Action, intent: dict[str, object], seat: Seat
    ) -> list[EventView] | None:
        """Log the intent, send the action once; None where the state has to be read again."""
        if not self._intend(sequence, intent):
            return None
        sent = self.worker.clock.now()
        try:
            answer = seat.client.act(self.match_id, action)
        except MatchOver:
            return None
        except NotYourTurn as late:  # the arena ended the turn, or contradicts its own view
            self._note_error(late, action)
            self._pause(self.timing.breath)
            return None
        except Unauthorized:
            raise
        except ArenaError as error:
            self._note_error(error, action)
            if is_final(error):
                self.refused[sequence] = self.refused.get(sequence, frozenset()) | {action}
                self._note("refused", {**intent, "answer": str(error)})
            arrival = sent + self.timing.act - self.worker.clock.now()
            least = max(arrival, timedelta(0)) if error.doubtful else self.timing.breath
            self._pause(pause_after(error, least))
            return None
        self.worker.meter.count(Metric.ACTIONS)
        return answer

    def _intend(self, sequence: int, intent: Body) -> bool:
        """Log an intent; False where that took so long that another may hold the match by now.

        The lease is ours for another `renew`, and in that time the action is sent, or not at all.
        """
        timing, clock = self.timing, self.worker.clock
        lease = self.keeper.ensure(timing.renew)
        last_moment = clock.now() + timing.renew
        arrives = last_moment + timing.act
        body = {**intent, "arrivesBefore": arrives.isoformat()}
        self.worker.log.intend(lease, sequence, body)
        in_time = clock.now() <= last_moment
        if not in_time:
            _log.warning("an intent took too long", extra={"match_id": self.match_id})
        return in_time

    # --- logging -----------------------------------------------------------------------------

    def _record(self, view: MatchView, seats: dict[int, Seat]) -> None:
        """Copy the moves that the log has not got yet from the arena's history."""
        facts = facts_after(view, self.logged)
        if facts:
            self.worker.log.record(self.keeper.lease, facts)
            late = sum(timed_out(move) in seats for move in view.moves[self.logged :])
            self.worker.meter.count(Metric.TIMEOUTS, late)
            self.logged = view.move_count

    def _note(self, kind: str, body: Body) -> None:
        """Keep a debugging note; a match does not fail for want of one."""
        try:
            self.worker.log.note(self.match_id, kind, body)
        except StoreError as error:
            _log.warning("%s", error, extra={"match_id": self.match_id})

    def _close(self, view: MatchView, seats: dict[int, Seat]) -> None:
        outcome = outcome_body(view, set(seats))
        self.worker.log.finish(self.keeper.lease, outcome)
        metric = _RESULTS.get(str(outcome["result"]))
        if metric is not None:
            self.worker.meter.count(metric)


def _first_gap(moves: list[MoveRecord]) -> int:
    """The first move of which the log has no facts."""
    known = (index for index, m in enumerate(moves) if m.sequence != index or m.facts is None)
    return next(known, len(moves))


def _latest_arrival(moves: list[MoveRecord], sequence: int) -> datetime | None:
    """Until when the action that was meant to be move `sequence` can arrive; None for none."""
    intent = next((m.intent for m in moves if m.sequence == sequence), None)
    return None if intent is None else instant(str(intent.get("arrivesBefore")))
