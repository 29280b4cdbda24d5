"""Our side of a match: the real handlers of poller and worker in a home on this machine.

And matches followed to their ends in its match log.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from itertools import islice
from pathlib import Path
from uuid import uuid4

from cardsharp.cloud.line import OURS
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Clock, MatchLog
from cardsharp.cloud.telemetry import meter
from cardsharp.deadmansdraw.assembly import Assembly, assemble
from cardsharp.deadmansdraw.settings import Settings
from cardsharp.errors import CardsharpError
from workbench.cloud.events import Function, LambdaHandler
from workbench.cloud.home import Home, HomeOptions
from workbench.stage.surroundings import environment


class CloudKind(StrEnum):
    """Where queue and match log live (docs/architecture.md, "Two homes")."""

    EMBEDDED = "embedded"
    EMULATOR = "emulator"


def embedded_in(file: Path) -> dict[str, str]:
    """Settings for a queue of its own in this process, and a match log in a SQLite file."""
    return {"CARDSHARP_STORE": f"sqlite:{file}", "CARDSHARP_QUEUE": f"memory:{uuid4()}"}


@contextmanager
def opened(kind: CloudKind, folder: Path) -> Iterator[dict[str, str]]:
    """Settings for an empty cloud of this kind; the embedded one keeps its file in `folder`."""
    if kind is CloudKind.EMBEDDED:
        yield embedded_in(folder / "stage.db")
        return
    # boto3 is slow to import.
    from workbench.cloud.emulator import Emulator  # noqa: PLC0415

    with Emulator() as emulator:
        stack = emulator.create()
        store, queue = f"dynamodb:{stack.tables['Matches']}", stack.queues["MatchQueue"]
        yield {"CARDSHARP_STORE": store, "CARDSHARP_QUEUE": queue, **emulator.environment}


POLLER_TIME = timedelta(seconds=100)  # longer than a tick and a poll: so one takes over
WORKER_TIME = timedelta(minutes=15)  # what Lambda grants a function at most


GRACE = timedelta(seconds=3)  # how long handlers get to end once the arena has hung up


@contextmanager
def assembled(variables: Mapping[str, str]) -> Iterator[Assembly]:
    """What handlers use under these settings, with its log, in a `with`; raises `ConfigError`."""
    with environment(variables), ExitStack() as stack:
        assembly = assemble(Settings.load(os.environ), meter)
        stack.callback(assemble.cache_clear)
        stack.callback(assembly.log.close)
        yield assembly


@contextmanager
def attending(
    offering: Offering,
    options: HomeOptions,
    hang_up: Callable[[], None] | None = None,
    *,
    worker_time: timedelta = WORKER_TIME,
    listen: LambdaHandler | None = None,
) -> Iterator[Home]:
    """Our side at work; at the end it starts nothing new and waits for what runs, but not long.

    `hang_up` is called in between; who stops a local arena there frees the poller from its long
    poll. Without it the poller is left to end with this process. `listen` is the poller, where it
    is not the usual one.
    """
    # What is asked of an arena before goes out sooner without them.
    import poller.app  # noqa: PLC0415 - slow to import
    import worker.app  # noqa: PLC0415 - slow to import

    poll = Function("poller", listen or poller.app.handler, POLLER_TIME)
    work = Function("worker", worker.app.handler, worker_time)
    bearing = replace(options, bears=OURS.bears)
    home = Home(poll, work, offering.queue, offering.clock, bearing).start()
    try:
        yield home
    finally:
        home.wind_down()
        if hang_up is not None:
            hang_up()
            home.stop(GRACE)


GLANCE = timedelta(milliseconds=50)  # how often the match log is looked at
Glance = Callable[[Sequence[str]], None]  # told again and again which matches run


class Follower:
    """Follows matches to their ends; for `limit` it may be that nothing moves in those that run."""

    _EVERY = timedelta(seconds=1)

    def __init__(self, log: MatchLog, clock: Clock, limit: timedelta) -> None:
        self._log, self._clock, self._limit = log, clock, limit
        self._moves: tuple[int, ...] = ()
        self._moved = self._looked = clock.monotonic()

    def as_they_end(
        self,
        matches: Iterable[str],
        at_once: int,
        glance: Glance = lambda _running: None,
        check: Callable[[], None] = lambda: None,
    ) -> Iterator[str]:
        """The ids as matches end, so many `at_once`; `check` or a standstill may raise."""
        running = list(islice(matches := iter(matches), at_once))
        while running:
            self._clock.sleep(GLANCE)
            glance(tuple(running))
            found = [(match_id, self._log.match(match_id)) for match_id in running]
            for match_id in [i for i, match in found if match and match.outcome is not None]:
                running.remove(match_id)
                yield match_id
                running += islice(matches, 1)
            check()
            self._check(running)

    def _check(self, running: Sequence[str]) -> None:
        """Raise `CardsharpError` if the number of moves has stood still for too long."""
        now = self._clock.monotonic()
        if now - self._looked < self._EVERY.total_seconds():
            return
        self._looked = now
        moves = tuple(len(self._log.moves(match_id)) for match_id in running)
        if moves != self._moves:
            self._moves, self._moved = moves, now
        elif now - self._moved > self._limit.total_seconds():
            raise CardsharpError(
                f"No move was made for {self._limit.total_seconds():g} s in {', '.join(running)}."
            )
