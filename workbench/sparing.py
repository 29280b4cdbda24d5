"""Logs that a stranger cannot fill: what repeats is written once a minute, and old lines end."""

import logging
import time
from collections.abc import Callable

from cardsharp.cloud.telemetry import LOGGER

PAUSE = 60.0  # seconds between two lines of the same text

_MANY = 1_000


class Sparing(logging.Filter):
    """Lets a warning through once a minute, then with how often it came; our logger's always."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._said: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; all handlers that ask are told the same."""
        if record.levelno < logging.WARNING or record.name == LOGGER:
            return True
        known = record.__dict__  # where `extra` adds to it, too
        if "spared" in known:
            return not known["spared"]
        now, key = self._clock(), (record.name, record.getMessage())
        since, times = self._said.get(key, (now - PAUSE, 0))
        known["spared"] = now - since < PAUSE
        if known["spared"]:
            self._said[key] = since, times + 1
            return False
        if len(self._said) >= _MANY:
            self._said = {one: said for one, said in self._said.items() if now - said[0] < PAUSE}
        self._said[key] = now, 0
        if times:
            record.msg, record.args = f"{key[1]} ({times} times more in the meantime)", ()
        return True
