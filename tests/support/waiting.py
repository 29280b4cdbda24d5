"""Waiting in tests for events that must happen, however busy the machine is."""

import threading
import time
from collections.abc import Callable

HANG_SECONDS = 600.0
"""After so many seconds of waiting something hangs. It is no measure of speed, and less than the
`timeout` of pytest, so that whoever has waited says for what."""


def wait_until(condition: Callable[[], bool], interval: float = 0.001) -> None:
    """Return when `condition()` is true; it is called every `interval` seconds.

    A call that keeps another process busy needs an interval long enough for that process to
    work.
    """
    pause, deadline = threading.Event(), time.monotonic() + HANG_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        pause.wait(interval)
