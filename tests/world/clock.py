"""A clock that stands still but for sleeps and steps, so that every run is the same."""

from datetime import UTC, datetime, timedelta

from cardsharp.cloud.ports import Signal

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class StillClock:
    """A `Clock` for one worker at a time: sleeping passes time, waiting only waits.

    A lease keeper in the background therefore never renews of its own accord; what is renewed
    is renewed by the worker itself, at a step that can be numbered.
    """

    def __init__(self) -> None:
        self.passed = timedelta(0)

    def now(self) -> datetime:
        return START + self.passed

    def monotonic(self) -> float:
        return self.passed.total_seconds()

    def sleep(self, duration: timedelta) -> None:
        self.advance(duration)

    def wait(self, signal: Signal, timeout: timedelta) -> bool:
        del timeout
        return signal.wait()

    def advance(self, duration: timedelta) -> None:
        """Let `duration` pass."""
        self.passed += max(duration, timedelta(0))


class SkewedClock:
    """A machine's clock that is wrong; how it counts seconds begins anywhere."""

    def __init__(self, true: StillClock, skew: timedelta) -> None:
        self.true, self.skew, self._counts_from = true, skew, abs(skew).total_seconds()

    def now(self) -> datetime:
        return self.true.now() + self.skew

    def monotonic(self) -> float:
        return self.true.monotonic() + self._counts_from

    def sleep(self, duration: timedelta) -> None:
        self.true.sleep(duration)

    def wait(self, signal: Signal, timeout: timedelta) -> bool:
        return self.true.wait(signal, timeout)
