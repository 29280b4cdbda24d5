"""One worker's time with one match: look, decide, act, log, until it ends or time is up.

What keeps every action one that was decided on the state it met is in `cloud/hold`.
"""

import logging
from datetime import timedelta

from cardsharp.cloud.hold import Hold
from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.ports import Body, MoveRecord
from cardsharp.cloud.trouble import is_final
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.arena import MatchClosed
from cardsharp.deadmansdraw.deciding import decide
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
from cardsharp.deadmansdraw.strategies import Decision
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
from cardsharp.promptly import Decided

_log = logging.getLogger("cardsharp.bot")

_RESULTS = {
    "won": Metric.MATCHES_WON,
    "lost": Metric.MATCHES_LOST,
    "tied": Metric.MATCHES_TIED,
}


class Attendance:
    """A match as long as one worker holds it; all of this can be lost at any moment.

    `described` says whether the match log has the match's header already.
    """

    def __init__(self, hold: Hold, players: Players, *, described: bool) -> None:
        self.hold = hold
        self.players = players
        self.match_id = hold.match_id
        self.described = described
        self.me = players.me.client
        self.logged = 0
        self.refused: dict[int, frozenset[Action]] = {}

    def run(self) -> bool:
        """Play turn by turn; True when the match has ended, False when the time is up."""
        view = self._first_look()
        while view is not None:
            seats = self.players.seats(view)
            if not seats:
                raise NotFound(404, "the match has no seat of ours; check the user's id")
            self._record(view, seats)
            if view.finished:
                self._close(view, seats)
                return True
            if not self.hold.time_to_act():
                return False
            seat = seats.get(-1 if view.active_player_index is None else view.active_player_index)
            ended = seat is None or self._play_turn(view, seat)
            view = self._await_turn() if ended and len(seats) == 1 else self._look()
        return False

    # --- looking -----------------------------------------------------------------------------

    def _look(self) -> MatchView | None:
        """The match as it is; None when the time is up before the arena answers."""
        return self.hold.patiently(lambda: self.me.view(self.match_id))

    def _first_look(self) -> MatchView | None:
        """The match, once no action of a predecessor can be under way any more."""
        hold = self.hold
        asked = hold.clock.now()
        view = self._look()
        if view is None:
            return None
        if not self.described:
            seats = self.players.seats(view)
            names = {index: seat.strategy_name for index, seat in seats.items()}
            hold.log.describe(hold.lease, header_body(view, names))
        # For a new match too: somebody may have begun it since we looked whether it is new.
        moves = hold.log.moves(self.match_id)
        self.logged = _first_gap(moves)
        return self._look() if hold.outwait(moves, view.move_count, asked) else view

    def _await_turn(self) -> MatchView | None:
        """The view of our next turn or of the end; None when the time is up."""
        while self.hold.time_to_wait():
            view = self.hold.patiently(self._wait_once)
            if view is not None:
                self._note_pick_up(view)
                return view
            self.hold.keeper.ensure(timedelta(0))
        return None

    def _wait_once(self) -> MatchView | None:
        try:
            return self.me.wait_for_turn(self.match_id)
        except MatchClosed as closed:
            return closed.closing.view or self.me.view(self.match_id)

    def _note_pick_up(self, view: MatchView) -> None:
        moved = instant(view.last_move_at)
        if moved is not None and not view.finished:
            late = max(self.hold.clock.now() - moved, timedelta(0))
            self.hold.meter.time(Metric.PICK_UP, late)

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
        while position is not None and self.hold.time_to_decide():
            decided = self._decide(position, sequence, seat)
            at, name = self.hold.clock.now(), self.hold.worker
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
        at, name = self.hold.clock.now(), self.hold.worker
        self._act(view.move_count, action, blind_intent_body(action, reason, at, name), seat)

    def _follow(
        self, position: Position, action: Action, answer: list[EventView]
    ) -> Position | None:
        try:
            return follow(position, action, answer)
        except Exception:  # noqa: BLE001 - as above; a new look tells what is so
            _log.exception("cannot follow the match", extra={"match_id": self.match_id})
            return None

    def _decide(self, position: Position, sequence: int, seat: Seat) -> Decided[Decision]:
        hold, refused = self.hold, self.refused.get(sequence, frozenset())
        limit, monotonic = hold.timing.decision, hold.clock.monotonic
        decided = decide(seat.strategy, position, limit, monotonic, refused)
        hold.note_decision(decided.took, decided.fault)
        if decided.fault is not None:
            body = {"fault": decided.fault, "sequence": sequence, **position_body(position)}
            self._note("decision", body)
        return decided

    def _act(
        self, sequence: int, action: Action, intent: dict[str, object], seat: Seat
    ) -> list[EventView] | None:
        """Log the intent, send the action once; None where the state has to be read again."""
        hold = self.hold
        if not hold.intend(sequence, intent):
            return None
        sent = hold.clock.now()
        try:
            answer = seat.client.act(self.match_id, action)
        except MatchOver:
            return None
        except NotYourTurn as late:  # the arena ended the turn, or contradicts its own view
            hold.note_error(late, action)
            hold.pause(hold.timing.breath)
            return None
        except Unauthorized:
            raise
        except ArenaError as error:
            hold.note_error(error, action)
            if is_final(error):
                self.refused[sequence] = self.refused.get(sequence, frozenset()) | {action}
                self._note("refused", {**intent, "answer": str(error)})
            hold.let_arrive(error, sent)
            return None
        hold.meter.count(Metric.ACTIONS)
        return answer

    # --- logging -----------------------------------------------------------------------------

    def _record(self, view: MatchView, seats: dict[int, Seat]) -> None:
        """Copy the moves that the log has not got yet from the arena's history."""
        facts = facts_after(view, self.logged)
        if facts:
            self.hold.log.record(self.hold.lease, facts)
            late = sum(timed_out(move) in seats for move in view.moves[self.logged :])
            self.hold.meter.count(Metric.TIMEOUTS, late)
            self.logged = view.move_count

    def _note(self, kind: str, body: Body) -> None:
        """Keep a debugging note; a match does not fail for want of one."""
        try:
            self.hold.log.note(self.match_id, kind, body)
        except StoreError as error:
            _log.warning("%s", error, extra={"match_id": self.match_id})

    def _close(self, view: MatchView, seats: dict[int, Seat]) -> None:
        outcome = outcome_body(view, set(seats))
        self.hold.log.finish(self.hold.lease, outcome)
        metric = _RESULTS.get(str(outcome["result"]))
        if metric is not None:
            self.hold.meter.count(metric)


def _first_gap(moves: list[MoveRecord]) -> int:
    """The first move of which the log has no facts."""
    known = (index for index, m in enumerate(moves) if m.sequence != index or m.facts is None)
    return next(known, len(moves))
