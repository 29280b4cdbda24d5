"""An answer within its time, from code that may be late or broken."""

import threading
from collections.abc import Callable
from datetime import timedelta
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def within(limit: timedelta, work: Callable[[], T | str]) -> T | str:
    """What `work` returns, or what was wrong with it.

    It runs in a thread of its own, which is left behind if it is late: a thread cannot be
    stopped, and as a daemon it keeps no process from ending.
    """
    answers: SimpleQueue[T | str] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(work())
        except Exception as error:  # noqa: BLE001 - a strategy is anybody's code; the turn must go on
            answers.put(f"the strategy failed: {type(error).__name__}: {error}")

    threading.Thread(target=run, name="decision", daemon=True).start()
    try:
        return answers.get(timeout=limit.total_seconds())
    except Empty:
        return f"no decision within {limit.total_seconds():g} s"
