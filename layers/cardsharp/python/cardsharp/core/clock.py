"""Time as a dependency: the port, the real clock, and periodic work in a thread."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Protocol

RemainingTime = Callable[[], timedelta]  # the time until an invocation or a wait must end


class Waitable(Protocol):
    """Something that wakes a waiter, such as `threading.Event` and `threading.Condition`."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the signal; return True if it came within `timeout` seconds."""


class Clock(Protocol):
    """The time as a dependency, so that tests can control it."""

    def now(self) -> datetime:
        """Return the current time, aware and in UTC."""

    def monotonic(self) -> float:
        """Return seconds that never go back, for measuring durations."""

    def sleep(self, duration: timedelta) -> None:
        """Wait for `duration`."""

    def wait(self, event: Waitable, timeout: timedelta) -> bool:
        """Wait for `event`; return True as soon as it comes, False after `timeout`."""


TimeSource = Callable[[], datetime]  # returns the current time, aware and in UTC


def utc_now() -> datetime:
    """Return the machine's current time in UTC."""
    return datetime.now(UTC)


class SystemClock:
    """The machine's time as a `Clock`."""

    def now(self) -> datetime:
        """Return the current time, aware and in UTC."""
        return utc_now()

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def sleep(self, duration: timedelta) -> None:
        """Wait for `duration`; not at all if it is not positive."""
        time.sleep(max(0.0, duration.total_seconds()))

    def wait(self, event: Waitable, timeout: timedelta) -> bool:
        """Wait for `event`; return True if it came within `timeout`."""
        return event.wait(max(0.0, timeout.total_seconds()))


@contextmanager
def run_periodically(
    func: Callable[[], object], interval: timedelta, clock: Clock
) -> Iterator[None]:
    """Call `func` every `interval` in a thread, which has ended when the block ends.

    Lambda freezes a process after its response, and a frozen thread would wake up too late.
    """
    stop = threading.Event()

    def repeat() -> None:
        while not clock.wait(stop, interval):
            func()

    thread = threading.Thread(target=repeat, name="beside", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
