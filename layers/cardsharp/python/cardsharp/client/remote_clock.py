"""Another machine's clock, mapped to local monotonic seconds within bounds.

Every response bounds by how much that clock is ahead of the local one: a moment it shows was
written before the response came, and a move of ours after it was sent. The bounds are as far
apart as a round trip takes, and narrow with each response. A long poll gives only the first
bound, because its response may be dated at any moment of it.

Two clocks are tracked separately: the one of timestamps that the service itself writes, such as
those of moves, and the one of `Date` headers. They are the same unless a gateway dates the
responses. Then the dates are ignored as soon as a move of ours shows it. An older bound that a
newer response contradicts is dropped as well: the clock was set.
"""

import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from typing import NamedTuple

MAX_CLOCK_DRIFT = 0.0005  # seconds per second by which two clocks may differ more, as NTP slews one
DATE_RESOLUTION = timedelta(seconds=1.25)
"""Greatest age of a `Date` header: it has whole seconds, and servers cache it."""


class TimeBounds(NamedTuple):
    """Bounds of a moment of the other clock in local monotonic seconds."""

    earliest: float
    latest: float


NEVER_BOUNDS = TimeBounds(
    inf, inf
)  # also the bounds of a moment while the clocks are not compared yet


@dataclass(slots=True)
class _OffsetBounds:
    """Bounds of a clock's lead over the local monotonic one, in seconds, at `updated_at`."""

    low: float = -inf
    high: float = inf
    updated_at: float = 0

    def at(self, current_time: float) -> tuple[float, float]:
        """Return the bounds at `current_time`, widened by the drift since the last update."""
        drift = MAX_CLOCK_DRIFT * max(current_time - self.updated_at, 0)
        return self.low - drift, self.high + drift

    def narrow(self, low: float, high: float, current_time: float) -> None:
        """Add the bounds of a response; if it contradicts all earlier ones, it alone counts."""
        current_low, current_high = self.at(current_time)
        if low > current_high or high < current_low:
            self.low, self.high = low, high
        else:
            self.low, self.high = max(low, current_low), min(high, current_high)
        self.updated_at = current_time


@dataclass(slots=True)
class RemoteClock:
    """Estimate of a service's clock relative to the local one; thread-safe."""

    _timestamp_offset: _OffsetBounds = field(default_factory=_OffsetBounds)
    _date_offset: _OffsetBounds | None = field(default_factory=_OffsetBounds)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def update_from_date_header(self, date: datetime, sent_at: float, received_at: float) -> None:
        """Update the clock from the `Date` header of a short response."""
        with self._lock:
            if self._date_offset is not None:
                timestamp = date.timestamp()
                high = timestamp + DATE_RESOLUTION.total_seconds() - sent_at
                self._date_offset.narrow(timestamp - received_at, high, received_at)

    def update_from_timestamp(self, timestamp: datetime, received_at: float) -> None:
        """Update the clock from a timestamp that the service has written.

        The response may be that of a long poll.
        """
        with self._lock:
            self._timestamp_offset.narrow(timestamp.timestamp() - received_at, inf, received_at)

    def update_from_write(self, at: datetime, sent_at: float, received_at: float) -> None:
        """Update the clock from a timestamp written between our request and its response."""
        low, high = at.timestamp() - received_at, at.timestamp() - sent_at
        with self._lock:
            self._timestamp_offset.narrow(low, high, received_at)
            if self._date_offset is not None:
                date_low, date_high = self._date_offset.at(received_at)
                if date_low > high or date_high < low:
                    self._date_offset = None

    def ignore_date_headers(self) -> None:
        """Ignore the `Date` headers, which were shown to come from another clock."""
        with self._lock:
            self._date_offset = None

    def to_local_bounds(self, moment: datetime, current_time: float) -> TimeBounds:
        """Return the bounds of the local monotonic second at which that clock shows `moment`."""
        with self._lock:
            bounds = [
                clock.at(current_time)
                for clock in (self._timestamp_offset, self._date_offset)
                if clock is not None
            ]
        lows, highs = zip(*bounds, strict=True)
        low, high = max(lows), min(highs)
        if low > high:  # the two contradict each other
            low, high = min(lows), max(highs)
        if low == -inf or high == inf:
            return NEVER_BOUNDS
        return TimeBounds(moment.timestamp() - high, moment.timestamp() - low)
