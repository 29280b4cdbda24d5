"""Feeds by their setting: `memory:NAME`, or the address of a WebSocket API's stage."""

from cardsharp.core.clock import Clock
from cardsharp.errors import ConfigError
from cardsharp.server.websocket_feed import Feed, get_in_memory_connections, migrate_v02_body
from cardsharp.store.factories import StoreFactory
from cardsharp.store.locations import dynamodb_table_name

FEED_VARIABLE = "CARDSHARP_FEED"

SUBSCRIBER_STORE = StoreFactory(
    lambda keep, _: keep, "CARDSHARP_STORE", dynamodb_options={"decode_legacy": migrate_v02_body}
)


def build_feed(location: str, store: str, clock: Clock) -> Feed:
    """Return the feed at `location`; `store` stores its subscribers. Raises `ConfigError`."""
    kind, _, name = location.partition(":")
    if kind == "memory" and name:
        return Feed(
            SUBSCRIBER_STORE.open("sqlite::memory:", clock), get_in_memory_connections(name), clock
        )
    table = dynamodb_table_name(store)
    if kind in {"http", "https"} and table is not None:
        # boto3 is slow to import, and not needed at home.
        from cardsharp.server.api_gateway_connections import ApiGatewayConnections  # noqa: PLC0415

        return Feed(
            SUBSCRIBER_STORE.open_dynamodb_store(table, clock),
            ApiGatewayConnections(location),
            clock,
        )
    raise ConfigError(
        f"{FEED_VARIABLE} must be memory:NAME, or with a store in DynamoDB the address of "
        "a WebSocket "
        f"API's stage, not {location!r}."
    )
