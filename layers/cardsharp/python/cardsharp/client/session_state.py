"""State that a process learns about a service as one user, shared by all its sessions."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import inf

from cardsharp.client.remote_clock import RemoteClock
from cardsharp.client.request_budget import RateLimitStatus, RequestBudget, RequestPriority
from cardsharp.core.clock import Clock, SystemClock

_RECHECK_SECONDS = 0.2  # between two looks at the queue, which other requests enter and leave
_MIN_DELAY = 0.001  # seconds; a shorter delay counts as none
_ROUNDING = timedelta(seconds=0.5)  # the stated end of a window is rounded to whole seconds
_DEFAULT_WINDOW_SECONDS = 1  # validity of a count whose window has no known end


@dataclass(frozen=True, slots=True)
class ClientSessionState:
    """Remote clock and request budget of one user at a service, in local seconds.

    `request_counts` counts the requests by kind, plus "retries" and "slowed" (see
    `ArenaTransport`).
    """

    clock: Clock = field(default_factory=SystemClock)
    remote_clock: RemoteClock = field(default_factory=RemoteClock)
    request_budget: RequestBudget = field(default_factory=RequestBudget)
    request_counts: Counter[str] = field(default_factory=Counter)

    @property
    def is_budget_exhausted(self) -> bool:
        """True if the service delays our requests because no budget remains."""
        remaining = self.request_budget.remaining_requests(self.clock.monotonic())
        return remaining is not None and remaining <= 0

    @property
    def expected_extra_latency(self) -> timedelta:
        """Expected delay of the next response beyond the usual latency, judged by the last ones."""
        return timedelta(seconds=self.request_budget.expected_extra_latency(self.clock.monotonic()))

    @property
    def is_late_or_throttled(self) -> bool:
        """True if the service answers late, for whatever reason, or throttles us."""
        return self.is_budget_exhausted or self.expected_extra_latency > timedelta(0)

    def wait_for_budget(self, priority: RequestPriority, deadline: float) -> None:
        """Wait until the budget permits a request, at most until the local second `deadline`."""
        ticket = self.request_budget.enqueue(priority, deadline)
        try:
            while (
                delay := self.request_budget.delay_for(ticket, self.clock.monotonic())
            ) > _MIN_DELAY:
                self.clock.sleep(timedelta(seconds=min(delay, _RECHECK_SECONDS)))
        finally:
            self.request_budget.dequeue(ticket)

    def update_budget_from_headers(
        self, headers: Mapping[str, str], request_number: int, response_date: datetime | None
    ) -> datetime | None:
        """Update the budget from a response's rate-limit headers.

        Return until when we are throttled, None if that is not news. `response_date` is the
        reference if the service's clock has not been measured yet.
        """
        with suppress(KeyError, ValueError, OverflowError, OSError):
            limit, remaining = (
                int(headers["X-SlowDown-Limit"]),
                int(headers["X-SlowDown-Remaining"]),
            )
            reset_at = datetime.fromtimestamp(int(headers["X-SlowDown-Reset"]), UTC)
            current_time = self.clock.monotonic()
            ends_at = self.remote_clock.to_local_bounds(reset_at + _ROUNDING, current_time).latest
            if ends_at == inf:
                remaining_seconds = (
                    _DEFAULT_WINDOW_SECONDS
                    if response_date is None
                    else (reset_at + _ROUNDING - response_date).total_seconds()
                )
                ends_at = current_time + remaining_seconds
            if self.request_budget.update_and_detect_exhaustion(
                RateLimitStatus(limit, remaining, reset_at.timestamp(), ends_at, request_number),
                current_time,
            ):
                return reset_at
        return None
