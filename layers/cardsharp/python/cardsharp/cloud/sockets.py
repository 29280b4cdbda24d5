"""Telling those who watch over a WebSocket: the ports, and a feed that no dead watcher stops.

Who watches what is kept by the port of what is kept (`cardsharp.keep.port`).

| partition | sort | body |
|---|---|---|
| watch#TOPIC | CONNECTION | `key`, `caller`, and `since` in microseconds |
| socket#CONNECTION | topic | `topic` |
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, cached_property
from typing import Protocol

from cardsharp.cloud.codec import from_micros, to_micros
from cardsharp.cloud.dynamodb_items import Item
from cardsharp.cloud.ports import Clock
from cardsharp.errors import CardsharpError
from cardsharp.keep.port import Delete, Keep, Key, Put

LIFE = timedelta(hours=2, minutes=10)  # of a watcher; API Gateway ends a connection after two
MOST_WATCHERS = 200  # of one topic
MOST_OF_ONE = 50  # of one topic from one caller, so that nobody can keep all others away
SETTLING = timedelta(seconds=10)  # a new connection may count as gone until its handshake is over
_AT_ONCE = 16
_log = logging.getLogger("cardsharp.feed")


class Gone(CardsharpError):
    """A connection that is no more, or that takes nothing."""


@dataclass(frozen=True, slots=True)
class Watcher:
    """A connection that watches a topic; by `key` the topic's owner knows what it may see.

    `caller` is a digest of where it comes from, "" for this machine.
    """

    connection: str
    key: str
    since: datetime
    caller: str = ""


class Sockets(Protocol):
    """Open connections, wherever they end."""

    def send(self, connection: str, text: str) -> None:
        """Send a text within a second or so; raises `Gone` where that is not possible."""

    def close(self, connection: str) -> None:
        """End a connection, so that its client knows; quiet if it is gone."""


def earlier(item: Item) -> Mapping[str, object]:
    """The body of what version 0.2 kept: an attribute each, and none for the first ones' caller."""
    if "topic_name" in item:
        return {"topic": item["topic_name"]["S"]}
    caller = item.get("caller_key", {"S": ""})["S"]
    return {"key": item["watcher_key"]["S"], "caller": caller, "since": item["since_at"]["N"]}


def _watch(topic: str, connection: str) -> Key:
    return Key(f"watch#{topic}", connection)


def _named(connection: str) -> Key:
    return Key(f"socket#{connection}", "topic")


@dataclass(frozen=True)
class Feed:
    """Tells those who watch what happens; whoever cannot be told is dropped, and nobody waits.

    None is kept for ever. All but `tell` raises `StoreError` if it fails.
    """

    keep: Keep
    sockets: Sockets
    clock: Clock
    most: int = field(default=MOST_WATCHERS)
    most_of_one: int = field(default=MOST_OF_ONE)

    def watch(self, topic: str, connection: str, key: str, caller: str = "") -> bool:
        """Have a connection watch a topic, its only one; False where too many do already."""
        watching, now = self.watchers(topic), self.clock.now()
        same = sum(one.caller == caller for one in watching) if caller else 0
        if len(watching) >= self.most or same >= self.most_of_one:
            return False
        told = {"key": key, "caller": caller, "since": to_micros(now)}
        # Whoever reads the first finds the second, so that no connection is forgotten by halves.
        self.keep.commit(Put(_named(connection), {"topic": topic}, None, now + LIFE))
        self.keep.commit(Put(_watch(topic, connection), told, None, now + LIFE))
        return True

    def watchers(self, topic: str) -> Sequence[Watcher]:
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

    def leave(self, connection: str) -> None:
        """Forget a connection; quiet if it is not known."""
        found = self.keep.get(_named(connection))
        if found is not None:
            self.keep.commit(Delete(_watch(str(found.body["topic"]), connection), None))
            self.keep.commit(Delete(_named(connection), None))

    def tell(self, topic: str, texts: Callable[[Watcher], Sequence[str]]) -> None:
        """Send to each watcher of a topic its own texts, in order; never raises.

        What was done is done, whether or not it can be told.
        """
        try:
            watchers = self.watchers(topic)
            # A function stands still once it has answered: so all are told, then a fault is seen.
            for told in wait([self._pool.submit(self._send, one, texts) for one in watchers]).done:
                told.result()
        except Exception as error:  # noqa: BLE001 - whoever made the change is to get its answer
            # Without the error's text: it might quote a hand.
            _log.warning("not everybody is told", extra={"error": type(error).__name__})

    def _send(self, watcher: Watcher, texts: Callable[[Watcher], Sequence[str]]) -> None:
        try:
            for text in texts(watcher):
                self.sockets.send(watcher.connection, text)
        except Gone:
            if self.clock.now() - watcher.since > SETTLING:
                self.sockets.close(watcher.connection)
                self.leave(watcher.connection)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="feed")


class MemorySockets:
    """The open connections of a server in this process, which says how each takes a text."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Callable[[str], bool], Callable[[], None]]] = {}

    def opened(
        self, connection: str, deliver: Callable[[str], bool], end: Callable[[], None]
    ) -> None:
        """Take up a connection; `deliver` returns at once, False where too much waits already."""
        self._open[connection] = deliver, end

    def closed(self, connection: str) -> None:
        """Forget a connection that has ended."""
        self._open.pop(connection, None)

    def send(self, connection: str, text: str) -> None:
        """Send a text; raises `Gone`."""
        there = self._open.get(connection)
        if there is None or not there[0](text):
            raise Gone("The connection takes nothing.")

    def close(self, connection: str) -> None:
        """End a connection."""
        there = self._open.pop(connection, None)
        if there is not None:
            there[1]()


@cache
def named(name: str) -> MemorySockets:
    """This process's sockets of that name."""
    del name
    return MemorySockets()
