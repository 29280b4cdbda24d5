"""A limit on how many matches of this process act at once: looks first, then first come.

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
    """Semaphore with `permits` places, first come, first served; urgent ones before all others.

    A look is urgent: until it is made, its match does not even know that it is our turn. Actions
    also wait for the arena, so there are more permits than processors. Nobody should wait for
    more than `max_wait`: a turn has about five actions, and 30 s.
    """

    def __init__(
        self, clock: Clock, permits: int = 8, max_wait: timedelta = timedelta(seconds=4)
    ) -> None:
        self._clock = clock
        self._max_wait = max_wait
        self._free_permits = permits
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._urgent_count = 0  # those at the front of the queue
        self._seconds_per_turn = _GUESS.total_seconds()
        self._last_release_at: float | None = None

    @property
    def expected_wait(self) -> timedelta:
        """Expected wait of a new arrival at the recent pace."""
        with self._lock:
            return timedelta(seconds=len(self._waiting) * self._seconds_per_turn)

    def can_sustain(self, match_count: int) -> bool:
        """Return True if, at the recent pace, this many matches could all act at once in time."""
        with self._lock:
            return timedelta(seconds=match_count * self._seconds_per_turn) <= self._max_wait

    @contextmanager
    def hold_permit(self, *, is_urgent: bool = False) -> Iterator[None]:
        """Wait for a permit and hold it until the `with` block ends; urgent callers go first."""
        turn = threading.Event()
        with self._lock:
            if self._free_permits:
                self._free_permits -= 1
                turn.set()
            elif is_urgent:
                self._waiting.insert(self._urgent_count, turn)
                self._urgent_count += 1
            else:
                self._waiting.append(turn)
        turn.wait()
        try:
            yield
        finally:
            with self._lock:
                if self._waiting:
                    # The permit goes to the longest waiter. The time between two releases counts
                    # only while somebody waits, because an idle semaphore says nothing of its pace.
                    current_time = self._clock.monotonic()
                    if self._last_release_at is not None:
                        self._seconds_per_turn += _WEIGHT * (
                            current_time - self._last_release_at - self._seconds_per_turn
                        )
                    self._last_release_at = current_time
                    self._waiting.popleft().set()
                    self._urgent_count = max(0, self._urgent_count - 1)
                else:
                    self._free_permits, self._last_release_at = self._free_permits + 1, None


CPU_SEMAPHORE = FairSemaphore(SystemClock())  # shared by all sessions of this process
