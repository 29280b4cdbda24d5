"""Counters and timers by name; `telemetry` decides where their values go."""

from datetime import timedelta
from enum import StrEnum


class MetricName(StrEnum):
    """Name of a metric, as CloudWatch shows it."""

    MATCHES_WON = "MatchesWon"
    MATCHES_LOST = "MatchesLost"
    MATCHES_TIED = "MatchesTied"
    ACTIONS = "Actions"
    FALLBACK_ACTIONS = "SafeActions"
    PICKUP_DELAY = "TurnPickUpLatency"
    FIRST_PICK_UP = "FirstPickUpLatency"
    DECISION = "DecisionTime"
    POLLS = "SuccessfulPolls"  # also a start of the poller outside its listening windows
    LIST_REQUESTS = "ListRequests"  # each request for the list, whatever came of it
    DISPATCHES = "MatchesOffered"
    UNANSWERED_DISPATCHES = "OffersUnanswered"
    ARENA_ERRORS = "ArenaErrors"
    LEASE_STEALS = "LeaseSteals"
    RETRIES = "Retries"
    RUNNING = "RunningMatches"
    TIMEOUTS = "TurnTimeouts"
    DUPLICATE_BOTS = "MatchesPlayedTwice"


ALARM_METRICS = frozenset(
    {
        MetricName.POLLS,
        MetricName.UNANSWERED_DISPATCHES,
        MetricName.PICKUP_DELAY,
        MetricName.TIMEOUTS,
    }
)
"""Metrics with an alarm in every stack; the others cost money only where they are enabled."""


class Metrics:
    """Collector of counts and durations; this base class discards them.

    Instances are compared by identity.
    """

    def count(self, metric: MetricName, amount: int = 1, **dimensions: str) -> None:
        """Add `amount` to a metric."""

    def record_duration(self, metric: MetricName, duration: timedelta, **dimensions: str) -> None:
        """Add a duration to a metric."""

    def flush(self) -> None:
        """Write the collected values; called at the end of a turn and of an invocation."""
