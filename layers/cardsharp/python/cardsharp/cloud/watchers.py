"""Who watches what: a codec over the port of what is kept (`cardsharp.keep.port`).

| partition | sort | body |
|---|---|---|
| watch#TOPIC | CONNECTION | `key`, `caller`, and `since` in microseconds |
| socket#CONNECTION | topic | `topic` |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardsharp.cloud.codec import from_micros, to_micros
from cardsharp.cloud.sockets import LIFE, Watcher
from cardsharp.keep.port import Delete, Keep, Key, Put

if TYPE_CHECKING:
    from cardsharp.cloud.dynamodb_items import Item


@dataclass(frozen=True, slots=True)
class Watchers:
    """Who watches what; every method raises `StoreError` if it fails. None is kept for ever."""

    keep: Keep

    def add(self, topic: str, watcher: Watcher) -> None:
        """Have a connection watch a topic, its only one."""
        end = watcher.since + LIFE
        told = {"key": watcher.key, "caller": watcher.caller, "since": to_micros(watcher.since)}
        # Whoever reads the first finds the second, so that no connection is forgotten by halves.
        self.keep.commit(Put(_named(watcher.connection), {"topic": topic}, None, end))
        self.keep.commit(Put(_watch(topic, watcher.connection), told, None, end))

    def of(self, topic: str) -> Sequence[Watcher]:
        """Those who watch a topic as of now."""
        return [
            Watcher(
                connection=found.key.sort,
                key=str(found.body["key"]),
                since=from_micros(int(str(found.body["since"]))),
                caller=str(found.body["caller"]),
            )
            for found in self.keep.range(f"watch#{topic}")
        ]

    def remove(self, connection: str) -> None:
        """Forget a connection; quiet if it is not known."""
        found = self.keep.get(_named(connection))
        if found is not None:
            self.keep.commit(Delete(_watch(str(found.body["topic"]), connection), None))
            self.keep.commit(Delete(_named(connection), None))


def earlier(item: "Item") -> Mapping[str, object]:
    """The body of what version 0.2 kept: an attribute each, and none for the first ones' caller."""
    if "topic_name" in item:
        return {"topic": item["topic_name"]["S"]}
    caller = item.get("caller_key", {"S": ""})["S"]
    return {"key": item["watcher_key"]["S"], "caller": caller, "since": item["since_at"]["N"]}


def _watch(topic: str, connection: str) -> Key:
    return Key(f"watch#{topic}", connection)


def _named(connection: str) -> Key:
    return Key(f"socket#{connection}", "topic")
