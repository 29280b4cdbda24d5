"""A clock that only tests move, for threads that wait by it."""

import threading
from datetime import datetime, timedelta

from world.clock import START, StillClock

from cardsharp.cloud.ports import Signal


class FakeClock(StillClock):
    """A `StillClock` for several real threads; only `advance` and sleeping pass time.

    A waiter sees either its signal or that somebody advanced the clock past its timeout.
    """

    def __init__(self, start: datetime = START) -> None:
        super().__init__()
        self.passed = start - START
        self._lock = threading.Lock()
        self._waiting = threading.Semaphore(0)
        self._conditions: list[threading.Condition] = []

    def wait(self, signal: Signal, timeout: timedelta) -> bool:
        if timeout <= timedelta(0):
            return signal.wait(0)
        end = self.now() + timeout
        if isinstance(signal, threading.Condition):
            return self._notified(signal, end)
        self._waiting.release()
        while self.now() < end:
            # Real time, only to look at the fake one again.
            if signal.wait(0.002):
                return True
        return False

    def advance(self, duration: timedelta) -> None:
        """Let `duration` pass."""
        with self._lock:
            self.passed += duration
            conditions = list(self._conditions)
        for condition in conditions:
            with condition:
                condition.notify_all()

    def _notified(self, condition: threading.Condition, end: datetime) -> bool:
        # Short waits in a loop, as for an event, would lose a notification that comes between
        # the end of one and its taking the lock again: a condition keeps no sign of it.
        with self._lock:
            self._conditions.append(condition)
        try:
            self._waiting.release()
            return self.now() < end and condition.wait()
        finally:
            with self._lock:
                self._conditions.remove(condition)

    def until_waiting(self) -> None:
        """Return when a thread has begun one more wait than was asked for so far."""
        assert self._waiting.acquire(timeout=10), "nobody waited on the clock within 10 s"
