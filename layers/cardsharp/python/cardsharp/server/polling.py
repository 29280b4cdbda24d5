"""Wait of a long poll for something that is stored: it is read again until it is ready.

A service on Lambda shares no memory with the process that makes the change, so nothing can wake
it (decision 22). A read costs money, so the pause between two reads grows.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from cardsharp.core.clock import Clock, RemainingTime

T = TypeVar("T")


_MIN_POLL_INTERVAL = timedelta(milliseconds=200)
_MAX_POLL_INTERVAL = timedelta(seconds=1)
_INTERVAL_GROWTH = 1.5


def poll_until(
    current: T,
    is_ready: Callable[[T], bool],
    read: Callable[[], T],
    clock: Clock,
    remaining_wait: RemainingTime,
) -> T:
    """Return the first value that is ready, or the last one that was read when no time remains.

    `current` is the value as it was read last. `remaining_wait` reserves the time of the response.
    """
    pause = _MIN_POLL_INTERVAL
    while not is_ready(current) and (remaining := remaining_wait()) > timedelta():
        clock.sleep(min(pause, remaining))
        pause = min(pause * _INTERVAL_GROWTH, _MAX_POLL_INTERVAL)
        current = read()
    return current
