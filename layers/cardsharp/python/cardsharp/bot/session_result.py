"""Result of a worker's session on a match."""

from enum import StrEnum


class SessionResult(StrEnum):
    """How a session of a worker on a match ended."""

    FINISHED = "finished"
    HANDED_OVER = "handed on"
    ABANDONED = "left to the poller"
    LEASED_BY_OTHER = "attended elsewhere"
    UNKNOWN_MATCH = "unknown to the arena"
