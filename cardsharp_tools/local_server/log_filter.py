"""Logs that a stranger cannot fill: what repeats is written once a minute, and old lines end."""

import logging
import time
from collections.abc import Callable

from cardsharp.aws.telemetry import LOGGER

LOG_REPEAT_SECONDS = 60.0  # seconds between two lines of the same text

_MANY = 1_000


class RepeatFilter(logging.Filter):
    """Log filter that passes a repeated warning once a minute, with its count."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._entries: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the record is to be written; all handlers get the same answer."""
        if record.levelno < logging.WARNING or record.name == LOGGER:
            return True
        attributes = record.__dict__  # where `extra` adds to it, too
        if "spared" in attributes:
            return not attributes["spared"]
        current_time, key = self._clock(), (record.name, record.getMessage())
        since, times = self._entries.get(key, (current_time - LOG_REPEAT_SECONDS, 0))
        attributes["spared"] = current_time - since < LOG_REPEAT_SECONDS
        if attributes["spared"]:
            self._entries[key] = since, times + 1
            return False
        if len(self._entries) >= _MANY:
            self._entries = {
                entry_key: entry
                for entry_key, entry in self._entries.items()
                if current_time - entry[0] < LOG_REPEAT_SECONDS
            }
        self._entries[key] = current_time, 0
        if times:
            record.msg, record.args = f"{key[1]} ({times} times more in the meantime)", ()
        return True
