"""The real clock, and work that goes on by it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from cardsharp.cloud.ports import Clock, Signal

Now = Callable[[], datetime]  # what tells the time


def utc_now() -> datetime:
    """The machine's time."""
    return datetime.now(UTC)


class SystemClock:
    """The machine's time as a `Clock`."""

    def now(self) -> datetime:
        """The current time, aware and in UTC."""
        return utc_now()

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def sleep(self, duration: timedelta) -> None:
        """Wait for `duration`; not at all if it is not positive."""
        time.sleep(max(0.0, duration.total_seconds()))

    def wait(self, signal: Signal, timeout: timedelta) -> bool:
        """Whether `signal` came within `timeout`."""
        return signal.wait(max(0.0, timeout.total_seconds()))


@contextmanager
def beside(work: Callable[[], object], every: timedelta, clock: Clock) -> Iterator[None]:
    """Do `work` each `every` in a thread of its own, which has ended when the block ends.

    Lambda freezes a process after its answer, and a frozen thread would wake up too late.
    """
    stop = threading.Event()

    def keep_on() -> None:
        while not clock.wait(stop, every):
            work()

    thread = threading.Thread(target=keep_on, name="beside", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
