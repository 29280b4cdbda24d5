"""Results of a worker's session."""

from enum import StrEnum


class SessionResult(StrEnum):
    """Result of a worker's session on a match, with its text for logs."""

    FINISHED = "finished"
    HANDED_OVER = "handed on"
    ABANDONED = "left to the poller"
    LEASED_BY_OTHER = "attended elsewhere"
    UNKNOWN_MATCH = "unknown to the arena"
