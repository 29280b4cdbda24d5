"""The session of a worker on a match of any game: observe, wait, decide, act, log.

`Observation` is the state of the match; if we are to act, it has a `BotTurn`. `lease_keeper`
explains how every action is decided on the state that it meets.
"""

import logging
from datetime import timedelta
from typing import Generic, TypeVar

from cardsharp.bot.bot_match import BotMatch, BotTurn, NextRead, Observation
from cardsharp.bot.duplicate_bot import DuplicateBotDetector
from cardsharp.bot.error_policy import DenialTracker, is_action_rejected, is_definitive
from cardsharp.bot.fair_semaphore import FairSemaphore
from cardsharp.bot.lease_keeper import LeaseKeeper
from cardsharp.bot.session_result import SessionResult
from cardsharp.core.metrics import Metric
from cardsharp.errors import ArenaError, MatchOver, RequestRejected, Unauthorized
from cardsharp.store.match_log import Body

_log = logging.getLogger("cardsharp.bot")

_RESULTS = {
    "won": Metric.MATCHES_WON,
    "lost": Metric.MATCHES_LOST,
    "tied": Metric.MATCHES_TIED,
}

A = TypeVar("A")  # an action
MAX_RETRY_AFTER = timedelta(
    seconds=3
)  # so long at most an arena has us wait; less with short turns


def with_strategy_version(header: Body, version: str | None) -> Body:
    """A match's header with the state of what plays of us, where that is known."""
    return {**header, "version": version} if version else header


class MatchSession(Generic[A]):
    """Session of one worker on a match; all of its state can be lost at any moment.

    `strategy_version` is added to the match's header; None if the log has the header already.
    """

    def __init__(
        self,
        lease_keeper: LeaseKeeper,
        match: BotMatch[A],
        cpu_semaphore: FairSemaphore,
        strategy_version: str | None,
    ) -> None:
        self.hold = lease_keeper
        self.match = match
        self.line = cpu_semaphore
        self.version = strategy_version
        self.namesake = DuplicateBotDetector(lease_keeper)
        self.recorded_facts: dict[int, Body] = {}
        self.refused: dict[int, frozenset[A]] = {}
        self.denied, self.denied_at = DenialTracker(), -1
        self.went_back: float | None = None
        self.obedience = MAX_RETRY_AFTER

    def run(self) -> SessionResult:
        """Play turn by turn, until the match has ended or rests, or the time is up."""
        sight = self._first_look()
        if sight is not None:
            # A new match may have waited for a tick by design: no fault that an alarm is for.
            self._note_pick_up(
                sight, Metric.PICKUP_DELAY if self.recorded_facts else Metric.FIRST_PICK_UP
            )
        while sight is not None:
            if not self._goes_on_from_log(sight):
                sight = self._look()
                continue
            self._record(sight)
            if sight.outcome is not None:
                self.hold.match_log.finish(self.hold.lease, sight.outcome)
                metric = _RESULTS.get(str(sight.outcome["result"]))
                if metric is not None:
                    self.hold.metrics.count(metric)
                return SessionResult.FINISHED
            if not self.hold.has_time_to_act():
                break
            if not self.namesake.may_act(sight, self.obedience):
                sight = self._look()
                continue
            then = (
                NextRead.WAIT_FOR_CHANGE
                if sight.turn is None
                else self._play(sight.turn, sight.next_sequence)
            )
            self.hold.metrics.flush()
            sight = self._wait(sight) if then is NextRead.WAIT_FOR_CHANGE else self._look()
        return SessionResult.HANDED_OVER if self.hold.park_for is None else SessionResult.ABANDONED

    # --- looking -----------------------------------------------------------------------------

    def _look(self) -> Observation[A] | None:
        """The match as it is; None when the time is up before the arena answers."""
        return self.hold.retry_read(self._see, self.obedience)

    def _see(self) -> Observation[A]:
        with self.line.acquire():
            sight = self.match.observe(self.recorded_facts)
        if sight.turn_timeout is not None:
            self.obedience = min(MAX_RETRY_AFTER, sight.turn_timeout / 4)
        return sight

    def _first_look(self) -> Observation[A] | None:
        """The match, once no action of a predecessor can be under way any more."""
        hold = self.hold
        # Now that the lease is ours; before it was, somebody may still have written.
        moves = hold.match_log.moves(hold.match_id)
        self.namesake.load_log(moves)
        self.recorded_facts = {
            move.sequence: move.facts for move in moves if move.facts is not None
        }
        observed_at = hold.clock.monotonic()
        sight = self._look()
        if sight is None:
            return None
        if sight.header is not None and self.version is not None:
            hold.match_log.update_header(
                hold.lease, with_strategy_version(sight.header, self.version)
            )
        return self._look() if hold.wait_for_in_flight(moves, sight, observed_at) else sight

    def _wait(self, last: Observation[A]) -> Observation[A] | None:
        """The match when there is something new; None when the time is up, or it is to rest."""
        hold = self.hold
        hold.park_for = last.park_for
        while hold.park_for is None and hold.has_time_to_wait():
            hold.ensure_valid(timedelta(0))
            sight = hold.retry_read(
                lambda: self.match.wait_for_change(self.recorded_facts), self.obedience
            )
            if sight is None and last.may_park:
                sight = self._look()
                if sight is None:
                    return None
                acts = sight.turn is not None or sight.outcome is not None
                if (
                    sight.next_sequence == last.next_sequence and not acts
                ):  # nothing has happened since
                    hold.park_for = hold.timing.park_ttl
                    return None
            if sight is not None:
                self._note_pick_up(sight)
                return sight
        return None

    def _note_pick_up(self, sight: Observation[A], metric: Metric = Metric.PICKUP_DELAY) -> None:
        if sight.turn is not None and sight.turn_began_at is not None:
            late = max(self.hold.clock.now() - sight.turn_began_at, timedelta(0))
            self.hold.metrics.record_duration(metric, late)

    def _goes_on_from_log(self, sight: Observation[A]) -> bool:
        """Return True if the arena still has all moves of the log.

        If the arena has lost moves, the log is cut back to match it. As with a denial, the
        arena is trusted only once it has said so for `denial_timeout`.
        """
        # The arena has no such move any more, or another one in its place.
        lost = [
            n
            for n, body in self.recorded_facts.items()
            if n >= sight.next_sequence or sight.facts.get(n, body) != body
        ]
        if not lost:
            self.went_back = None
            return True
        hold, current_time = self.hold, self.hold.clock.monotonic()
        self.went_back = current_time if self.went_back is None else self.went_back
        if timedelta(seconds=current_time - self.went_back) < hold.timing.denial_timeout:
            hold.sleep(hold.timing.backoff)
            hold.ensure_valid(timedelta(0))
            return False
        first = min(lost)
        hold.match_log.retract_moves(hold.lease, first)
        text = "the server went back to before move %d"
        _log.warning(text, first, extra={"match_id": hold.match_id})
        self.recorded_facts = {n: body for n, body in self.recorded_facts.items() if n < first}
        self.refused, self.went_back = {}, None
        self.namesake.reset()
        return True

    # --- playing -----------------------------------------------------------------------------

    def _play(self, turn: BotTurn[A], sequence: int) -> NextRead:
        """Play a turn action by action, as long as there is time; what to do then."""
        while self.hold.has_time_to_decide():
            then = self._act(turn, sequence)
            if isinstance(then, NextRead):
                return then
            turn, sequence = then, sequence + 1
        return NextRead.READ_IMMEDIATELY

    def _act(self, turn: BotTurn[A], sequence: int) -> BotTurn[A] | NextRead:
        """Decide, log the intent, send the action once; after any doubt, look what is so."""
        hold, refused = self.hold, self.refused.get(sequence, frozenset())
        try:
            with self.line.acquire():
                decided = turn.decide(hold.timing.decision_timeout, hold.clock.monotonic, refused)
                if decided is None:
                    return NextRead.READ_IMMEDIATELY
                hold.record_decision(decided.duration, decided.error)
                action = decided.decision.action
                intent = turn.intent_body(decided, hold.clock.now(), hold.worker_id)
                if decided.error is not None:
                    hold.add_debug_note("decision", {**intent, "sequence": sequence})
                if not hold.log_intent(sequence, intent):
                    return NextRead.READ_IMMEDIATELY
                self.namesake.intended_moves.add(sequence)
                sent = hold.clock.monotonic()
                then = turn.send(action)
        except MatchOver:
            return NextRead.READ_IMMEDIATELY
        except ArenaError as error:
            hold.record_error(error, action)
            if is_definitive(error):
                self.namesake.intended_moves.discard(sequence)
            self._raise_if_denied(error, sequence)
            if is_action_rejected(error) and not self._is_gone(error):
                self.refused[sequence] = refused | {action}
                hold.add_debug_note("refused", {**intent, "answer": str(error)})
            hold.wait_until_settled(error, sent, self.obedience)
            return NextRead.READ_IMMEDIATELY
        hold.metrics.count(Metric.ACTIONS)
        self.denied = DenialTracker()
        return then

    def _is_gone(self, error: ArenaError) -> bool:
        """Return True if the error denies us the match, which the next read must confirm."""
        return (
            isinstance(error, RequestRejected) and self.match.outcome_if_missing(error) is not None
        )

    def _raise_if_denied(self, error: ArenaError, sequence: int) -> None:
        """Raise an error that has denied us all actions for long enough, though reads succeed.

        That is either our credentials (the other seat of a practice match has different ones),
        or the match itself at one move. The latter needs a longer time, because successful
        reads in between contradict it.
        """
        if self.denied_at != sequence and not isinstance(error, Unauthorized):
            self.denied, self.denied_at = DenialTracker(), sequence
        lasts = self.denied.denied_for(error, self.hold.clock.monotonic())
        timing = self.hold.timing
        if isinstance(error, Unauthorized):
            believed = lasts >= timing.denial_timeout
        else:
            believed = self._is_gone(error) and lasts >= timing.contradiction_timeout
        if believed:
            raise error

    # --- logging -----------------------------------------------------------------------------

    def _record(self, sight: Observation[A]) -> None:
        """Copy the moves that the log has not got yet from the arena's history."""
        new = {
            number: body
            for number, body in sight.facts.items()
            if number not in self.recorded_facts
        }
        if new:
            self.hold.match_log.write_facts(self.hold.lease, new)
            self.hold.metrics.count(
                Metric.TIMEOUTS, sight.timeout_count
            )  # 0, too: an alarm listens
            if sight.timeout_count:
                about = {"match_id": self.hold.match_id, "turns": sight.timeout_count}
                _log.warning("the arena ended a turn of ours by force", extra=about)
            self.recorded_facts |= new
