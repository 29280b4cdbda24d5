"""Rate-limit budget of a user at a service: which request may be sent, and when.

A service that slows down frequent callers counts the requests of a user in all matches
together, and each response says how many remain until when. So all matches of a process share
one budget, and each request has a priority and a deadline. While the budget is ample, requests
are sent at once. Otherwise the remaining requests are spread over the remaining time: actions
first, then the reads that they need, then long polls, then the list; of two actions the more
urgent one. A request at its deadline is sent in any case.

No limit is hard-coded. If other processes use the same user, the responses show that, and only
our share is spent. If no response has a limit but responses come later and later, requests are
spaced further apart until that stops.

Pure: every moment is an argument, in monotonic seconds.
"""

import threading
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from math import inf
from typing import NamedTuple

BURST_ALLOWANCE = (
    0.2  # so much faster than evenly a budget may be spent: a turn comes with several requests
)
MAX_ACTION_WAIT_SHARE = 0.65
"""The part of a turn's limit that an action may wait; the rest is for deciding and for the way."""

CAPACITY_WAIT_SHARE = (
    0.55  # that part if so many matches were played that all their actions waited so long
)
MAX_WINDOW_SECONDS = (
    900  # seconds that a window may last: what is said to last longer is not believed
)
DEFAULT_WINDOW_SECONDS = 60  # seconds that a window is taken to last that did not begin with us
_STEP, _STEPS = 0.05, 4
"""So many answers one after another, each by so many seconds later than the last: we are slowed."""

_QUICKER, _SLOWEST, _MIN_SPACING = 0.97, 1.0, 0.1


class RequestPriority(IntEnum):
    """Priority of a request by its purpose; the lowest value goes first."""

    ACT = 0
    READ = 1
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
class _Window:
    """Rate-limit status received last, and the window length in seconds, measured or assumed."""

    last: RateLimitStatus
    length: float
    is_seen: bool
    is_guessed: bool = False  # its time is over, and no answer has told of the next one yet

    def remaining(self, sent: int) -> int:
        """Return the remaining requests after `sent` were sent, some of them unanswered yet."""
        return self.last.remaining - (sent - self.last.sent_count)

    def free(self, sent: int, queue_position: int, ahead: float) -> float:
        """Return the moment at which a request may be sent that has `queue_position` before it.

        It may be sent once more requests remain than at an even pace, which `ahead`, a share
        from 0 to 1, speeds up.
        """
        apart = self.length / (self.last.limit * (1 - ahead))
        return self.last.window_ends_at - max(self.remaining(sent) - 1 - queue_position, 0) * apart


@dataclass(slots=True)
class RequestBudget:
    """Rate-limit budget of one user at one service; thread-safe."""

    _window: _Window | None = None
    _sent: int = 0
    _apart: float = 0  # seconds between two requests where no limit is told and answers are slow
    _next: float = 0  # when the next request may go then
    _took: float = inf
    _later: int = 0
    _tickets: list[QueuedRequest] = field(default_factory=list)
    _entered: int = 0
    _guard: threading.RLock = field(default_factory=threading.RLock)

    @property
    def limit(self) -> int | None:
        """Requests per window, None if the service has sent no limit."""
        return None if self._window is None else self._window.last.limit

    def remaining(self, current_time: float) -> int | None:
        """Return the remaining requests of the window, None if the service has sent no limit."""
        with self._guard:
            window = self._current(current_time)
            return None if window is None else window.remaining(self._sent)

    def max_matches(self, turn_timeout: timedelta | None) -> int | None:
        """Return in how many matches no turn is lost for lack of requests; None for no limit."""
        with self._guard:
            if self._window is None or turn_timeout is None:
                return None
            a_second = self._window.last.limit / self._window.length
            return max(1, int(a_second * CAPACITY_WAIT_SHARE * turn_timeout.total_seconds()))

    # --- going -------------------------------------------------------------------------------

    def enqueue(self, priority: RequestPriority, deadline: float) -> QueuedRequest:
        """Return a place in the queue for a request with this deadline; `dequeue` removes it."""
        with self._guard:
            self._entered += 1
            ticket = QueuedRequest(priority, deadline, self._entered)
            self._tickets.append(ticket)
            self._tickets.sort()
            return ticket

    def dequeue(self, ticket: QueuedRequest) -> None:
        """Remove a request from the queue, because it is sent or dropped."""
        with self._guard:
            self._tickets.remove(ticket)

    def delay_for(self, ticket: QueuedRequest, current_time: float) -> float:
        """Return the seconds until a request may be sent, as things stand; 0 for at once."""
        with self._guard:
            window, queue_position = self._current(current_time), self._tickets.index(ticket)
            if window is None:
                free = self._next + queue_position * self._apart
            else:
                ahead = 0 if ticket.priority is RequestPriority.LIST else BURST_ALLOWANCE
                free = window.free(self._sent, queue_position, ahead)
            return max(0.0, min(free, ticket.deadline) - current_time)

    def record_sent(self, current_time: float) -> int:
        """Record that a request is sent; return its number."""
        with self._guard:
            self._next = max(self._next, current_time) + self._apart
            self._sent += 1
            return self._sent

    def _current(self, current_time: float) -> _Window | None:
        """Return the window; a new full one if its time is over."""
        window = self._window
        if window is not None and current_time >= window.last.window_ends_at:
            last = window.last
            fresh = RateLimitStatus(
                last.limit, last.limit, last.reset_at, current_time + window.length, self._sent
            )
            window.last, window.is_guessed = fresh, True
        return window

    # --- learning ----------------------------------------------------------------------------

    def update(self, status: RateLimitStatus, current_time: float) -> bool:
        """Record the count in a response; return True if it is the first with none remaining."""
        lasts = status.window_ends_at - current_time
        if status.limit <= 0 or status.remaining < 0 or not 0 < lasts <= MAX_WINDOW_SECONDS:
            return False
        with self._guard:
            window = self._current(current_time)
            if window is None or status.reset_at > window.last.reset_at:
                self._window = _Window(status, *_length(status, lasts, window))
                return status.remaining == 0
            stale = (
                status.reset_at < window.last.reset_at or status.sent_count < window.last.sent_count
            )
            if window.is_guessed or stale:
                return False
            news = status.remaining == 0 < window.last.remaining
            window.last, window.length = status, max(window.length, lasts)
            return news

    def record_latency(self, seconds: float) -> None:
        """Record how long a short request took, to detect throttling without a limit."""
        with self._guard:
            if self._window is not None:
                self._apart = 0
                return
            self._later = self._later + 1 if seconds >= self._took + _STEP else 0
            self._took = seconds
            if self._later >= _STEPS:
                self._later = 0
                self._apart = min(max(2 * self._apart, _MIN_SPACING), _SLOWEST)
            elif not self._later:
                self._apart = self._apart * _QUICKER if self._apart > _MIN_SPACING / 2 else 0


def _length(status: RateLimitStatus, lasts: float, previous: _Window | None) -> tuple[float, bool]:
    """Return the window length at the first response in a new window, and whether it is measured.

    Without a window that was seen from its beginning, `DEFAULT_WINDOW_SECONDS` is the minimum.
    """
    if previous is not None and previous.is_seen:
        return max(lasts, previous.length), True
    begins = status.remaining >= status.limit - 1
    return (lasts, True) if begins else (max(lasts, DEFAULT_WINDOW_SECONDS), False)
