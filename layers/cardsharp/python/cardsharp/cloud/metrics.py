"""What is counted and timed, by name; the telemetry decides where the figures go."""

from datetime import timedelta
from enum import StrEnum


class Metric(StrEnum):
    """Everything that is counted or timed."""

    MATCHES_WON = "MatchesWon"
    MATCHES_LOST = "MatchesLost"
    MATCHES_TIED = "MatchesTied"
    ACTIONS = "Actions"
    SAFE_ACTIONS = "SafeActions"
    PICK_UP = "TurnPickUpLatency"
    FIRST_PICK_UP = "FirstPickUpLatency"
    DECISION = "DecisionTime"
    POLLS = "SuccessfulPolls"
    OFFERS = "MatchesOffered"
    UNANSWERED = "OffersUnanswered"
    ARENA_ERRORS = "ArenaErrors"
    LEASE_STEALS = "LeaseSteals"
    RETRIES = "Retries"
    RUNNING = "RunningMatches"
    TIMEOUTS = "TurnTimeouts"
    NAMESAKES = "MatchesPlayedTwice"


ALARMED = frozenset({Metric.POLLS, Metric.UNANSWERED, Metric.PICK_UP, Metric.TIMEOUTS})
"""What an alarm watches that every stack has; each other metric is paid for where it is wanted."""


class Meter:
    """Takes counts and durations, and here keeps nothing; told from another by identity."""

    def count(self, metric: Metric, amount: int = 1, **dimensions: str) -> None:
        """Add `amount` to a metric."""

    def time(self, metric: Metric, duration: timedelta, **dimensions: str) -> None:
        """Add a duration to a metric."""

    def flush(self) -> None:
        """Hand on what was collected, as at the end of a turn and of an invocation."""
