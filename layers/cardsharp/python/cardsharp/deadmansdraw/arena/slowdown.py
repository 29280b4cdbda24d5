"""The original's rate slow-down: nobody is refused, whoever asks too much waits.

docs/spec/arena.md section 2: windows of 60 s, 1000 requests an address and 100 an address and user,
then 100 ms for each further request, at most 10 s; the admin is free of the second.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

WINDOW = timedelta(seconds=60)
STEP = timedelta(milliseconds=100)
LONGEST = timedelta(seconds=10)
PER_ADDRESS = 1000
PER_USER = 100
_MANY_WINDOWS = 10_000


@dataclass(slots=True)
class _Window:
    ends: datetime
    count: int = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a request has to wait, and the headers that tell how near the limit is."""

    delay: timedelta
    headers: dict[str, str]


class SlowDown:
    """Counts the requests of each key in fixed windows."""

    def __init__(self, limit: int, clock: Callable[[], datetime]) -> None:
        self._limit = limit
        self._clock = clock
        self._windows: dict[str, _Window] = {}

    def count(self, key: str) -> Pace:
        """Count one request of `key`; how long it has to wait."""
        now = self._clock()
        window = self._windows.get(key)
        if window is None or window.ends <= now:
            self._forget_ended(now)
            window = self._windows[key] = _Window(now + WINDOW)
        window.count += 1
        over = max(0, window.count - self._limit)
        return Pace(
            min(over * STEP, LONGEST),
            {
                "X-SlowDown-Limit": str(self._limit),
                "X-SlowDown-Remaining": str(max(0, self._limit - window.count)),
                "X-SlowDown-Reset": str(round(window.ends.timestamp())),
            },
        )

    def _forget_ended(self, now: datetime) -> None:
        """Keep the table small when it has been asked for by many."""
        if len(self._windows) >= _MANY_WINDOWS:
            self._windows = {
                key: window for key, window in self._windows.items() if window.ends > now
            }
