"""Another machine's clock, mapped to our monotonic seconds within bounds that are known.

Every answer bounds by how much that clock is ahead of our seconds: what it shows was written
before the answer came, and a move of our own after it was sent. The bounds are as far apart as a
round trip takes, and narrow with each answer. A long poll says nothing but the first, for its
answer may be dated at any moment of it.

Two clocks are kept apart: that of the moments which the service itself writes, such as of its
moves, and that of the `Date` of its answers. They are one, unless a gateway dates the answers; then
the dates are given up as soon as a move of ours shows it. So is an older bound that a newer answer
contradicts: the clock was set.
"""

import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from typing import NamedTuple

DRIFT = 0.0005  # seconds by which two clocks may part in a second: one is being set right
GRAIN = timedelta(seconds=1.25)  # so late an answer's date may be: whole seconds, kept a while


class When(NamedTuple):
    """A moment of the other clock in our monotonic seconds: not before `earliest`, by `latest`."""

    earliest: float
    latest: float


NEVER = When(inf, inf)  # also of a moment of which nobody knows when it is


@dataclass(slots=True)
class _Ahead:
    """By how many seconds a clock is ahead of our monotonic ones, as known at one of them."""

    low: float = -inf
    high: float = inf
    known_at: float = 0

    def at(self, now: float) -> tuple[float, float]:
        """The bounds now, wider by what the clocks may have parted since."""
        apart = DRIFT * max(now - self.known_at, 0)
        return self.low - apart, self.high + apart

    def narrow(self, low: float, high: float, now: float) -> None:
        """Take in what an answer says; where it contradicts all before, it alone counts."""
        before, after = self.at(now)
        if low > after or high < before:
            self.low, self.high = low, high
        else:
            self.low, self.high = max(low, before), min(high, after)
        self.known_at = now


@dataclass(slots=True)
class FarClock:
    """What a process knows of a service's clock; for any number of threads."""

    _stamps: _Ahead = field(default_factory=_Ahead)
    _dates: _Ahead | None = field(default_factory=_Ahead)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def dated(self, date: datetime, asked: float, answered: float) -> None:
        """A short answer had that `Date`."""
        with self._guard:
            if self._dates is not None:
                told = date.timestamp()
                high = told + GRAIN.total_seconds() - asked
                self._dates.narrow(told - answered, high, answered)

    def shown(self, at: datetime, answered: float) -> None:
        """An answer, be it a long poll's, showed a moment that the service had written."""
        with self._guard:
            self._stamps.narrow(at.timestamp() - answered, inf, answered)

    def written(self, at: datetime, sent: float, answered: float) -> None:
        """The service wrote that moment between our request and its answer."""
        low, high = at.timestamp() - answered, at.timestamp() - sent
        with self._guard:
            self._stamps.narrow(low, high, answered)
            if self._dates is not None:
                least, most = self._dates.at(answered)
                if least > high or most < low:
                    self._dates = None

    def distrust_dates(self) -> None:
        """The dates were shown to be another clock's."""
        with self._guard:
            self._dates = None

    def when(self, moment: datetime, now: float) -> When:
        """When that clock shows `moment`."""
        with self._guard:
            known = [clock.at(now) for clock in (self._stamps, self._dates) if clock is not None]
        lows, highs = zip(*known, strict=True)
        low, high = max(lows), min(highs)
        if low > high:  # the two contradict each other
            low, high = min(lows), max(highs)
        if low == -inf or high == inf:
            return NEVER
        return When(moment.timestamp() - high, moment.timestamp() - low)
