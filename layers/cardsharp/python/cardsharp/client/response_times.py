"""Recent response times of a service, which show that it slows us down, whatever its headers say.

A service may count the requests of everybody behind an address and tell nobody: it only answers
later and later. One late answer proves nothing, because a network or a busy machine delays some.
So the pace of requests follows what even the fastest of the last answers took, and the time that
a request may take follows the slowest of them.

Pure: every moment is an argument, in monotonic seconds.
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import NamedTuple

_RECENT_COUNT = 4  # answers that are compared
_LATE_COUNT = 3  # answers in a row that are late only if the service is slow
_MIN_GROWTH_SECONDS = (
    0.05  # by so much each answer is later than the one before if requests cause it
)
_LONG_DELAY_SECONDS = 5  # so late an answer comes by no accident
_VALID_SECONDS = 60  # after so long an answer says nothing about the next one
_PERIOD_SECONDS = 60  # the usual time is the shortest of this period and the one before
_MIN_DELAY_SECONDS = 0.2  # so much more than usual is slow


class _ResponseTiming(NamedTuple):
    """Arrival and duration of a response; `is_explained` if something else made it late."""

    received_at: float
    seconds: float
    is_explained: bool


@dataclass(slots=True)
class ResponseTimes:
    """Seconds that the last short requests took, and the time that is usual."""

    _recent_timings: deque[_ResponseTiming] = field(
        default_factory=lambda: deque(maxlen=_RECENT_COUNT)
    )
    _period_started_at: float = -inf
    _shortest_seconds: float = inf  # of this period
    _previous_shortest_seconds: float = inf

    def record(self, seconds: float, current_time: float, *, is_explained: bool = False) -> None:
        """Record a short request that was answered, or given up, after so many seconds.

        `is_explained` says that a stated limit delays the answer; then it proves no other one.
        """
        if current_time - self._period_started_at >= _PERIOD_SECONDS:
            is_old = current_time - self._period_started_at >= 2 * _PERIOD_SECONDS
            self._previous_shortest_seconds = inf if is_old else self._shortest_seconds
            self._period_started_at, self._shortest_seconds = current_time, inf
        self._shortest_seconds = min(self._shortest_seconds, seconds)
        self._recent_timings.append(_ResponseTiming(current_time, seconds, is_explained))

    def expected_extra_latency(self, current_time: float) -> float:
        """Return by how many seconds more than usual an answer may come late."""
        return max(self._compute_delays(current_time), default=0)

    def min_recent_extra_latency(self, current_time: float) -> float:
        """Return by how many seconds all of the last answers were late; 0 if one was in time."""
        delays = self._compute_delays(current_time, unexplained=True)[-_LATE_COUNT:]
        return min(delays) if len(delays) == _LATE_COUNT else 0

    def is_growing(self, current_time: float) -> bool:
        """Return True if each answer comes later than the one before, as by a limit of requests."""
        delays = self._compute_delays(current_time, unexplained=True)
        return len(delays) == _RECENT_COUNT and all(
            later >= min(earlier + _MIN_GROWTH_SECONDS, _LONG_DELAY_SECONDS)
            for earlier, later in pairwise(delays)
        )

    def _compute_delays(self, current_time: float, *, unexplained: bool = False) -> list[float]:
        usual = min(self._shortest_seconds, self._previous_shortest_seconds)
        delays = [
            response.seconds - usual
            for response in self._recent_timings
            if current_time - response.received_at <= _VALID_SECONDS
            and not (unexplained and response.is_explained)
        ]
        return [delay if delay >= _MIN_DELAY_SECONDS else 0 for delay in delays]
