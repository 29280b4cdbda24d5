"""The Euchre service at home: what the cloud runs, over SQLite or the emulated AWS."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.cloud.telemetry import logger, meter
from cardsharp.euchre.api import build_api
from cardsharp.euchre.journal import Journal, LogJournal
from cardsharp.euchre.service import EuchreService
from cardsharp.euchre.store import DealStore
from cardsharp.euchre.strategies import Strategy
from cardsharp.euchre.wiring import build_store
from workbench.cloud.context import Function
from workbench.cloud.http_front import HOST, HttpFront

TIMEOUT = timedelta(seconds=29)
"""Of the function, as template.yaml deploys it."""

IN_MEMORY = f"sqlite:{MEMORY}"


def euchre_function(service: EuchreService) -> Function:
    """The function as it is deployed, around a service."""
    api = build_api(service)
    return Function("euchre", lambda event, _context: api(event), TIMEOUT)


def euchre_front(
    strategy: Strategy,
    store: DealStore | None = None,
    port: int = 0,
    journal: Journal | None = None,
    host: str = HOST,
) -> HttpFront:
    """A front that answers with a strategy; `with` starts and stops it, `run` serves till Ctrl-C.

    Raises:
        ConfigError: the port cannot be used.
    """
    clock = SystemClock()
    kept = store or embedded_store()
    service = EuchreService(kept, strategy, clock, journal or LogJournal(logger, meter))
    return HttpFront(euchre_function(service), port, host)


@contextmanager
def emulated_store() -> Iterator[DealStore]:
    """Yield a store in the emulated AWS, which starts empty and goes with it."""
    # boto3 is slow to import, and not needed for the embedded store.
    from cardsharp.euchre.dynamodb import DynamoDeals  # noqa: PLC0415
    from workbench.cloud.emulator import Emulator  # noqa: PLC0415
    from workbench.cloud.tables import create_table  # noqa: PLC0415

    with Emulator() as emulator:
        client = emulator.client("dynamodb")
        yield DynamoDeals(create_table(client, "EuchreDeals"), SystemClock(), client)


def embedded_store(store: str = IN_MEMORY) -> DealStore:
    """The store that a newcomer plays with: `sqlite:FILE`, by default in this process only."""
    return build_store(store, SystemClock())
