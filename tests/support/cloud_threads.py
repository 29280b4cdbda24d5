"""Real parallel callers."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def at_once(count: int, work: Callable[[int], Result]) -> list[Result]:
    """Return what `work(0)` to `work(count - 1)` return when all begin together."""
    barrier = threading.Barrier(count, timeout=30)

    def start(number: int) -> Result:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))
