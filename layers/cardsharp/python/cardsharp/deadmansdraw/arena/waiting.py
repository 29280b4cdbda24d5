"""Long polls: requests that sleep until what they wait for has happened."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from cardsharp.deadmansdraw.arena.lobby import Signal

_NEVER = Signal("never")  # nobody notifies it

Ready = Callable[[], bool]
Gone = Callable[[], Awaitable[None]]
TimeLeft = Callable[[], timedelta]
"""What a waiting request is told: whether it is over, that its client is, and for how long."""


class ClientGone(Exception):
    """The waiting client has hung up; nobody is there to be answered."""


class Waiting(ABC):
    """How an arena lets its clients wait."""

    def __init__(self) -> None:
        self._closed = False
        self.waiting = 0
        """How many clients wait now, of those whom this process answers; read from any thread."""

    @abstractmethod
    async def wait(self, signal: Signal, ready: Ready, gone: Gone, left: TimeLeft) -> None:
        """Wait until `ready()` comes true, at `signal`, in time; or `ClientGone`, by `gone()`."""

    @abstractmethod
    async def pause(self, length: timedelta, gone: Gone) -> None:
        """Let time pass; raises `ClientGone` as well."""

    def close(self) -> None:
        """From now on no wait lasts, or not longer than until its next look."""
        self._closed = True

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1


class Signals(Waiting):
    """Waiting where all matches are in this process: whoever changes one wakes those it concerns.

    Nothing is asked again and again, and only those who are woken look.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: dict[Signal, set[asyncio.Future[None]]] = {}

    def notify(self, signal: Signal) -> None:
        """Wake all who wait for `signal`."""
        for sleeper in self._sleepers.get(signal, ()):
            if not sleeper.done():
                sleeper.set_result(None)

    def close(self) -> None:
        """Wake everybody for good."""
        super().close()
        for signal in list(self._sleepers):
            self.notify(signal)

    async def pause(self, length: timedelta, gone: Gone) -> None:
        """Let time pass; raises `ClientGone` as well."""
        await self.wait(_NEVER, lambda: False, gone, lambda: length)

    async def wait(self, signal: Signal, ready: Ready, gone: Gone, left: TimeLeft) -> None:
        """Wait until `ready()`, asked when notified, or in time; or `ClientGone`, by `gone()`."""

        def over() -> bool:
            return self._closed or ready()

        if over():
            return
        loop = asyncio.get_running_loop()
        deadline = loop.time() + left().total_seconds()
        hung_up = asyncio.ensure_future(gone())
        try:
            while not over() and loop.time() < deadline:
                with self._sleeper(signal) as sleeper:
                    await asyncio.wait(
                        {sleeper, hung_up},
                        timeout=deadline - loop.time(),
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                if hung_up.done():
                    raise ClientGone
        finally:
            hung_up.cancel()

    @contextmanager
    def _sleeper(self, signal: Signal) -> Iterator[asyncio.Future[None]]:
        sleeper = asyncio.get_running_loop().create_future()
        sleepers = self._sleepers.setdefault(signal, set())
        sleepers.add(sleeper)
        try:
            with self._counted():
                yield sleeper
        finally:
            sleepers.discard(sleeper)
            if not sleepers:
                self._sleepers.pop(signal, None)


SECOND = timedelta(seconds=1)  # between two reads, whose number a wait costs
LOOKS = 2  # how often a change is followed up: an index may forget what it has shown


class Polling(Waiting):
    """Waits where matches lie in a table that others write: one small read a second.

    What `look` reads of a signal must change, and only then it is asked whether it is `ready`.

    Who hangs up meanwhile cannot be known here.
    """

    def __init__(self, look: Callable[[Signal], object]) -> None:
        super().__init__()
        self._look = look

    async def wait(self, signal: Signal, ready: Ready, gone: Gone, left: TimeLeft) -> None:
        """Wait until `ready()` comes true in the time `left()`."""
        del gone
        seen: object = None
        looks = LOOKS
        with self._counted():
            while not self._closed:
                now = self._look(signal)
                if now != seen:
                    seen, looks = now, LOOKS
                if looks > 0 and ready():
                    return
                looks -= 1
                rest = min(left(), SECOND)
                if rest <= timedelta(0):
                    break
                await asyncio.sleep(rest.total_seconds())

    async def pause(self, length: timedelta, gone: Gone) -> None:
        """Let time pass."""
        del gone
        with self._counted():
            await asyncio.sleep(length.total_seconds())
