"""Which sockets a feed's name means: `memory:NAME`, or the address of a WebSocket API's stage."""

from typing import TYPE_CHECKING

from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sockets import Feed, Watchers, earlier, named
from cardsharp.errors import ConfigError

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

FEED = "CARDSHARP_FEED"


def watched(place: str, store: str, clock: Clock) -> Feed:
    """The feed of that name; elsewhere `store` keeps who watches. Raises `ConfigError`."""
    kind, _, name = place.partition(":")
    if kind == "memory" and name:
        return Feed(memory_watchers(clock), named(name), clock)
    where, _, table = store.partition(":")
    if kind in {"http", "https"} and where == "dynamodb":
        # boto3 is slow to import, and not needed at home.
        from cardsharp.cloud.gateway_sockets import GatewaySockets  # noqa: PLC0415

        return Feed(dynamo_watchers(table, clock), GatewaySockets(place), clock)
    raise ConfigError(
        f"{FEED} must be memory:NAME, or with a store in DynamoDB the address of a WebSocket "
        f"API's stage, not {place!r}."
    )


def memory_watchers(clock: Clock) -> Watchers:
    """Those of this process."""
    from cardsharp.cloud.sqlite_file import MEMORY  # noqa: PLC0415 - not needed in the cloud
    from cardsharp.keep.sqlite import SqliteKeep  # noqa: PLC0415 - as above

    return Watchers(SqliteKeep(MEMORY, clock))


def dynamo_watchers(table: str, clock: Clock, client: "DynamoDBClient | None" = None) -> Watchers:
    """Those in the table of that name, which has other things too."""
    from cardsharp.keep.dynamodb import DynamoKeep  # noqa: PLC0415 - boto3 is slow to import

    return Watchers(DynamoKeep(table, clock, client, earlier=earlier))
