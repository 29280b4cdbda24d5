"""One bot attends an arena, and another on the same machine stands by to go on when it dies.

Both have one match log. The one that attends holds a lock, which the system gives back however it
ends. The other looks at the leases meanwhile, as every poller does, so a match whose worker died is
played on at once; it asks the arena for matches only when the lock is its own.
"""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import IO

import poller.app
from cardsharp.cloud.private import make_private
from cardsharp.deadmansdraw.assembly import Assembly
from workbench.cloud.context import LambdaContext, LambdaHandler
from workbench.cloud.events import Event

_SQLITE = "sqlite:"


class StandbyPlace:
    """The place at the arena that one of several bots has; without a file nobody else is seen."""

    def __init__(self, file: IO[bytes] | None) -> None:
        self._file = file

    def take(self) -> bool:
        """Whether it is ours, taken now if nobody has it."""
        try:
            if self._file is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def place_at(assembly: Assembly) -> Iterator[StandbyPlace]:
    """The place of whoever attends that arena as that player with that match log."""
    settings = assembly.settings
    if not settings.store.startswith(_SQLITE):
        yield StandbyPlace(None)
        return
    who = sha256(f"{settings.arena_url} {assembly.player_id}".encode()).hexdigest()[:8]
    store = Path(settings.store.removeprefix(_SQLITE)).expanduser()
    lock = store.with_name(f"{store.name}.{who}.lock")
    make_private(lock)
    with lock.open("ab") as file:
        yield StandbyPlace(file)


def standing_by(
    assembly: Assembly, place: StandbyPlace, taken: Callable[[], None]
) -> LambdaHandler:
    """A poller for whoever came second: it looks at the leases until the place is free.

    Then `taken` is called, and from that moment it listens as any other.
    """
    waits = True

    def handler(event: Event, context: LambdaContext) -> object:
        nonlocal waits

        def left() -> timedelta:
            if place.take():
                return timedelta(0)
            return timedelta(milliseconds=context.get_remaining_time_in_millis())

        if waits:
            assembly.offering.watch(assembly.settings.watch, left)
            if not place.take():
                return {"offered": 0}
            waits = False
            taken()
        return poller.app.handler(event, context)

    return handler
