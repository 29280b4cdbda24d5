"""Which sockets a feed's name means: `memory:NAME`, or the address of a WebSocket API's stage."""

from cardsharp.cloud import memory_sockets
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sockets import Feed
from cardsharp.errors import ConfigError

FEED = "CARDSHARP_FEED"


def watched(place: str, store: str, clock: Clock) -> Feed:
    """The feed of that name; with sockets elsewhere, `store` keeps who watches.

    Raises:
        ConfigError: it names none, or the store is of this machine.
    """
    kind, _, name = place.partition(":")
    if kind == "memory" and name:
        return Feed(memory_sockets.MemoryWatchers(), memory_sockets.named(name), clock)
    where, _, table = store.partition(":")
    if kind in {"http", "https"} and where == "dynamodb":
        # boto3 is slow to import, and not needed at home.
        from cardsharp.cloud.dynamodb_watchers import DynamoWatchers  # noqa: PLC0415
        from cardsharp.cloud.gateway_sockets import GatewaySockets  # noqa: PLC0415

        return Feed(DynamoWatchers(table, clock), GatewaySockets(place), clock)
    raise ConfigError(
        f"{FEED} must be memory:NAME, or with a store in DynamoDB the address of a WebSocket "
        f"API's stage, not {place!r}."
    )
