"""Waiting in tests for events that must come: as long as it takes, even on a busy machine."""

import threading
import time
from collections.abc import Callable

HANG_SECONDS = 600.0
"""After so many seconds of waiting something hangs. It is no measure of speed, and less than the
`timeout` of pytest, so that whoever has waited says for what."""


def until(happened: Callable[[], bool], interval: float = 0.001) -> None:
    """Return when `happened()` is true; it is called every `interval` seconds.

    A call that keeps another process busy needs an interval long enough for that process to work.
    """
    pause, deadline = threading.Event(), time.monotonic() + HANG_SECONDS
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        pause.wait(interval)
