"""Real parallel callers."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def at_once(count: int, deed: Callable[[int], Result]) -> list[Result]:
    """Return what `deed(0)` to `deed(count - 1)` return when all begin together."""
    barrier = threading.Barrier(count, timeout=30)

    def start(number: int) -> Result:
        barrier.wait()
        return deed(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))
