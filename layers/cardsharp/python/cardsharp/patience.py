"""When a failed read is worth repeating, and how long to wait before."""

import random
import time
from collections.abc import Callable
from datetime import timedelta

from cardsharp.errors import RateLimited, Rejected, Unreachable

_SERVER_ERROR = 500


class Patience:
    """A back-off hook for stamina: the seconds to wait after an error, or False to give up.

    Worth repeating are `Unreachable`, `RateLimited` and a 5xx, nothing else. The wait is
    exponential with full jitter (uniform between zero and the step), or what the arena asked for
    plus such a jitter. It gives up when the wait would not end within `total` of its making, or
    the arena asks for more than `longest`.
    """

    def __init__(
        self,
        total: timedelta,
        step: timedelta,
        longest: timedelta,
        clock: Callable[[], float] = time.monotonic,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._step = step.total_seconds()
        self._longest = longest.total_seconds()
        self._clock = clock
        self._uniform = uniform
        self._end = clock() + total.total_seconds()
        self._failures = 0

    @property
    def left(self) -> timedelta:
        """What is left of the total time, never zero, for zero means something else to sockets."""
        return timedelta(seconds=max(self._end - self._clock(), 0.001))

    def __call__(self, error: Exception) -> bool | float:
        """Seconds to wait before the next attempt; False where there must be none."""
        if not _is_passing(error):
            return False
        wait = self._uniform(0, min(self._longest, self._step * 2**self._failures))
        if isinstance(error, RateLimited):
            asked = error.retry_after.total_seconds()
            if asked > self._longest:
                return False
            wait += asked
        self._failures += 1
        return wait if self._clock() + wait < self._end else False


def _is_passing(error: Exception) -> bool:
    """Whether the error may be gone the next time."""
    if isinstance(error, Rejected):
        return error.status >= _SERVER_ERROR
    return isinstance(error, Unreachable | RateLimited)
