"""Clock that only sleeps and steps advance, so that every run is the same."""

from datetime import UTC, datetime, timedelta

from cardsharp.core.clock import Waitable

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class VirtualClock:
    """Clock for one worker at a time: sleeping advances the time, waiting does not.

    A lease keeper in the background therefore never renews a lease by itself. The worker
    renews it at a numbered step.
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
        """Advance the time by `duration`."""
        self.elapsed += max(duration, timedelta(0))


class SkewedClock:
    """Wrong clock of a machine; its monotonic seconds begin at any number."""

    def __init__(self, reference: VirtualClock, skew: timedelta) -> None:
        self.reference, self.skew, self._monotonic_offset = (
            reference,
            skew,
            abs(skew).total_seconds(),
        )

    def now(self) -> datetime:
        return self.reference.now() + self.skew

    def monotonic(self) -> float:
        return self.reference.monotonic() + self._monotonic_offset

    def sleep(self, duration: timedelta) -> None:
        self.reference.sleep(duration)

    def wait(self, event: Waitable, timeout: timedelta) -> bool:
        return self.reference.wait(event, timeout)
