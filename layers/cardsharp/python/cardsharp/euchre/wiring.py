"""The service that the environment describes."""

from collections.abc import Mapping
from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.telemetry import logger, meter
from cardsharp.errors import ConfigError
from cardsharp.euchre.journal import LogJournal
from cardsharp.euchre.service import EuchreService
from cardsharp.euchre.store import DealStore
from cardsharp.euchre.strategies import build

STORE = "EUCHRE_STORE"
STRATEGY = "EUCHRE_STRATEGY"
DEFAULT_STRATEGY = "pimc"


def build_service(environment: Mapping[str, str]) -> EuchreService:
    """The service of the store that EUCHRE_STORE and the strategy that EUCHRE_STRATEGY names.

    Raises:
        ConfigError: there is no such store or strategy.
    """
    clock = SystemClock()
    store = build_store(environment.get(STORE, ""), clock)
    strategy = build(environment.get(STRATEGY) or DEFAULT_STRATEGY, clock.monotonic)
    return EuchreService(store, strategy, clock, LogJournal(logger, meter))


def build_store(store: str, clock: Clock) -> DealStore:
    """The store `sqlite:FILE`, in which `~` is the home folder, or `dynamodb:TABLE`."""
    kind, _, place = store.partition(":")
    if kind == "sqlite" and place:
        from cardsharp.cloud.sqlite_file import MEMORY  # noqa: PLC0415 - not in the cloud
        from cardsharp.euchre.sqlite import SqliteDeals  # noqa: PLC0415 - not in the cloud

        path = place if place == MEMORY else str(Path(place).expanduser())
        return SqliteDeals(path, clock)
    if kind == "dynamodb" and place:
        from cardsharp.euchre.dynamodb import DynamoDeals  # noqa: PLC0415 - boto3 is slow to import

        return DynamoDeals(place, clock)
    raise ConfigError(f"{STORE} must be sqlite:FILE or dynamodb:TABLE, not {store!r}.")
