"""One worker's time with one match: look, decide, act, log, until it ends or time is up.

Three rules keep every action one that was decided on the state it met (RELIABILITY.md section
2). The intent is in the match log before the action is sent. An action is sent once and, after
any doubtful answer, the state is read again and compared, once the action can no longer be under
way. And whoever takes over a match waits as long for what its predecessor may have sent.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from cardsharp.cloud.lease import LeaseKeeper
from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.cloud.ports import Clock, MatchLog, MoveRecord
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.arena import MatchClosed
from cardsharp.deadmansdraw.deciding import Decided, decide
from cardsharp.deadmansdraw.fallback import UNKNOWN_EFFECT
from cardsharp.deadmansdraw.logbook import (
    blind_intent_body,
    end_of,
    ends_turn,
    facts_after,
    header_body,
    intent_body,
    outcome_body,
    position_body,
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
    RateLimited,
    Rejected,
    Unauthorized,
    Unclear,
)

_log = logging.getLogger("cardsharp.bot")

_RESULTS = {
    "won": Metric.MATCHES_WON,
    "lost": Metric.MATCHES_LOST,
    "tied": Metric.MATCHES_TIED,
}

Remaining = Callable[[], timedelta]
"""How much time the worker has left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The durations by which a worker lives.

    `act` is the limit of one action's answer, and so the time after which an action that was
    sent can no longer arrive; `long_poll` that of one wait for our turn. A wait or a turn begins
    only while more than `handover` is left besides; `breath` is the pause before the arena is
    asked again after it failed.
    """

    lease: timedelta = timedelta(seconds=3)
    renew: timedelta = timedelta(seconds=1)
    decision: timedelta = timedelta(seconds=2)
    act: timedelta = timedelta(milliseconds=2500)
    long_poll: timedelta = timedelta(seconds=40)
    handover: timedelta = timedelta(seconds=15)
    breath: timedelta = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker works with, and the name under which it holds leases."""

    players: Players
    log: MatchLog
    clock: Clock
    name: str
    meter: Meter


class Attendance:
    """A match as long as one worker holds its lease; all of it can be lost at any moment."""

    def __init__(
        self,
        worker: Worker,
        timing: Timing,
        match_id: str,
        keeper: LeaseKeeper,
        remaining: Remaining,
    ) -> None:
        self.worker = worker
        self.timing = timing
        self.match_id = match_id
        self.keeper = keeper
        self.remaining = remaining
        self.me = worker.players.me.client
        self.logged = 0
        self.refused: dict[int, frozenset[Action]] = {}

    def run(self) -> bool:
        """Play turn by turn; True when the match has ended, False when the time is up."""
        view = self._first_look()
        while view is not None:
            seats = self.worker.players.seats(view)
            self._record(view)
            if view.finished:
                self._close(view, seats)
                return True
            if self.remaining() < self.timing.handover:
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
        view = self._look()
        if view is None:
            return None
        record = self.worker.log.match(self.match_id)
        if record is None or not record.header:
            seats = self.worker.players.seats(view)
            names = {index: seat.strategy_name for index, seat in seats.items()}
            self.worker.log.describe(self.keeper.lease, header_body(view, names))
            return view
        moves = self.worker.log.moves(self.match_id)
        self.logged = next((m.sequence for m in moves if m.facts is None), len(moves))
        under_way = self._under_way(moves, view.move_count)
        if under_way <= timedelta(0):
            return view
        self.worker.clock.sleep(under_way)
        return self._look()

    def _under_way(self, moves: list[MoveRecord], sequence: int) -> timedelta:
        """How long the action that was meant to be move `sequence` may still arrive."""
        intent = next((m.intent for m in moves if m.sequence == sequence), None)
        decided = instant(str(intent.get("decidedAt"))) if intent else None
        if decided is None:
            return timedelta(0)
        return decided + self.timing.act - self.worker.clock.now()

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
            except (Unauthorized, NotFound):
                raise
            except ArenaError as error:
                self.worker.meter.count(Metric.ARENA_ERRORS)
                _log.warning("%s", error, extra={"match_id": self.match_id})
                if self.remaining() < self.timing.handover:
                    return None
                self.worker.clock.sleep(self._pause(error))
                self.keeper.ensure(timedelta(0))

    def _pause(self, error: ArenaError) -> timedelta:
        asked = error.retry_after if isinstance(error, RateLimited) else timedelta(0)
        return max(asked, self.timing.breath)

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
        except Unclear as unclear:
            _log.exception("cannot read the match", extra={"match_id": self.match_id})
            body = blind_intent_body(str(unclear), self.worker.clock.now(), self.worker.name)
            self._act(sequence, UNKNOWN_EFFECT, body, seat)
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
            position = follow(position, decided.decision.action, answer)
            sequence += 1
        return False

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
            body = {"fault": decided.fault, "sequence": sequence, **position_body(position)}
            worker.log.note(self.match_id, "decision", body)
        return decided

    def _act(
        self, sequence: int, action: Action, intent: dict[str, object], seat: Seat
    ) -> list[EventView] | None:
        """Log the intent, send the action once; None where the state has to be read again."""
        lease = self.keeper.ensure(self.timing.renew)
        self.worker.log.intend(lease, sequence, intent)
        sent = self.worker.clock.now()
        try:
            answer = seat.client.act(self.match_id, action)
        except (MatchOver, NotYourTurn):
            return None
        except Unauthorized:
            raise
        except ArenaError as error:
            self.worker.meter.count(Metric.ARENA_ERRORS)
            _log.warning("%s", error, extra={"match_id": self.match_id, "action": str(action)})
            if isinstance(error, Rejected) and not error.doubtful:
                self.refused[sequence] = self.refused.get(sequence, frozenset()) | {action}
                self.worker.log.note(self.match_id, "refused", {**intent, "answer": str(error)})
            arrival = sent + self.timing.act - self.worker.clock.now()
            pause = max(arrival, timedelta(0)) if error.doubtful else self._pause(error)
            self.worker.clock.sleep(pause)
            return None
        self.worker.meter.count(Metric.ACTIONS)
        return answer

    # --- logging -----------------------------------------------------------------------------

    def _record(self, view: MatchView) -> None:
        """Copy the moves that the log has not got yet from the arena's history."""
        facts = facts_after(view, self.logged)
        if facts:
            self.worker.log.record(self.keeper.lease, facts)
            self.logged = view.move_count

    def _close(self, view: MatchView, seats: dict[int, Seat]) -> None:
        outcome = outcome_body(view, set(seats))
        self.worker.log.finish(self.keeper.lease, outcome)
        metric = _RESULTS.get(str(outcome["result"]))
        if metric is not None:
            self.worker.meter.count(metric)
