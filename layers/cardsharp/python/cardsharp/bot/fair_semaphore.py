"""A first-come, first-served limit on how many matches of this process act at once.

One interpreter serves all matches of a process. If all act at once, all of them are late, and
their leases too. So a few act at a time while the others queue. The pace of the queue tells how
many matches the process can sustain. A Lambda function plays one match, so its queue is always
empty.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from cardsharp.core.clock import Clock, SystemClock

_GUESS = timedelta(milliseconds=20)  # before there was any: the pace of a slow machine
_WEIGHT = 0.005  # of the last action beside all earlier ones: a moment's haste lets nobody in


class FairSemaphore:
    """Semaphore with `permits` places, first come, first served.

    Actions also wait for the arena, so there are more permits than processors. Nobody should
    wait for more than `max_wait`: a turn has about five actions, and 30 s.
    """

    def __init__(
        self, clock: Clock, permits: int = 8, max_wait: timedelta = timedelta(seconds=4)
    ) -> None:
        self._clock = clock
        self._bearable = max_wait
        self._free = permits
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._pace = _GUESS.total_seconds()
        self._last_release_at: float | None = None

    @property
    def expected_wait(self) -> timedelta:
        """Expected wait of a new arrival at the recent pace of the line."""
        with self._guard:
            return timedelta(seconds=len(self._waiting) * self._pace)

    def can_sustain(self, matches: int) -> bool:
        """Return True if, at the recent pace, this many matches could all act at once in time."""
        with self._guard:
            return timedelta(seconds=matches * self._pace) <= self._bearable

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Wait for a permit and use it as long as the block runs."""
        called = threading.Event()
        with self._guard:
            if self._free:
                self._free -= 1
                called.set()
            else:
                self._waiting.append(called)
        called.wait()
        try:
            yield
        finally:
            with self._guard:
                if self._waiting:
                    # To whoever has waited longest; the pace is that of a line that moves.
                    current_time = self._clock.monotonic()
                    if self._last_release_at is not None:
                        self._pace += _WEIGHT * (current_time - self._last_release_at - self._pace)
                    self._last_release_at = current_time
                    self._waiting.popleft().set()
                else:
                    self._free, self._last_release_at = self._free + 1, None


CPU_SEMAPHORE = FairSemaphore(SystemClock())  # the line of this process
