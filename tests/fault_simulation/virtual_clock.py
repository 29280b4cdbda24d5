"""A clock that stands still but for sleeps and steps, so that every run is the same."""

from datetime import UTC, datetime, timedelta

from cardsharp.core.clock import Waitable

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class VirtualClock:
    """A `Clock` for one worker at a time: sleeping passes time, waiting only waits.

    A lease keeper in the background therefore never renews of its own accord; what is renewed
    is renewed by the worker itself, at a step that can be numbered.
    """

    def __init__(self) -> None:
        self.elapsed = timedelta(0)

    def now(self) -> datetime:
        return START + self.elapsed

    def monotonic(self) -> float:
        return self.elapsed.total_seconds()

    def sleep(self, duration: timedelta) -> None:
        self.advance(duration)

    def wait(self, event: Waitable, timeout: timedelta) -> bool:
        del timeout
        return event.wait()

    def advance(self, duration: timedelta) -> None:
        """Let `duration` pass."""
        self.elapsed += max(duration, timedelta(0))


class SkewedClock:
    """A machine's clock that is wrong; how it counts seconds begins anywhere."""

    def __init__(self, true: VirtualClock, skew: timedelta) -> None:
        self.reference, self.skew, self._counts_from = true, skew, abs(skew).total_seconds()

    def now(self) -> datetime:
        return self.reference.now() + self.skew

    def monotonic(self) -> float:
        return self.reference.monotonic() + self._counts_from

    def sleep(self, duration: timedelta) -> None:
        self.reference.sleep(duration)

    def wait(self, event: Waitable, timeout: timedelta) -> bool:
        return self.reference.wait(event, timeout)
