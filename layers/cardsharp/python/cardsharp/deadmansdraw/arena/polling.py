"""Long polls where matches lie in a table that others write: one small read a second."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from cardsharp.deadmansdraw.arena.lobby import Signal

if TYPE_CHECKING:
    from collections.abc import Iterator

SECOND = timedelta(seconds=1)
"""Between two reads: what a wait costs is proportional to their number."""

LOOKS = 2
"""How often a change is followed up: what an index shows once, it may not show the next time."""


class Polling:
    """Waits until what `look` reads of a signal changes, and only then asks whether it is `ready`.

    Who hangs up meanwhile cannot be known here.
    """

    def __init__(self, look: Callable[[Signal], object], every: timedelta = SECOND) -> None:
        self._look = look
        self._every = every
        self._closed = False
        self.waiting = 0
        """How many clients wait now, of those whom this process answers."""

    async def wait(
        self,
        signal: Signal,
        ready: Callable[[], bool],
        gone: Callable[[], Awaitable[None]],
        left: Callable[[], timedelta],
    ) -> bool:
        """Whether `ready()` came true in the time `left()`."""
        del gone
        with self._counted():
            return await self._polled(signal, ready, left)

    async def pause(self, length: timedelta, gone: Callable[[], Awaitable[None]]) -> None:
        """Let time pass."""
        del gone
        with self._counted():
            await asyncio.sleep(length.total_seconds())

    def close(self) -> None:
        """Let no wait last longer than until its next read."""
        self._closed = True

    async def _polled(
        self, signal: Signal, ready: Callable[[], bool], left: Callable[[], timedelta]
    ) -> bool:
        seen: object = None
        looks = LOOKS
        while not self._closed:
            now = self._look(signal)
            if now != seen:
                seen, looks = now, LOOKS
            if looks > 0 and ready():
                return True
            looks -= 1
            rest = min(left(), self._every)
            if rest <= timedelta(0):
                break
            await asyncio.sleep(rest.total_seconds())
        return False

    @contextmanager
    def _counted(self) -> "Iterator[None]":
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1
