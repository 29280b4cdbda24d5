"""Our side of a match: the real handlers of poller and worker in a home on this machine."""

import os
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from cardsharp.cloud.line import OURS
from cardsharp.cloud.ports import MatchLog
from cardsharp.cloud.telemetry import meter
from cardsharp.deadmansdraw.assembly import Assembly, assemble
from cardsharp.deadmansdraw.settings import Settings
from workbench.cloud.context import Function, LambdaContext, LambdaHandler, Observer
from workbench.cloud.events import Event
from workbench.cloud.home import Home, HomeOptions, ignore, never_mind
from workbench.stage.surroundings import environment


class CloudKind(StrEnum):
    """Where queue and match log live (docs/architecture.md, "Two homes")."""

    EMBEDDED = "embedded"
    EMULATOR = "emulator"


@dataclass(frozen=True, slots=True)
class Cloud:
    """A match log and a queue by the names that settings give them.

    `environment` is what reaching them takes besides; `breath` is how long the queue may be
    waited for at a time.
    """

    store: str
    queue: str
    environment: Mapping[str, str] = field(default_factory=dict)
    breath: timedelta = timedelta(milliseconds=200)

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables that name this cloud."""
        return {"CARDSHARP_STORE": self.store, "CARDSHARP_QUEUE": self.queue, **self.environment}


def embedded_in(file: Path) -> Cloud:
    """The cloud in this process: a queue of its own in memory, the match log in a SQLite file."""
    return Cloud(f"sqlite:{file}", f"memory:{uuid.uuid4()}")


@contextmanager
def opened(kind: CloudKind, folder: Path) -> Iterator[Cloud]:
    """An empty cloud of this kind; the embedded one keeps its file in `folder`."""
    if kind is CloudKind.EMBEDDED:
        yield embedded_in(folder / "stage.db")
        return
    # boto3 is slow to import.
    from workbench.cloud.emulator import Emulator  # noqa: PLC0415

    with Emulator() as emulator:
        stack = emulator.create()
        yield Cloud(
            f"dynamodb:{stack.tables['Matches']}",
            stack.queues["MatchQueue"],
            emulator.environment,
            # SQS waits for whole seconds only.
            timedelta(seconds=1),
        )


POLLER_TIME = timedelta(seconds=100)
"""Longer than a tick and a long poll together, so that one poller takes over from the other."""

WORKER_TIME = timedelta(minutes=15)
"""What Lambda grants a function at most."""


GRACE = timedelta(seconds=3)
"""How long handlers get to end once the arena has hung up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeRhythm:
    """How a home on this machine is run; `observe` sees every invocation that ends.

    `left` hears how many matches are played while no more can be; `listen` is the poller, where it
    is not the usual one.
    """

    at_once: int = 4
    breath: timedelta = timedelta(milliseconds=200)
    worker_time: timedelta = WORKER_TIME
    observe: Observer = field(default=ignore)
    left: Callable[[int], None] = field(default=never_mind)
    listen: LambdaHandler | None = None


class Busy:
    """The worker's handler, and how many of its invocations run now."""

    def __init__(self, handler: LambdaHandler) -> None:
        self._handler = handler
        self._lock = threading.Lock()
        self._running = 0

    def __call__(self, event: Event, context: LambdaContext) -> object:
        """The handler's answer."""
        with self._lock:
            self._running += 1
        try:
            return self._handler(event, context)
        finally:
            with self._lock:
                self._running -= 1

    @property
    def running(self) -> int:
        """How many matches are attended now."""
        return self._running


@dataclass(frozen=True, slots=True)
class Side:
    """Our side while it plays."""

    assembly: Assembly
    home: Home
    busy: Busy

    @property
    def log(self) -> MatchLog:
        """The match log that the worker writes."""
        return self.assembly.log


@contextmanager
def assembled(variables: Mapping[str, str]) -> Iterator[Assembly]:
    """What handlers use under these settings; its match log is closed at the end.

    Raises:
        ConfigError: a setting cannot be used.
    """
    with environment(variables), ExitStack() as stack:
        assembly = assemble(Settings.load(os.environ), meter)
        stack.callback(assemble.cache_clear)
        stack.callback(assembly.log.close)
        yield assembly


@contextmanager
def attending(
    assembly: Assembly, rhythm: HomeRhythm, hang_up: Callable[[], None] | None = None
) -> Iterator[Side]:
    """Our side at work; at the end it starts nothing new and waits for what runs, but not long.

    `hang_up` is called in between; who stops a local arena there frees the poller from its long
    poll. Without it the poller is left to end with this process.
    """
    # What is asked of an arena before goes out sooner without them.
    import poller.app  # noqa: PLC0415 - slow to import
    import worker.app  # noqa: PLC0415 - slow to import

    busy = Busy(worker.app.handler)
    poll = Function("poller", rhythm.listen or poller.app.handler, POLLER_TIME)
    work = Function("worker", busy, rhythm.worker_time)
    options = HomeOptions(
        concurrency=rhythm.at_once,
        breath=rhythm.breath,
        observe=rhythm.observe,
        bears=OURS.bears,
        left=rhythm.left,
    )
    home = Home(poll, work, assembly.queue, assembly.clock, options)
    home.start()
    try:
        yield Side(assembly, home, busy)
    finally:
        home.wind_down()
        if hang_up is not None:
            hang_up()
            home.stop(GRACE)
