"""The service that the environment describes."""

from collections.abc import Mapping
from pathlib import Path

from cardsharp.blef.service import Blef
from cardsharp.blef.store import GameStore
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Clock
from cardsharp.errors import ConfigError

VARIABLE = "BLEF_STORE"


def build_service(environment: Mapping[str, str]) -> Blef:
    """The service over the store that BLEF_STORE names; raises `ConfigError`."""
    clock = SystemClock()
    return Blef(build_store(environment.get(VARIABLE, ""), clock), clock)


def build_store(store: str, clock: Clock) -> GameStore:
    """The store `sqlite:FILE`, in which `~` is the home folder, or `dynamodb:TABLE`."""
    kind, _, place = store.partition(":")
    if kind == "sqlite" and place:
        from cardsharp.blef.sqlite import SqliteGames  # noqa: PLC0415 - not in the cloud
        from cardsharp.cloud.sqlite_file import MEMORY  # noqa: PLC0415 - not in the cloud

        path = place if place == MEMORY else str(Path(place).expanduser())
        return SqliteGames(path, clock)
    if kind == "dynamodb" and place:
        from cardsharp.blef.dynamodb import DynamoGames  # noqa: PLC0415 - boto3 is slow to import

        return DynamoGames(place, clock)
    raise ConfigError(f"{VARIABLE} must be sqlite:FILE or dynamodb:TABLE, not {store!r}.")
