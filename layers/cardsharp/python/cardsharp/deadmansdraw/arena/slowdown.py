"""The original's rate slow-down: nobody is refused, whoever asks too much waits.

docs/spec/arena.md section 2: windows of 60 s, 1000 requests an address and 100 an address and user,
then 100 ms for each further request, at most 10 s; the admin is free of the second.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cardsharp.deadmansdraw.arena.counts import MemoryCounts

WINDOW = timedelta(seconds=60)
STEP = timedelta(milliseconds=100)
LONGEST = timedelta(seconds=10)
PER_ADDRESS = 1000
PER_USER = 100


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a request has to wait, and the headers that tell how near the limit is."""

    delay: timedelta
    headers: dict[str, str]


class SlowDown:
    """Counts the requests of each key in fixed windows."""

    def __init__(self, limit: int, clock: Callable[[], datetime]) -> None:
        self._limit = limit
        self._counts = MemoryCounts(clock)

    def count(self, key: str) -> Pace:
        """Count one request of `key`; how long it has to wait."""
        number, ends = self._counts.count(key, WINDOW)
        return Pace(
            delay_for(number - self._limit),
            {
                "X-SlowDown-Limit": str(self._limit),
                "X-SlowDown-Remaining": str(max(0, self._limit - number)),
                "X-SlowDown-Reset": str(round(ends.timestamp())),
            },
        )


def delay_for(over: int) -> timedelta:
    """How long who is so many requests over a limit has to wait."""
    return min(max(0, over) * STEP, LONGEST)
