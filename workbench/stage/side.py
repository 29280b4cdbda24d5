"""Our side of a match: the real handlers of poller and worker in a home on this machine."""

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from cardsharp.cloud.line import OURS
from cardsharp.cloud.telemetry import meter
from cardsharp.deadmansdraw.assembly import Assembly, assemble
from cardsharp.deadmansdraw.settings import Settings
from workbench.cloud.context import Function, LambdaHandler
from workbench.cloud.home import Home, HomeOptions
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
    assembly: Assembly,
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
    home = Home(poll, work, assembly.queue, assembly.clock, bearing).start()
    try:
        yield home
    finally:
        home.wind_down()
        if hang_up is not None:
            hang_up()
            home.stop(GRACE)
