"""Repetition of a change to something stored that another request has changed meanwhile."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import ParamSpec, TypeVar

from cardsharp.errors import WriteConflict

P = ParamSpec("P")
T = TypeVar("T")


def retry_on_conflict(
    max_attempts: int, pause: Callable[[int], None] = lambda _: None
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that repeats a change after a `WriteConflict`, as if it came later.

    The change must read again what it changes. `pause` is called before each repetition, with
    the number of the attempts so far. The conflict of the last attempt is raised.
    """

    def decorate(change: Callable[P, T]) -> Callable[P, T]:
        @wraps(change)
        def change_with_retries(*args: P.args, **kwargs: P.kwargs) -> T:
            for attempt_count in range(1, max_attempts):
                with suppress(WriteConflict):
                    return change(*args, **kwargs)
                pause(attempt_count)
            return change(*args, **kwargs)

        return change_with_retries

    return decorate
