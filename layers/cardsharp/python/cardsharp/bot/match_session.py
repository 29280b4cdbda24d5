"""The session of a worker on a match of any game: observe, wait, decide, act, log.

`Observation` is the state of the match; if we are to act, it has a `BotTurn`. `lease_keeper`
explains how every action is decided on the state that it meets.
"""

import logging
from datetime import timedelta
from typing import Generic, TypeVar

from cardsharp.bot.bot_match import BotMatch, BotTurn, NextRead, Observation
from cardsharp.bot.duplicate_bot import DuplicateBotDetector
from cardsharp.bot.error_policy import (
    MAX_EQUAL_REFUSALS,
    DenialTracker,
    RefusalTracker,
    count_arena_error,
    is_action_rejected,
    is_client_error,
)
from cardsharp.bot.fair_semaphore import FairSemaphore
from cardsharp.bot.lease_keeper import LeaseKeeper
from cardsharp.bot.session_result import SessionResult
from cardsharp.core.metrics import MetricName
from cardsharp.errors import ArenaError, MatchOver, RequestRejected, Unauthorized
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import Body, MoveSummary

_log = logging.getLogger("cardsharp.bot")

_METRIC_BY_RESULT = {
    "won": MetricName.MATCHES_WON,
    "lost": MetricName.MATCHES_LOST,
    "tied": MetricName.MATCHES_TIED,
}

A = TypeVar("A")  # an action
MAX_TURN_RETRY_AFTER = timedelta(seconds=3)
"""The longest pause that an arena can ask for; a quarter of the turn limit if that is less."""


def intended_move_summary(
    intent: Body, decision_result: DecisionResult[Decision[A]]
) -> MoveSummary:
    """Return the summary, for people, of a move that we are about to make."""
    action, turn = intent.get("action"), intent.get("turn")
    return MoveSummary(
        turn=turn if isinstance(turn, int) else None,
        action=action if isinstance(action, str) else str(decision_result.decision.action),
        reason=decision_result.decision.reason,
    )


def with_strategy_version(header: Body, strategy_version: str | None) -> Body:
    """Return the header of a match with the version of our strategy, if it is known."""
    return {**header, "version": strategy_version} if strategy_version else header


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
        self.lease_keeper = lease_keeper
        self.match = match
        self.cpu_semaphore = cpu_semaphore
        self.strategy_version = strategy_version
        self.duplicate_detector = DuplicateBotDetector(lease_keeper)
        self.recorded_facts: dict[int, Body] = {}
        self.rejected_actions: dict[int, frozenset[A]] = {}
        self.denial_tracker, self.denied_sequence = DenialTracker(), -1
        self.refusal_tracker = RefusalTracker()
        self.moves_missing_since: float | None = None
        self.max_retry_after = MAX_TURN_RETRY_AFTER

    def run(self) -> SessionResult:
        """Play turn by turn until the match ends, is to be parked, or the time is up."""
        observation = self._read_first_observation()
        if observation is not None:
            # A new match may have waited for the next poll by design. So its delay is a metric of
            # its own, to which no alarm listens.
            self._record_pickup_delay(
                observation,
                MetricName.PICKUP_DELAY if self.recorded_facts else MetricName.FIRST_PICK_UP,
            )
        while observation is not None:
            if not self._has_logged_moves(observation):
                observation = self._read_match()
                continue
            # The facts are logged before anything else is done. Should this worker die now, its
            # successor and the pages know everything that the arena has told us so far.
            self._log_new_facts(observation)
            if observation.outcome is not None:
                self.lease_keeper.match_log.finish(self.lease_keeper.lease, observation.outcome)
                metric = _METRIC_BY_RESULT.get(str(observation.outcome["result"]))
                if metric is not None:
                    self.lease_keeper.metrics.count(metric)
                return SessionResult.FINISHED
            if not self.lease_keeper.has_time_for_turn():
                break
            if not self.duplicate_detector.may_act_or_pause(observation, self.max_retry_after):
                observation = self._read_match()
                continue
            next_step = (
                NextRead.WAIT_FOR_CHANGE
                if observation.turn is None
                else self._play_turn(observation.turn, observation.next_sequence)
            )
            self.lease_keeper.metrics.flush()
            observation = (
                self._wait_for_change(observation)
                if next_step is NextRead.WAIT_FOR_CHANGE
                else self._read_match()
            )
        return (
            SessionResult.HANDED_OVER
            if self.lease_keeper.park_for is None
            else SessionResult.ABANDONED
        )

    # --- looking -----------------------------------------------------------------------------

    def _read_match(self) -> Observation[A] | None:
        """Return the current state; None if the time is up before the arena responds."""
        return self.lease_keeper.retry_read(self._observe, self.max_retry_after)

    def _observe(self) -> Observation[A]:
        with self.cpu_semaphore.hold_permit(is_urgent=True):
            observation = self.match.observe(self.recorded_facts)
        if observation.turn_timeout is not None:
            self.max_retry_after = min(MAX_TURN_RETRY_AFTER, observation.turn_timeout / 4)
        return observation

    def _read_first_observation(self) -> Observation[A] | None:
        """Return the match's state once no action of an earlier worker can be in flight."""
        lease_keeper = self.lease_keeper
        # The log is read only now, under the lease: before, the previous worker may still have
        # written an intent. An intent that we miss could be an action that arrives after our read,
        # and we would decide on a state that no longer exists.
        moves = lease_keeper.match_log.moves(lease_keeper.match_id)
        self.duplicate_detector.load_logged_intents(moves)
        self.recorded_facts = {
            move.sequence: move.facts for move in moves if move.facts is not None
        }
        observed_at = lease_keeper.clock.monotonic()
        observation = self._read_match()
        if observation is None:
            return None
        if observation.header is not None and self.strategy_version is not None:
            lease_keeper.match_log.update_header(
                lease_keeper.lease, with_strategy_version(observation.header, self.strategy_version)
            )
        return (
            self._read_match()
            if lease_keeper.wait_for_in_flight_actions(moves, observation, observed_at)
            else observation
        )

    def _wait_for_change(self, last_observation: Observation[A]) -> Observation[A] | None:
        """Return the match when it has changed.

        Returns None if the time is up, or if the match is to be parked.
        """
        lease_keeper = self.lease_keeper
        lease_keeper.park_for = last_observation.park_for
        while lease_keeper.park_for is None and lease_keeper.has_time_for_long_poll():
            lease_keeper.ensure_valid(timedelta(0))
            observation = lease_keeper.retry_read(
                lambda: self.match.wait_for_change(self.recorded_facts), self.max_retry_after
            )
            if observation is None and last_observation.may_park:
                observation = self._read_match()
                if observation is None:
                    return None
                is_active = observation.turn is not None or observation.outcome is not None
                has_changed = observation.next_sequence != last_observation.next_sequence
                if not (has_changed or is_active):
                    lease_keeper.park_for = lease_keeper.timing.park_ttl
                    return None
            if observation is not None:
                self._record_pickup_delay(observation)
                return observation
        return None

    def _record_pickup_delay(
        self, observation: Observation[A], metric: MetricName = MetricName.PICKUP_DELAY
    ) -> None:
        if observation.turn is not None and observation.turn_began_at is not None:
            delay = max(self.lease_keeper.clock.now() - observation.turn_began_at, timedelta(0))
            self.lease_keeper.metrics.record_duration(metric, delay)

    def _has_logged_moves(self, observation: Observation[A]) -> bool:
        """Return True if the arena still has all moves of the log.

        If the arena has lost moves, the log is cut back to match it. As with a denial, the
        arena is trusted only once it has said so for `denial_timeout`.
        """
        # Moves that the arena no longer has, or has differently.
        missing_sequences = [
            n
            for n, body in self.recorded_facts.items()
            if n >= observation.next_sequence or observation.facts.get(n, body) != body
        ]
        if not missing_sequences:
            self.moves_missing_since = None
            return True
        lease_keeper, current_time = self.lease_keeper, self.lease_keeper.clock.monotonic()
        self.moves_missing_since = (
            current_time if self.moves_missing_since is None else self.moves_missing_since
        )
        if (
            timedelta(seconds=current_time - self.moves_missing_since)
            < lease_keeper.timing.denial_timeout
        ):
            lease_keeper.sleep_before_handover(lease_keeper.timing.backoff)
            lease_keeper.ensure_valid(timedelta(0))
            return False
        first_missing = min(missing_sequences)
        lease_keeper.match_log.retract_moves(lease_keeper.lease, first_missing)
        message = "the arena no longer has the moves from %d on; they were removed from the log"
        _log.warning(message, first_missing, extra={"match_id": lease_keeper.match_id})
        self.recorded_facts = {
            n: body for n, body in self.recorded_facts.items() if n < first_missing
        }
        self.rejected_actions, self.moves_missing_since = {}, None
        self.duplicate_detector.disable()
        return True

    # --- playing -----------------------------------------------------------------------------

    def _play_turn(self, turn: BotTurn[A], sequence: int) -> NextRead:
        """Play a turn action by action while there is time; return the kind of the next read."""
        while self.lease_keeper.has_time_for_action():
            next_step = self._play_action(turn, sequence)
            if isinstance(next_step, NextRead):
                return next_step
            turn, sequence = next_step, sequence + 1
        return NextRead.READ_IMMEDIATELY

    def _play_action(self, turn: BotTurn[A], sequence: int) -> BotTurn[A] | NextRead:
        """Decide, log the intent and send the action once; return the next turn or kind of read."""
        lease_keeper = self.lease_keeper
        try:
            with self.cpu_semaphore.hold_permit():
                result = self._decide(turn, sequence)
                if result is None:
                    return NextRead.READ_IMMEDIATELY
                action = result.decision.action
                intent = turn.intent_body(result, lease_keeper.clock.now(), lease_keeper.worker_id)
                if result.error is not None:
                    lease_keeper.add_debug_note("decision", {**intent, "sequence": sequence})
                # The intent is logged before the action is sent, never after. A worker that takes
                # over after our death finds it and waits until the action can no longer arrive.
                # If the write took too long, our lease may be lost, so nothing is sent.
                if not lease_keeper.log_intent_within_lease(
                    sequence, intent, intended_move_summary(intent, result)
                ):
                    return NextRead.READ_IMMEDIATELY
                self.duplicate_detector.intended_moves.add(sequence)
                sent_at = lease_keeper.clock.monotonic()
                next_step = turn.send(action)
        except ArenaError as error:
            # The action is never sent again here, whatever the error: it may have been carried out,
            # and a second Draw is legal but another action. The next read of the match tells.
            self.refusal_tracker.count_refusal(error, sequence)
            if self.refusal_tracker.is_stuck(sequence):
                self._back_off(error, sequence)
            elif not isinstance(error, MatchOver):
                self._record_failed_action(error, sequence, action, intent)
                lease_keeper.wait_until_failed_action_settled(error, sent_at, self.max_retry_after)
            return NextRead.READ_IMMEDIATELY
        lease_keeper.metrics.count(MetricName.ACTIONS)
        self.denial_tracker, self.refusal_tracker = DenialTracker(), RefusalTracker()
        return next_step

    def _decide(self, turn: BotTurn[A], sequence: int) -> DecisionResult[Decision[A]] | None:
        """Return the decision, and record its duration and its error as metrics.

        Where the arena repeats its refusal whatever is sent, the strategy's error is ignored.
        """
        is_stuck = self.refusal_tracker.is_stuck(sequence)
        rejected_actions = self.rejected_actions.get(sequence, frozenset())
        result = turn.decide(
            self.lease_keeper.timing.decision_timeout,
            self.lease_keeper.clock.monotonic,
            frozenset() if is_stuck else rejected_actions,
        )
        if result is not None:
            if self.refusal_tracker.is_repeated(sequence):
                result = result._replace(error=None)
            self.lease_keeper.record_decision_metrics(result.duration, result.error)
        return result

    def _record_failed_action(
        self, error: ArenaError, sequence: int, action: A, intent: Body
    ) -> None:
        """Log an action that failed, and exclude it if the arena rejected this very action."""
        lease_keeper = self.lease_keeper
        lease_keeper.count_and_log_error(error, action)
        if is_client_error(error):
            self.duplicate_detector.intended_moves.discard(sequence)
        self._raise_if_denied(error, sequence)
        if is_action_rejected(error) and not self._is_match_missing(error):
            rejected_actions = self.rejected_actions.get(sequence, frozenset())
            self.rejected_actions[sequence] = rejected_actions | {action}
            lease_keeper.add_debug_note("refused", {**intent, "answer": str(error)})

    def _back_off(self, error: ArenaError, sequence: int) -> None:
        """Pause, longer each time, in a match whose arena refuses every action of ours.

        It is logged once. Every further attempt is one read and one action.
        """
        lease_keeper, tracker = self.lease_keeper, self.refusal_tracker
        count_arena_error(lease_keeper.metrics, error)
        self.duplicate_detector.intended_moves.discard(sequence)
        if tracker.count == MAX_EQUAL_REFUSALS:
            message = (
                "the match stands still: the arena refuses every action of ours with these words: "
                "%s It is tried again after 1, 2, 4 … 60 s until something changes"
            )
            _log.warning(message, error, extra={"match_id": lease_keeper.match_id})
        self._raise_if_denied(error, sequence)
        lease_keeper.sleep_before_handover(tracker.backoff)
        lease_keeper.ensure_valid(timedelta(0))

    def _is_match_missing(self, error: ArenaError) -> bool:
        """Return True if the error denies us the match; the next read must confirm it."""
        return (
            isinstance(error, RequestRejected) and self.match.outcome_if_missing(error) is not None
        )

    def _raise_if_denied(self, error: ArenaError, sequence: int) -> None:
        """Raise the error if it has denied us all actions for long enough, though reads succeed.

        That is either our credentials (the other seat of a practice match has different ones), or
        the match itself at one move. The latter needs a longer time, because successful reads in
        between contradict it.
        """
        if self.denied_sequence != sequence and not isinstance(error, Unauthorized):
            self.denial_tracker, self.denied_sequence = DenialTracker(), sequence
        denial_duration = self.denial_tracker.repeated_denial_duration(
            error, self.lease_keeper.clock.monotonic()
        )
        timing = self.lease_keeper.timing
        if isinstance(error, Unauthorized):
            is_believed = denial_duration >= timing.denial_timeout
        else:
            is_believed = (
                self._is_match_missing(error) and denial_duration >= timing.contradiction_timeout
            )
        if is_believed:
            raise error

    # --- logging -----------------------------------------------------------------------------

    def _log_new_facts(self, observation: Observation[A]) -> None:
        """Copy moves of the arena's history that the log lacks into the log."""
        new_facts = {
            sequence: body
            for sequence, body in observation.facts.items()
            if sequence not in self.recorded_facts
        }
        if new_facts:
            self.lease_keeper.match_log.write_facts(
                self.lease_keeper.lease, new_facts, observation.summaries
            )
            self.lease_keeper.metrics.count(
                MetricName.TIMEOUTS, observation.timeout_count
            )  # also 0, because an alarm needs data points
            if observation.timeout_count:
                log_context = {
                    "match_id": self.lease_keeper.match_id,
                    "turns": observation.timeout_count,
                }
                _log.warning(
                    "the arena ended a turn of ours because its time was up", extra=log_context
                )
            self.recorded_facts |= new_facts
