"""The line before this process's processor: matches come to act in the order in which they ask.

One interpreter serves all matches that a process attends. Where all act at once, all are late
together, and their leases with them: so a few act at a time, and the others stand in line. How
fast it moves says how many matches can be kept up. A function in the cloud attends one match and
always finds the line empty.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Clock

_GUESS = timedelta(milliseconds=20)  # before there was any: the pace of a slow machine
_WEIGHT = 0.005  # of the last action beside all earlier ones: a moment's haste lets nobody in


class Line:
    """Room for `places` at a time, first come first served.

    Actions wait for the arena too, so there are more places than processors. Nobody is to wait for
    more than `bearable`: a turn has some five actions, and 30 s.
    """

    def __init__(
        self, clock: Clock, places: int = 8, bearable: timedelta = timedelta(seconds=4)
    ) -> None:
        self._clock = clock
        self._bearable = bearable
        self._free = places
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._pace = _GUESS.total_seconds()
        self._left: float | None = None

    @property
    def wait(self) -> timedelta:
        """How long whoever came now would wait, at the pace of late."""
        with self._guard:
            return timedelta(seconds=len(self._waiting) * self._pace)

    def bears(self, matches: int) -> bool:
        """Whether so many could be kept up at the pace of late, were all of them to act at once."""
        with self._guard:
            return timedelta(seconds=matches * self._pace) <= self._bearable

    @contextmanager
    def place(self) -> Iterator[None]:
        """Wait for a place, and have it as long as the block runs."""
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
                    now = self._clock.monotonic()
                    if self._left is not None:
                        self._pace += _WEIGHT * (now - self._left - self._pace)
                    self._left = now
                    self._waiting.popleft().set()
                else:
                    self._free, self._left = self._free + 1, None


OURS = Line(SystemClock())  # the line of this process
