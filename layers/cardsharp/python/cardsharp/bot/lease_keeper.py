"""The lease of one worker on a match of any game; it can be lost at any moment.

Three rules ensure that every action was decided on the state it meets (docs/reliability.md).
First, the intent is written to the match log before the action is sent, under a lease that
stays valid until it is sent. Second, an action is sent once. If its outcome is unknown, the
state is read again as soon as the action can no longer be in flight. Third, a worker that takes
over a match waits equally long for actions of its predecessor, counted from the takeover by its
local clock.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

from cardsharp.bot.bot_match import IN_FLIGHT_SECONDS, Observation
from cardsharp.bot.error_policy import DenialTracker, count_arena_error, retry_delay_for
from cardsharp.bot.timing import SessionTiming
from cardsharp.core.clock import Clock, RemainingTime, run_periodically
from cardsharp.core.metrics import MetricName, Metrics
from cardsharp.errors import ArenaError, StoreError, WriteConflict
from cardsharp.store.match_log import (
    NO_SUMMARY,
    Body,
    Lease,
    MatchLog,
    MoveRecord,
    MoveSummary,
)

_log = logging.getLogger("cardsharp.bot")

T = TypeVar("T")


@dataclass(slots=True)
class LeaseKeeper:
    """Lease of one worker on one match, and the parts of the turn protocol common to all games.

    The lease is valid from the monotonic second `requested_at` of its acquisition or last
    renewal. When it is released, the match is parked for `park_for`.
    """

    match_log: MatchLog
    lease: Lease
    clock: Clock
    metrics: Metrics
    timing: SessionTiming
    remaining_time: RemainingTime
    requested_at: float
    park_for: timedelta | None = None
    acquired_at: float = field(init=False)  # the monotonic second after the acquisition
    _conflict: WriteConflict | None = field(default=None, init=False)
    _lock: threading.Lock = field(init=False)

    def __post_init__(self) -> None:
        self.acquired_at = self.clock.monotonic()
        self._lock = threading.Lock()

    @property
    def match_id(self) -> str:
        """Id of the match."""
        return self.lease.match_id

    @property
    def worker_id(self) -> str:
        """Owner of the lease, as the match log names it."""
        return self.lease.owner

    # --- the lease ---------------------------------------------------------------------------

    @property
    def expires_in(self) -> timedelta:
        """Remaining validity of the lease; negative when it has expired."""
        return self.timing.lease_ttl - timedelta(seconds=self.clock.monotonic() - self.requested_at)

    def ensure_valid(self, min_validity: timedelta) -> Lease:
        """Return the lease, valid for at least `min_validity`; raise `WriteConflict` if lost.

        It is renewed if necessary.
        """
        # One renewal at a time: otherwise this thread and the background thread could both renew,
        # and the slower response would overwrite `requested_at` with an earlier moment.
        with self._lock:
            if self._conflict is None and self.expires_in < min_validity:
                self._renew()
            if self._conflict is not None:
                raise WriteConflict(str(self._conflict)) from self._conflict
            if self.expires_in < min_validity:
                raise WriteConflict(f"The lease of match {self.lease.match_id} cannot be kept.")
            return self.lease

    @contextmanager
    def renew_during_block(self) -> Iterator[None]:
        """Renew the lease in a thread while the block runs, then release it.

        If the block raises, the lease expires instead, so that a match that cannot be played is
        not taken again at once. The thread has ended in both cases.
        """
        with run_periodically(self._renew_periodically, self.timing.renew_interval, self.clock):
            yield
        if self._conflict is None:
            with suppress(StoreError):  # a lease that is not released expires by itself
                self.match_log.release_lease(self.lease, self.park_for)

    def _renew_periodically(self) -> None:
        if self._conflict is None:
            with self._lock:
                self._renew()

    def _renew(self) -> None:
        """Renew the lease once; the caller holds the lock.

        After an error of the store, the next renewal tries again.
        """
        # The validity counts from before the request. An observer starts to count later, when it
        # sees the renewal, so it never takes the lease while we still rely on it.
        requested_at = self.clock.monotonic()
        try:
            self.match_log.renew_lease(self.lease, self.timing.lease_ttl)
            self.requested_at = requested_at
        except WriteConflict as conflict:
            self._conflict = conflict
        except StoreError:
            pass

    # --- time --------------------------------------------------------------------------------

    def has_time_for_turn(self) -> bool:
        """Return True if there is time to play a turn and then to hand the match over."""
        return self.remaining_time() >= self.timing.handover_margin and self.has_time_for_action()

    def has_time_for_action(self) -> bool:
        """Return True if there is time to decide and send another action of the current turn."""
        return self.remaining_time() > self.timing.decision_timeout + 2 * self.timing.action_timeout

    def has_time_for_long_poll(self) -> bool:
        """Return True if there is time for a long poll."""
        return self.remaining_time() > self.timing.long_poll_timeout + self.timing.handover_margin

    def sleep_before_handover(self, duration: timedelta) -> None:
        """Sleep for `duration`, but wake in time to hand the match over."""
        available = self.remaining_time() - self.timing.handover_margin / 2
        self.clock.sleep(max(timedelta(0), min(duration, available)))

    # --- reading -----------------------------------------------------------------------------

    def retry_read(self, read: Callable[[], T], max_retry_after: timedelta) -> T | None:
        """Return the result of `read`, retried while the arena fails; None when the time is up.

        `max_retry_after` limits the pause that the arena can ask for between two attempts.
        Raises `RequestRejected` if the arena has repeated a denial for `denial_timeout`, and
        `WriteConflict` if the lease is lost.
        """
        denial_tracker = DenialTracker()
        while self.remaining_time() >= self.timing.read_timeout:
            try:
                return read()
            except ArenaError as error:
                if (
                    denial_tracker.repeated_denial_duration(error, self.clock.monotonic())
                    >= self.timing.denial_timeout
                ):
                    raise
                self.count_and_log_error(error)
                if self.remaining_time() < self.timing.handover_margin:
                    return None
                self.sleep_before_handover(
                    retry_delay_for(error, self.timing.backoff, max_retry_after)
                )
                self.ensure_valid(timedelta(0))
        return None

    def wait_for_in_flight_actions(
        self, moves: list[MoveRecord], observation: Observation[Any], observed_at: float
    ) -> bool:
        """Wait until no action intended for the next move or a later one can be in flight.

        Later ones exist if the arena went back. Return True if such an action could arrive
        after the monotonic second `observed_at`, so that `observation`, requested then, is out
        of date.
        """
        intents = [m.intent for m in moves if m.sequence >= observation.next_sequence and m.intent]
        in_flight_seconds = (
            ()
            if observation.was_throttled
            else [intent.get(IN_FLIGHT_SECONDS) for intent in intents]
        )
        # An intent that does not state its own limit has that of an action.
        stated_limits = (
            timedelta(seconds=seconds)
            for seconds in in_flight_seconds
            if isinstance(seconds, int | float)
        )
        max_in_flight = max((self.timing.action_timeout, *stated_limits))
        # The predecessor could send for up to `renew_interval` after it wrote the intent, and the
        # action could be in flight for `max_in_flight` after that. It had stopped writing by the
        # time the lease changed hands: at least `prior_idle_time` ago, so that part is over.
        arrival = (
            self.acquired_at
            + (
                self.timing.renew_interval + max_in_flight - self.lease.prior_idle_time
            ).total_seconds()
        )
        if arrival <= observed_at or not intents:
            return False
        self.clock.sleep(timedelta(seconds=arrival - self.clock.monotonic()))
        return True

    def count_and_log_error(self, error: ArenaError, action: object = None) -> None:
        """Count and log an arena error, or the rejection of `action`."""
        count_arena_error(self.metrics, error)
        log_context = {} if action is None else {"action": str(action)}
        _log.warning("%s", error, extra={"match_id": self.match_id, **log_context})

    def add_debug_note(self, kind: str, body: Body) -> None:
        """Write a debugging note; a failure to write it is only logged."""
        try:
            self.match_log.add_note(self.match_id, kind, body)
        except StoreError as error:
            _log.warning("%s", error, extra={"match_id": self.match_id})

    # --- acting ------------------------------------------------------------------------------

    def record_decision_metrics(self, duration: timedelta, error: str | None) -> None:
        """Count a decision, and what went wrong with it."""
        self.metrics.record_duration(MetricName.DECISION, duration)
        if error is not None:
            self.metrics.count(MetricName.FALLBACK_ACTIONS)
            _log.warning("%s", error, extra={"match_id": self.match_id})

    def log_intent_within_lease(
        self, sequence: int, intent: Body, summary: MoveSummary = NO_SUMMARY
    ) -> bool:
        """Log an intent; return False if that took so long that another may have the match.

        The lease is ours for another `renew_interval`. The action is sent in that time, or not
        at all.
        """
        # An action cannot be taken back once it is sent. So the time in which it may be sent is
        # fixed before the write, by our own clock: a process that was frozen in between finds the
        # deadline passed and sends nothing.
        lease = self.ensure_valid(self.timing.renew_interval)
        send_deadline = self.clock.monotonic() + self.timing.renew_interval.total_seconds()
        self.match_log.write_intent(lease, sequence, intent, summary)
        in_time = self.clock.monotonic() <= send_deadline
        if not in_time:
            _log.warning(
                "nothing was sent: writing the intent took too long",
                extra={"match_id": self.match_id},
            )
        return in_time

    def wait_until_failed_action_settled(
        self, error: ArenaError, sent_at: float, max_retry_after: timedelta
    ) -> None:
        """Pause after a failed action until it can no longer be in flight.

        `max_retry_after` limits the pause that the arena can ask for.
        """
        arrival = self.timing.action_timeout - timedelta(seconds=self.clock.monotonic() - sent_at)
        min_delay = max(arrival, timedelta(0)) if error.outcome_unknown else self.timing.backoff
        self.sleep_before_handover(retry_delay_for(error, min_delay, max_retry_after))
