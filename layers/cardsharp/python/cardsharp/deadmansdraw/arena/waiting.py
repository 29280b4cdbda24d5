"""Long polls: requests that sleep until what they wait for has happened.

Nothing is asked again and again: whoever changes a match notifies those who wait for it, and only
they look.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class ClientGone(Exception):
    """The waiting client has hung up; nobody is there to be answered."""


class Signals:
    """Those who sleep until what they wait for, named by a key, is notified."""

    def __init__(self) -> None:
        self._sleepers: dict[Hashable, set[asyncio.Future[None]]] = {}
        self._closed = False
        self.waiting = 0
        """How many clients sleep now; may be read from any thread."""

    def notify(self, key: Hashable) -> None:
        """Wake all who wait for `key`."""
        for sleeper in self._sleepers.get(key, ()):
            if not sleeper.done():
                sleeper.set_result(None)

    def close(self) -> None:
        """Wake everybody for good: from now on no wait lasts."""
        self._closed = True
        for key in list(self._sleepers):
            self.notify(key)

    async def wait(
        self,
        key: Hashable,
        ready: Callable[[], bool],
        gone: Callable[[], Awaitable[None]],
        limit: timedelta,
    ) -> bool:
        """Whether `ready()` came true within `limit`; it is looked at whenever `key` is notified.

        Raises:
            ClientGone: `gone()` returned first.
        """

        def over() -> bool:
            return self._closed or ready()

        if over():
            return ready()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit.total_seconds()
        hung_up = asyncio.ensure_future(gone())
        try:
            while not over() and loop.time() < deadline:
                with self._sleeper(key) as sleeper:
                    await asyncio.wait(
                        {sleeper, hung_up},
                        timeout=deadline - loop.time(),
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                if hung_up.done():
                    raise ClientGone
        finally:
            hung_up.cancel()
        return ready()

    @contextmanager
    def _sleeper(self, key: Hashable) -> "Iterator[asyncio.Future[None]]":
        sleeper = asyncio.get_running_loop().create_future()
        sleepers = self._sleepers.setdefault(key, set())
        sleepers.add(sleeper)
        self.waiting += 1
        try:
            yield sleeper
        finally:
            self.waiting -= 1
            sleepers.discard(sleeper)
            if not sleepers:
                self._sleepers.pop(key, None)
