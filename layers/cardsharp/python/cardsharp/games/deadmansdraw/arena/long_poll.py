"""Long polls: requests that wait until an event has happened."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from cardsharp.core.clock import RemainingTime
from cardsharp.games.deadmansdraw.arena.storage.match_repository import WaitTopic

_NEVER_TOPIC = WaitTopic("never")  # nobody notifies it

IsReady = Callable[[], bool]  # True once the wait is over
WaitForDisconnect = Callable[[], Awaitable[None]]  # returns once the client has disconnected


class ClientDisconnected(Exception):
    """The waiting client has disconnected, so no response can be sent."""


class LongPoll(ABC):
    """Waiting of an arena's clients for a change."""

    def __init__(self) -> None:
        self._closed = False
        self.waiting = 0
        """Number of clients of this process that wait now; may be read from any thread."""

    @abstractmethod
    async def wait(
        self,
        topic: WaitTopic,
        is_ready: IsReady,
        wait_for_disconnect: WaitForDisconnect,
        remaining_wait: RemainingTime,
    ) -> None:
        """Wait until `is_ready()` is True or the time is up.

        Changes of `topic` trigger the check. Raises `ClientDisconnected` once `disconnected()`
        returns.
        """

    @abstractmethod
    async def sleep(self, duration: timedelta, wait_for_disconnect: WaitForDisconnect) -> None:
        """Wait for `duration`; raise `ClientDisconnected` as `wait` does."""

    def close(self) -> None:
        """End all waits, at once or at their next check; later waits end at once."""
        self._closed = True

    @contextmanager
    def _count_waiting(self) -> Iterator[None]:
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1


class InProcessLongPoll(LongPoll):
    """Long poll for matches in this process: a change wakes the requests that wait for it.

    There is no polling, and only the requests that are woken check their condition.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: dict[WaitTopic, set[asyncio.Future[None]]] = {}

    def notify(self, topic: WaitTopic) -> None:
        """Wake all requests that wait for `topic`."""
        for sleeper in self._sleepers.get(topic, ()):
            if not sleeper.done():
                sleeper.set_result(None)

    def close(self) -> None:
        """Wake all requests; later ones do not wait."""
        super().close()
        for signal in list(self._sleepers):
            self.notify(signal)

    async def sleep(self, duration: timedelta, wait_for_disconnect: WaitForDisconnect) -> None:
        """Wait for `duration`; raise `ClientDisconnected` as `wait` does."""
        await self.wait(_NEVER_TOPIC, lambda: False, wait_for_disconnect, lambda: duration)

    async def wait(
        self,
        topic: WaitTopic,
        is_ready: IsReady,
        wait_for_disconnect: WaitForDisconnect,
        remaining_wait: RemainingTime,
    ) -> None:
        """Wait until `is_ready()` is True, checked at each notification, or the time is up.

        Raises `ClientDisconnected` once `disconnected()` returns.
        """

        def over() -> bool:
            return self._closed or is_ready()

        if over():
            return
        loop = asyncio.get_running_loop()
        deadline = loop.time() + remaining_wait().total_seconds()
        hung_up = asyncio.ensure_future(wait_for_disconnect())
        try:
            # The future is registered before `over()` could miss a change: there is no `await`
            # between the check and the registration, so no notification comes in between. Each
            # round needs a new future, because a future can be done only once.
            while not over() and loop.time() < deadline:
                with self._register_sleeper(topic) as sleeper:
                    await asyncio.wait(
                        {sleeper, hung_up},
                        timeout=deadline - loop.time(),
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                if hung_up.done():
                    raise ClientDisconnected
        finally:
            hung_up.cancel()

    @contextmanager
    def _register_sleeper(self, topic: WaitTopic) -> Iterator[asyncio.Future[None]]:
        sleeper = asyncio.get_running_loop().create_future()
        sleepers = self._sleepers.setdefault(topic, set())
        sleepers.add(sleeper)
        try:
            with self._count_waiting():
                yield sleeper
        finally:
            sleepers.discard(sleeper)
            if not sleepers:
                self._sleepers.pop(topic, None)


ARENA_POLL_INTERVAL = timedelta(seconds=1)  # between two reads; each read costs money
READS_PER_CHANGE = 2  # checks after a change, because an index may return an older state again


class TableLongPoll(LongPoll):
    """Long poll for matches in a table that other processes write: one small read a second.

    The condition is checked only after the value that `read_topic` returns for the topic has
    changed. It cannot be detected here that a client has disconnected.
    """

    def __init__(self, read_topic: Callable[[WaitTopic], object]) -> None:
        super().__init__()
        self._read_topic = read_topic

    async def wait(
        self,
        topic: WaitTopic,
        is_ready: IsReady,
        wait_for_disconnect: WaitForDisconnect,
        remaining_wait: RemainingTime,
    ) -> None:
        """Wait until `is_ready()` is True or the time is up.

        The table is read once in `ARENA_POLL_INTERVAL`. `is_ready()` is checked only after a
        change,
        and `READS_PER_CHANGE` times, because an index may return an older state once more.
        """
        del wait_for_disconnect
        last_state: object = None
        looks = READS_PER_CHANGE
        with self._count_waiting():
            while not self._closed:
                current = self._read_topic(topic)
                if current != last_state:
                    last_state, looks = current, READS_PER_CHANGE
                if looks > 0 and is_ready():
                    return
                looks -= 1
                rest = min(remaining_wait(), ARENA_POLL_INTERVAL)
                if rest <= timedelta(0):
                    break
                await asyncio.sleep(rest.total_seconds())

    async def sleep(self, duration: timedelta, wait_for_disconnect: WaitForDisconnect) -> None:
        """Wait for `duration`; a disconnected client is not noticed."""
        del wait_for_disconnect
        with self._count_waiting():
            await asyncio.sleep(duration.total_seconds())
