"""What a process learns of a service as one user there, shared by all its sessions as that user."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import inf

from cardsharp.budget import Allowance, Budget, Purpose
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Clock
from cardsharp.far_clock import FarClock

_GLANCE = 0.2  # seconds until who waits looks again: others come and go meanwhile
_INSTANT = 0.001  # seconds that are none: a clock that counts them may not notice
_ROUNDED = timedelta(seconds=0.5)
_UNTOLD = 1  # seconds that a count is believed of which nobody can say when it ends


@dataclass(frozen=True, slots=True)
class Contact:
    """The service's clock and our budget of requests there, by the seconds of our clock.

    `counts` are the requests so far by kind, plus "retries" and "slowed" (see `Exchange`).
    """

    clock: Clock = field(default_factory=SystemClock)
    far: FarClock = field(default_factory=FarClock)
    budget: Budget = field(default_factory=Budget)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def is_slowed(self) -> bool:
        """Whether the service delays us now, as nothing is left of the budget."""
        left = self.budget.left(self.clock.monotonic())
        return left is not None and left <= 0

    def admit(self, purpose: Purpose, latest: float) -> None:
        """Wait until the budget lets a request go, until our second `latest` at most."""
        ticket = self.budget.enter(purpose, latest)
        try:
            while (left := self.budget.wait(ticket, self.clock.monotonic())) > _INSTANT:
                self.clock.sleep(timedelta(seconds=min(left, _GLANCE)))
        finally:
            self.budget.leave(ticket)

    def hear(self, headers: Mapping[str, str], sent: int, date: datetime | None) -> datetime | None:
        """Take in what the slow-down headers of an answer say; until when we are slowed now.

        None where that is no news. `sent` is the number of the request, `date` that of the answer,
        by which the moment is taken where nothing else is known of the service's clock.
        """
        with suppress(KeyError, ValueError, OverflowError, OSError):
            limit, left = int(headers["X-SlowDown-Limit"]), int(headers["X-SlowDown-Remaining"])
            reset = datetime.fromtimestamp(int(headers["X-SlowDown-Reset"]), UTC)
            now = self.clock.monotonic()
            ends = self.far.when(reset + _ROUNDED, now).latest
            if ends == inf:
                lasts = _UNTOLD if date is None else (reset + _ROUNDED - date).total_seconds()
                ends = now + lasts
            if self.budget.told(Allowance(limit, left, reset.timestamp(), ends, sent), now):
                return reset
        return None
