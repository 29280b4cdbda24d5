"""How often something happened in a stretch of time: what every limit here is measured by."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

_MANY = 10_000
"""Stretches in memory beyond which those that are over are forgotten."""


class Counted(NamedTuple):
    """How often something has happened in a stretch of time, and when that ends."""

    number: int
    ends: datetime


class Counts(Protocol):
    """Counts by key, each in stretches of a fixed length."""

    def count(self, key: str, length: timedelta) -> Counted:
        """Count one more; a stretch begins with the first that comes after the last one's end."""


class MemoryCounts:
    """Counts of this process alone."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._counted: dict[str, Counted] = {}
        self._enough = _MANY

    def count(self, key: str, length: timedelta) -> Counted:
        """Count one more."""
        now = self._clock()
        before = self._counted.get(key)
        if before is None or before.ends <= now:
            self._forget_ended(now)
            before = Counted(0, now + length)
        found = self._counted[key] = Counted(before.number + 1, before.ends)
        return found

    def __len__(self) -> int:
        return len(self._counted)

    def _forget_ended(self, now: datetime) -> None:
        """Keep the table small when it has been asked for by many."""
        if len(self._counted) >= self._enough:
            self._counted = {key: one for key, one in self._counted.items() if one.ends > now}
            # Where all of them still count, the next look is only worth it twice as late.
            self._enough = max(_MANY, 2 * len(self._counted))
