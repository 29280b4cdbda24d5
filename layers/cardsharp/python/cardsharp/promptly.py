"""A decision within its time, from code that may be late or broken."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Decided(Generic[D]):
    """A decision, how long it took, and what went wrong where a safe one replaced it."""

    decision: D
    took: timedelta = timedelta(0)
    fault: str | None = None


def decided(
    limit: timedelta,
    monotonic: Callable[[], float],
    work: Callable[[], D | str],
    safe: Callable[[str], D],
) -> Decided[D]:
    """What `work` decides within its time, or the safe decision for what was wrong with it."""
    began = monotonic()
    found = within(limit, work)
    fault = found if isinstance(found, str) else None
    decision = safe(found) if isinstance(found, str) else found
    return Decided(decision, timedelta(seconds=monotonic() - began), fault)


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
            answers.put(broken(error))

    threading.Thread(target=run, name="decision", daemon=True).start()
    try:
        return answers.get(timeout=limit.total_seconds())
    except Empty:
        return f"no decision within {limit.total_seconds():g} s"


def broken(error: Exception) -> str:
    """What was wrong with a strategy that raised this."""
    return f"the strategy failed: {type(error).__name__}: {error}"
