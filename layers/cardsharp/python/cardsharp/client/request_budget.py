"""Rate-limit budget of a user at a service: which request may be sent, and when.

A service that slows down frequent callers counts the requests of a user in all matches
together, and each response says how many remain until when. So all matches of a process share
one budget, and each request has a priority and a deadline. While the budget is ample, requests
are sent at once. Otherwise the remaining requests are spread over the remaining time: actions
first, then long polls, then the list; of two actions the more urgent one. A read that a turn needs
goes at once: waiting would save no request, and the turn could end unseen. A request at its
deadline is sent in any case.

No limit is hard-coded. If other processes use the same user, the responses show that, and only
our share is spent. A service may have a further limit that no response states, such as one for all
users behind an address. It shows in the response times alone (`ResponseTimes`): then requests are
spaced further apart until that stops, whatever remains of the stated limit.

Pure: every moment is an argument, in monotonic seconds.
"""

import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from math import inf
from typing import NamedTuple

from cardsharp.client.response_times import ResponseTimes

BURST_ALLOWANCE = 0.2
"""Share by which a budget may be spent faster than evenly: a turn needs several requests."""

MAX_ACTION_WAIT_SHARE = 0.65
"""Share of a turn's limit that an action may wait; the rest is for deciding and sending."""

CAPACITY_WAIT_SHARE = 0.55
"""Share of a turn's limit that each action waits if `max_matches` matches are played."""

MAX_WINDOW_SECONDS = 900  # of a window; a service that states more is not believed
DEFAULT_WINDOW_SECONDS = 60  # assumed least length of a window that began before our requests
_SPACING_PER_DELAY = 2.0  # while responses are late: times their delay, between two requests
_MIN_SPACING, _MAX_SPACING = 0.1, 1.5  # seconds between two requests after responses were late
_SPACING_GROWTH, _SPACING_DECAY = 1.5, 0.998
"""Factors at each raise of the spacing, and at each response in time.

A raise begins with the pace that was kept, because a shorter spacing would change nothing. The
decay is slow because a service counts in windows: in each new one all is well at first.
"""

_PACE_SAMPLE_SIZE = 30  # requests whose mean spacing is the pace that was kept
_RAISE_INTERVAL_SECONDS = 1.0  # between two raises of the spacing


class RequestPriority(IntEnum):
    """Priority of a request by its purpose; the lowest value goes first."""

    READ = 0
    ACT = 1
    WAIT = 2
    LIST = 3


class QueuedRequest(NamedTuple):
    """A queued request, to be sent by `deadline` in any case; sorts in order of sending."""

    priority: RequestPriority
    deadline: float
    sequence: int


class RateLimitStatus(NamedTuple):
    """Rate-limit status in a response: `remaining` of `limit` requests until `reset_at`.

    `reset_at` is in the service's seconds, and `window_ends_at` is the same moment in local
    monotonic seconds. `sent_count` is the number of the request that was answered.
    """

    limit: int
    remaining: int
    reset_at: float
    window_ends_at: float
    sent_count: int


@dataclass(slots=True)
class _RateLimitWindow:
    """Latest rate-limit status, and the window length in seconds, measured or assumed."""

    last_status: RateLimitStatus
    length: float
    is_measured: bool
    is_guessed: bool = False  # its time is over, and no response has described the next one yet

    def remaining(self, sent_count: int) -> int:
        """Return the remaining requests after `sent_count` were sent, answered or not."""
        return self.last_status.remaining - (sent_count - self.last_status.sent_count)

    def send_at(self, sent_count: int, queue_position: int, burst: float) -> float:
        """Return the moment at which a request may be sent that has `queue_position` before it.

        It may be sent once more requests remain than at an even pace, which `burst`, a share
        from 0 to 1, speeds up.
        """
        # Counted back from the end of the window: while n requests remain, the next one may be sent
        # n - 1 spacings before that end. So a full budget delays nothing, and a budget with one
        # request left, or none, holds requests back until the window ends.
        spacing = self.length / (self.last_status.limit * (1 - burst))
        return (
            self.last_status.window_ends_at
            - max(self.remaining(sent_count) - 1 - queue_position, 0) * spacing
        )


@dataclass(slots=True)
class RequestBudget:
    """Rate-limit budget of one user at one service; thread-safe."""

    _window: _RateLimitWindow | None = None
    _sent_count: int = 0
    _response_times: ResponseTimes = field(default_factory=ResponseTimes)
    _spacing: float = 0  # seconds between two requests if no stated limit explains that we wait
    _recent_sent_times: deque[float] = field(
        default_factory=lambda: deque(maxlen=_PACE_SAMPLE_SIZE)
    )
    _next_raise_at: float = -inf  # the moment from which the spacing may be raised again
    _queue: list[QueuedRequest] = field(default_factory=list)
    _enqueued_count: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def max_requests_per_window(self) -> int | None:
        """Requests per window, None if the service has sent no limit."""
        return None if self._window is None else self._window.last_status.limit

    def remaining_requests(self, current_time: float) -> int | None:
        """Return the remaining requests of the window, None if the service has sent no limit."""
        with self._lock:
            window = self._get_current_window(current_time)
            return None if window is None else window.remaining(self._sent_count)

    def max_sustainable_matches(self, turn_timeout: timedelta | None) -> int | None:
        """Return the number of matches that the budget can serve in time; None for no limit."""
        with self._lock:
            if self._window is None or turn_timeout is None:
                return None
            requests_per_second = self._window.last_status.limit / self._window.length
            return max(
                1, int(requests_per_second * CAPACITY_WAIT_SHARE * turn_timeout.total_seconds())
            )

    def request_interval(self, share: float) -> timedelta | None:
        """Return the time between two requests that spend this share of the limit.

        None if the service has sent no limit.
        """
        with self._lock:
            if self._window is None:
                return None
            return timedelta(seconds=self._window.length / (self._window.last_status.limit * share))

    # --- sending -------------------------------------------------------------------------------

    def enqueue(self, priority: RequestPriority, deadline: float) -> QueuedRequest:
        """Return a place in the queue for a request with this deadline; `dequeue` removes it."""
        with self._lock:
            self._enqueued_count += 1
            ticket = QueuedRequest(priority, deadline, self._enqueued_count)
            self._queue.append(ticket)
            self._queue.sort()
            return ticket

    def dequeue(self, ticket: QueuedRequest) -> None:
        """Remove a request from the queue, because it is sent or dropped."""
        with self._lock:
            self._queue.remove(ticket)

    def delay_for(self, ticket: QueuedRequest, current_time: float) -> float:
        """Return the seconds until a request may be sent, as things stand; 0 for at once."""
        with self._lock:
            if ticket.priority is RequestPriority.READ:
                return 0.0
            window, queue_position = (
                self._get_current_window(current_time),
                self._queue.index(ticket),
            )
            spacing = self._compute_spacing(current_time)
            last_at = self._recent_sent_times[-1] if self._recent_sent_times else -inf
            send_at = last_at + (queue_position + 1) * spacing
            if window is not None:
                burst = 0 if ticket.priority is RequestPriority.LIST else BURST_ALLOWANCE
                send_at = max(send_at, window.send_at(self._sent_count, queue_position, burst))
            return max(0.0, min(send_at, ticket.deadline) - current_time)

    def expected_extra_latency(self, current_time: float) -> float:
        """Return by how many seconds more than usual the next answer may come late."""
        with self._lock:
            return self._response_times.expected_extra_latency(current_time)

    def record_sent(self, current_time: float) -> int:
        """Record that a request is sent; return its number."""
        with self._lock:
            self._recent_sent_times.append(current_time)
            self._sent_count += 1
            return self._sent_count

    def _get_current_window(self, current_time: float) -> _RateLimitWindow | None:
        """Return the current window; a new full window if the time of the last is over."""
        window = self._window
        # The next window is assumed to be full until a response describes it, because the count of
        # the last one says nothing about it.
        if window is not None and current_time >= window.last_status.window_ends_at:
            last_status = window.last_status
            full_status = RateLimitStatus(
                last_status.limit,
                last_status.limit,
                last_status.reset_at,
                current_time + window.length,
                self._sent_count,
            )
            window.last_status, window.is_guessed = full_status, True
        return window

    # --- learning ----------------------------------------------------------------------------

    def update_and_detect_exhaustion(self, status: RateLimitStatus, current_time: float) -> bool:
        """Record the count in a response; return True if it is the first with none remaining."""
        remaining_seconds = status.window_ends_at - current_time
        if (
            status.limit <= 0
            or status.remaining < 0
            or not 0 < remaining_seconds <= MAX_WINDOW_SECONDS
        ):
            return False
        with self._lock:
            window = self._get_current_window(current_time)
            if window is None or status.reset_at > window.last_status.reset_at:
                self._window = _RateLimitWindow(
                    status, *_measure_window_length(status, remaining_seconds, window)
                )
                return status.remaining == 0
            # Responses can overtake each other. One of an earlier window or an earlier request
            # states more requests than remain, and we would spend them twice.
            is_stale = (
                status.reset_at < window.last_status.reset_at
                or status.sent_count < window.last_status.sent_count
            )
            if window.is_guessed or is_stale:
                return False
            is_first_exhausted = status.remaining == 0 < window.last_status.remaining
            window.last_status, window.length = status, max(window.length, remaining_seconds)
            return is_first_exhausted

    def record_latency(self, seconds: float, current_time: float) -> None:
        """Record how long a short request took, whether it was answered or given up.

        The lasting spacing grows while responses come later and later.
        """
        with self._lock:
            is_explained = self._is_limit_used_up(current_time)
            self._response_times.record(seconds, current_time, is_explained=is_explained)
            if is_explained:
                return
            if not self._response_times.is_growing(current_time):
                self._spacing = (
                    self._spacing * _SPACING_DECAY if self._spacing > _MIN_SPACING / 2 else 0
                )
            elif current_time >= self._next_raise_at:
                self._next_raise_at = current_time + _RAISE_INTERVAL_SECONDS
                pace = (
                    (current_time - self._recent_sent_times[0]) / len(self._recent_sent_times)
                    if self._recent_sent_times
                    else 0
                )
                raised = _SPACING_GROWTH * max(self._spacing, pace)
                self._spacing = min(max(raised, _MIN_SPACING), _MAX_SPACING)

    def _compute_spacing(self, current_time: float) -> float:
        """Return the seconds between two requests that the response times call for."""
        if self._is_limit_used_up(current_time):
            return 0
        return max(
            self._spacing,
            _SPACING_PER_DELAY * self._response_times.min_recent_extra_latency(current_time),
        )

    def _is_limit_used_up(self, current_time: float) -> bool:
        """Return True if the stated limit is used up, which delays responses by itself."""
        window = self._get_current_window(current_time)
        return window is not None and window.remaining(self._sent_count) <= 0


def _measure_window_length(
    status: RateLimitStatus, remaining_seconds: float, previous: _RateLimitWindow | None
) -> tuple[float, bool]:
    """Return the length of a window at its first response, and whether it is measured.

    Without a window that was seen from its beginning, `DEFAULT_WINDOW_SECONDS` is the
    minimum.
    """
    if previous is not None and previous.is_measured:
        return max(remaining_seconds, previous.length), True
    is_from_start = status.remaining >= status.limit - 1
    return (
        (remaining_seconds, True)
        if is_from_start
        else (max(remaining_seconds, DEFAULT_WINDOW_SECONDS), False)
    )
