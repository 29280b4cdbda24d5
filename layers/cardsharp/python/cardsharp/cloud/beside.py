"""Doing something again and again while something else takes its time."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from cardsharp.cloud.ports import Clock


@contextmanager
def beside(work: Callable[[], object], every: timedelta, clock: Clock) -> Iterator[None]:
    """Do `work` each `every` in a thread of its own, which has ended when the block ends.

    Lambda freezes a process after its answer, and a frozen thread would wake up too late.
    """
    stop = threading.Event()

    def keep_on() -> None:
        while not clock.wait(stop, every):
            work()

    thread = threading.Thread(target=keep_on, name="beside", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
