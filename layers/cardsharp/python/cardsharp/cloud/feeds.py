"""Which sockets a feed's name means: `memory:NAME`, or the address of a WebSocket API's stage."""

from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sockets import Feed, earlier, named
from cardsharp.errors import ConfigError
from cardsharp.keep.stores import Store

FEED = "CARDSHARP_FEED"

WATCHERS = Store(lambda keep, _: keep, "CARDSHARP_STORE", table={"earlier": earlier})


def watched(place: str, store: str, clock: Clock) -> Feed:
    """The feed of that name; elsewhere `store` keeps who watches. Raises `ConfigError`."""
    kind, _, name = place.partition(":")
    if kind == "memory" and name:
        return Feed(WATCHERS.open("sqlite::memory:", clock), named(name), clock)
    where, _, table = store.partition(":")
    if kind in {"http", "https"} and where == "dynamodb":
        # boto3 is slow to import, and not needed at home.
        from cardsharp.cloud.gateway_sockets import GatewaySockets  # noqa: PLC0415

        return Feed(WATCHERS.in_table(table, clock), GatewaySockets(place), clock)
    raise ConfigError(
        f"{FEED} must be memory:NAME, or with a store in DynamoDB the address of a WebSocket "
        f"API's stage, not {place!r}."
    )
