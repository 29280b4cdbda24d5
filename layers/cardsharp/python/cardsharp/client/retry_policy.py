"""Retry policy of reads: exponential back-off with jitter, within a total time."""

import time
from collections.abc import Callable
from datetime import timedelta
from random import SystemRandom

from cardsharp.errors import RateLimited, RequestRejected, Unreachable

_RNG = SystemRandom()  # jitter must not use up random numbers that a seed makes repeatable
_SERVER_ERROR = 500


class RetryPolicy:
    """Back-off hook for stamina: the seconds to wait after an error, or False to give up.

    Only `Unreachable`, `RateLimited` and 5xx errors are retried. The wait is exponential with
    full jitter (uniform between zero and the step); after `RateLimited` it is the arena's wait
    plus such a jitter. It gives up if the wait would not end within `total_timeout` of its
    creation, or if the arena asks for more than `max_backoff`.
    """

    def __init__(
        self,
        total_timeout: timedelta,
        base_backoff: timedelta,
        max_backoff: timedelta,
        clock: Callable[[], float] = time.monotonic,
        random_uniform: Callable[[float, float], float] = _RNG.uniform,
    ) -> None:
        self._base_seconds = base_backoff.total_seconds()
        self._max_seconds = max_backoff.total_seconds()
        self._clock = clock
        self._random_uniform = random_uniform
        self._deadline = clock() + total_timeout.total_seconds()
        self._failures = 0

    @property
    def remaining_time(self) -> timedelta:
        """Remaining part of the total time; never zero, which sockets do not take as timeout."""
        return timedelta(seconds=max(self._deadline - self._clock(), 0.001))

    def __call__(self, error: Exception) -> bool | float:
        """Return the seconds to wait before the next attempt, False for no further attempt."""
        is_rejected = isinstance(error, RequestRejected) and error.status < _SERVER_ERROR
        if is_rejected or not isinstance(error, RequestRejected | Unreachable | RateLimited):
            return False
        delay = self._random_uniform(
            0, min(self._max_seconds, self._base_seconds * 2**self._failures)
        )
        if isinstance(error, RateLimited):
            requested_delay = error.retry_after.total_seconds()
            if requested_delay > self._max_seconds:
                return False
            delay += requested_delay
        self._failures += 1
        return delay if self._clock() + delay < self._deadline else False
