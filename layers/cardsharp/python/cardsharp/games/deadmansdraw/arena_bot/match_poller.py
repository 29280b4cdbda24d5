"""Poller that finds matches waiting for us without a worker, and queues them.

It asks the arena for the matches in which it is our turn, by one long poll after the other. The
arena holds such a request back for up to 30 s, but answers at once while it is our turn in any
match. So after an answer with matches the poller lets the time of a long poll pass before it
asks again, counted from its last request. It asks earlier once those matches have ended and none
runs, because then the arena holds the request back again. It also asks earlier if the arena says
by its headers that it permits more requests: then the list gets a fifth of them.

Between two requests, and during one while a match runs, the poller checks the leases (docs/
architecture.md, "The life of a match"). A match whose worker died is found in two ways: the
arena lists it when it is our turn, and the match log has it as running with an expired lease.
The ids of matches are opaque: nothing here compares or sorts them.

A poller is relieved by a later one, and listens until it sees that one in the relay. Outside the
listening windows it returns at once, unless a match of ours still runs.
"""

import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from math import inf

from cardsharp.bot.control.poller_shift import PollerShift, PollerTiming
from cardsharp.bot.error_policy import count_arena_error, is_client_error, retry_delay_for
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.core.clock import RemainingTime, run_periodically
from cardsharp.core.metrics import MetricName
from cardsharp.errors import ArenaError, RateLimited, StoreError, Unauthorized
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView

_log = logging.getLogger("cardsharp.scout")

LIST_SHARE = 0.2  # the part of the permitted requests that may be spent on the list
MAX_LIST_GAP_SHARE = 0.5  # the part of the shortest turn between two requests for the list
MAX_DOUBLINGS = 4  # of the pause after an error: from 3 s they lead beyond 30 s


@dataclass(slots=True)
class MatchPoller:
    """Poller that asks an arena for matches to play and queues them for workers.

    `refresh_credentials` fetches the latest password.
    """

    arena_client: ArenaClient
    dispatcher: MatchDispatcher
    tags: tuple[str, ...] = ()
    timing: PollerTiming = field(default_factory=PollerTiming)
    shift: PollerShift = field(default_factory=PollerShift)
    refresh_credentials: Callable[[], None] = lambda: None
    _error_count: int = 0  # errors since the last answer
    _repeated_refusal: ArenaError | None = None  # the latest refusal, if the arena has repeated it
    _listed_ids: tuple[str, ...] = ()  # the matches that the arena named last
    _started_ids: set[str] = field(default_factory=set)  # those of them that have run in the log
    _ended_ids: set[str] = field(default_factory=set)  # matches that ended after they were listed
    _requested_at: float = 0  # when the list was requested last
    _answered_at: float = 0  # when the answer or the error to that arrived
    _error_pause: timedelta = timedelta(0)  # the pause after an error
    _successor_due_at: float = inf  # when the schedule should have started the next poller
    _dispatched_count: int = 0  # how many matches it has put on the queue
    _min_turn_timeout: timedelta | None = None  # the shortest one of the matches listed last

    def run(self, remaining_time: RemainingTime) -> int:
        """Queue matches until relieved or the time is nearly up; return how many were queued.

        Raises `RequestRejected` if the arena has rejected us repeatedly and up to the end.
        Raises `StoreError` if the match log or the queue failed at the first look; later such
        errors are tolerated.
        """
        self._dispatched_count, clock = self.dispatcher.dispatch_unattended(), self.dispatcher.clock
        if not self._should_listen():
            self.dispatcher.metrics.count(MetricName.POLLS)
            return self._dispatched_count
        self.shift.start_generation()
        self._successor_due_at = clock.monotonic() + self.timing.shift_duration.total_seconds()
        while (
            remaining_time() > self.timing.long_poll_timeout
            and not self.shift.is_relieved()
            and self._should_listen()
        ):
            self._request_list()
            self._dispatch_until_next_request(remaining_time)
        if self._repeated_refusal is not None:
            raise self._repeated_refusal
        return self._dispatched_count

    def _should_listen(self) -> bool:
        """Return True in a listening window, while a match runs, or if the store fails."""
        current_time = self.dispatcher.clock.now()
        if self.shift.is_listening_time(current_time):
            return True
        try:
            until = self.dispatcher.runtime_settings.read().awake_until
            is_opened_by_hand = until is not None and until > current_time
            return is_opened_by_hand or bool(self.dispatcher.match_log.running_matches())
        except StoreError as error:
            _log.warning("%s", error)
            return True

    def _request_list(self) -> None:
        """Request the list once; record the arena's response and its time."""
        clock, metrics = self.dispatcher.clock, self.dispatcher.metrics
        self._requested_at, self._listed_ids = clock.monotonic(), ()
        try:
            with self._check_leases_periodically():
                matches = [match for match in self._list_matches() if not match.finished]
        except ArenaError as error:
            self._answered_at = clock.monotonic()
            self._error_pause = self._compute_error_pause(error)
            return
        self._answered_at = clock.monotonic()
        self._error_count, self._repeated_refusal, self._error_pause = 0, None, timedelta(0)
        metrics.count(MetricName.POLLS)
        limits = [match.creation_params.timeout for match in matches]
        self._min_turn_timeout = min(
            (limit for limit in limits if limit is not None), default=self._min_turn_timeout
        )
        self._ended_ids |= self._started_ids - self.dispatcher.running_ids
        self._started_ids = set()
        self._listed_ids = tuple(match.id for match in matches)

    def _list_matches(self) -> list[MatchView]:
        """Return the matches in which it is our turn; count every request that was sent."""
        counts = self.arena_client.session_state.request_counts
        previous_count = counts["list_wait"]
        try:
            return self.arena_client.matches(
                self._choose_tags(), active=True, wait=True, max_budget_wait=self._max_budget_wait()
            )
        finally:
            request_count = counts["list_wait"] - previous_count
            self.dispatcher.metrics.count(MetricName.LIST_REQUESTS, request_count)

    def _check_leases_periodically(self) -> AbstractContextManager[None]:
        """Return a context in which leases are checked while a match runs.

        The arena may hold the request back for 30 s, in which a worker may die.
        """
        if not self.dispatcher.running_ids:
            return nullcontext()
        interval = self.timing.lease_check_interval
        return run_periodically(self._dispatch, interval, self.dispatcher.clock)

    def _dispatch_until_next_request(self, remaining_time: RemainingTime) -> None:
        """Dispatch matches until the list may be requested again."""
        clock, interval = self.dispatcher.clock, self.timing.lease_check_interval
        self._dispatch(self._listed_ids)
        while (remaining := self._time_until_next_request()) > timedelta(0):
            if remaining_time() <= 2 * interval or self.shift.is_relieved():
                return
            clock.sleep(min(interval, remaining))
            self._dispatch(self._listed_ids)

    def _time_until_next_request(self) -> timedelta:
        """Return the time until the list may be requested again.

        It counts from the last request, or after an error from the arrival of the error. When a
        successor is due, it leaves the next request to that one for a moment.
        """
        min_interval = self.timing.min_request_interval
        interval = self._choose_list_interval() if self._may_answer_at_once() else min_interval
        due = max(
            self._requested_at + interval.total_seconds(),
            self._answered_at + self._error_pause.total_seconds(),
        )
        if max(due, self._answered_at) >= self._successor_due_at:
            leave_until = max(self._successor_due_at, self._answered_at)
            due = max(due, leave_until + min_interval.total_seconds())
        return timedelta(seconds=due - self.dispatcher.clock.monotonic())

    def _may_answer_at_once(self) -> bool:
        """Return True if the arena may answer at once, because it is our turn in some match.

        Once the matches that it named have ended and none runs, it holds the next request back,
        like any long poll. But an arena that names a match again after its end answers at once.
        """
        listed_ids = set(self._listed_ids)
        if not listed_ids or listed_ids & self._ended_ids:
            return bool(listed_ids)
        have_ended = listed_ids <= self._started_ids and not self.dispatcher.running_ids
        return not have_ended

    def _choose_list_interval(self) -> timedelta:
        """Return the time between two list requests if the arena answers the first at once.

        It is short only if the arena permits it and another match could be taken.
        """
        timing = self.timing
        spacing = self.arena_client.session_state.request_budget.request_interval(LIST_SHARE)
        max_matches = self._max_matches
        is_full = max_matches is not None and len(self.dispatcher.running_ids) >= max_matches
        if spacing is None or is_full:
            return timing.list_interval
        return min(max(spacing, timing.min_request_interval), timing.list_interval)

    def _max_budget_wait(self) -> timedelta | None:
        """Return how long the list may wait for the request budget; None for as long as usual.

        A match that begins right after one answer is found by the next one. Its first turn must
        not end before that, so the interval and the wait together take a share of a turn.
        """
        interval = self._choose_list_interval()
        if self._min_turn_timeout is None or interval >= self.timing.list_interval:
            return None
        return max(timedelta(0), MAX_LIST_GAP_SHARE * self._min_turn_timeout - interval)

    def _compute_error_pause(self, error: ArenaError) -> timedelta:
        """Return the pause after an error: 3, 6, 12, 24, then 30 s while errors continue.

        A request that the arena held before it failed has paused by itself, so its duration
        counts. Otherwise two long polls that a restart cuts would leave new matches alone for
        half a minute. If the arena is only away, and has stated how many requests it permits, the
        pause is at most the interval of its list: matches may begin in the second of its return.
        """
        current = self.dispatcher.clock.monotonic()
        count_arena_error(self.dispatcher.metrics, error)
        _log.warning("%s", error)
        self._error_count += 1
        self._repeated_refusal = error if self._error_count > 1 and is_client_error(error) else None
        if isinstance(error, Unauthorized):
            self.refresh_credentials()
        is_refusal = is_client_error(error) or isinstance(error, RateLimited)
        max_pause = self.timing.max_backoff if is_refusal else self._choose_list_interval()
        min_interval = self.timing.min_request_interval
        doublings = min(self._error_count - 1, MAX_DOUBLINGS)
        request_duration = timedelta(seconds=current - self._requested_at)
        backoff = min(min_interval * 2**doublings, max_pause) - request_duration
        return retry_delay_for(error, max(min_interval, backoff), max_pause)

    def _dispatch(self, match_ids: Iterable[str] = ()) -> None:
        """Queue these matches and the unattended ones of the log.

        A store error is only logged: the next call may succeed.
        """
        try:
            self._dispatched_count += self.dispatcher.dispatch_unattended(
                match_ids, self._max_matches, self._answered_at
            )
            self._started_ids |= self.dispatcher.running_ids.intersection(self._listed_ids)
        except StoreError as error:
            _log.warning("%s", error)

    @property
    def _max_matches(self) -> int | None:
        """Number of matches that the request limit allows at once, None for any number."""
        return self.arena_client.session_state.request_budget.max_sustainable_matches(
            self._min_turn_timeout
        )

    def _choose_tags(self) -> tuple[str, ...]:
        """Return the tags of the matches to list: the operator's, else those of the settings."""
        try:
            override = self.dispatcher.runtime_settings.read().tags
        except StoreError as error:
            _log.warning("%s", error)
            override = None
        return self.tags if override is None else override
