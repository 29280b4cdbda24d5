"""The two clouds on this machine in which a match can be played (architecture, "Two homes")."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path


class CloudKind(StrEnum):
    """Where queue and match log live."""

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
