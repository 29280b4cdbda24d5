"""Who watches what, in a DynamoDB table that has other things too.

| pk                | sk         | attributes                                     |
|-------------------|------------|------------------------------------------------|
| watch#TOPIC       | CONNECTION | watcher_key, caller_key, since_at, expires_at  |
| socket#CONNECTION | topic      | topic_name, expires_at                         |

expires_at, the table's time to live, is in seconds.
Actions used: DeleteItem, GetItem, PutItem, Query.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cardsharp.cloud.codec import from_micros
from cardsharp.cloud.dynamodb_items import key, moment, number, text
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sockets import LIFE, Watcher

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

    from cardsharp.cloud.dynamodb_items import Value


class DynamoWatchers:
    """`Watchers` in the table of that name, in the region of AWS_DEFAULT_REGION."""

    def __init__(self, table: str, clock: Clock, client: "DynamoDBClient | None" = None) -> None:
        self._table = DynamoTable(table, client)
        self._clock = clock

    def add(self, topic: str, watcher: Watcher) -> None:
        """Have a connection watch a topic, its only one."""
        expires = number(int((watcher.since + LIFE).timestamp()))
        # Whoever reads the first finds the second, so that no connection is forgotten by halves.
        named = {"topic_name": text(topic), "expires_at": expires}
        self._table.put({**_topic_key(watcher.connection), **named})
        told = {
            "watcher_key": text(watcher.key),
            "caller_key": text(watcher.caller),
            "since_at": moment(watcher.since),
        }
        watch = _watch_key(topic, watcher.connection)
        self._table.put({**watch, **told, "expires_at": expires})

    def of(self, topic: str) -> Sequence[Watcher]:
        """Those who watch a topic as of now."""
        now = self._clock.now()
        items = self._table.under(f"watch#{topic}", "")
        watchers = (
            Watcher(
                connection=item["sk"]["S"],
                key=item["watcher_key"]["S"],
                since=from_micros(int(item["since_at"]["N"])),
                # Not with one of an earlier version.
                caller=item.get("caller_key", text(""))["S"],
            )
            for item in items
        )
        return [one for one in watchers if one.since + LIFE > now]

    def remove(self, connection: str) -> None:
        """Forget a connection."""
        item = self._table.get(_topic_key(connection))
        if item is not None:
            self._table.delete(_watch_key(item["topic_name"]["S"], connection))
            self._table.delete(_topic_key(connection))


def _watch_key(topic: str, connection: str) -> "dict[str, Value]":
    return key(f"watch#{topic}", connection)


def _topic_key(connection: str) -> "dict[str, Value]":
    return key(f"socket#{connection}", "topic")
