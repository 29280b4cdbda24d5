"""How a worker's time with a match ended, whatever the game."""

from enum import StrEnum


class Attended(StrEnum):
    """How an attendance ended."""

    FINISHED = "finished"
    HANDED_ON = "handed on"
    LEFT = "left to the poller"
    ELSEWHERE = "attended elsewhere"
    UNKNOWN = "unknown to the arena"
