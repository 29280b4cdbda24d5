"""The real clock."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from cardsharp.cloud.ports import Signal

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
