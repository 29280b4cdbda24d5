"""Publishing to WebSocket subscribers: the ports, and a feed that no dead client blocks.

The subscriptions are stored in a document store (`cardsharp.store.documents`).

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

from cardsharp.aws.dynamodb_attributes import Item
from cardsharp.core.clock import Clock
from cardsharp.core.timestamps import from_micros, to_micros
from cardsharp.errors import CardsharpError
from cardsharp.store.documents import Delete, DocumentStore, Key, Put

SUBSCRIPTION_TTL = timedelta(hours=2, minutes=10)  # API Gateway ends connections after 2 hours
MAX_SUBSCRIBERS = 200  # of one topic
MAX_SUBSCRIBERS_PER_CALLER = 50  # of one topic, so that one caller cannot use up all slots
HANDSHAKE_GRACE = timedelta(seconds=10)  # until then a new connection may still look closed
_MAX_CONCURRENT_SENDS = 16
_log = logging.getLogger("cardsharp.feed")


class ConnectionGone(CardsharpError):
    """A connection that is closed or accepts no more data."""


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A connection subscribed to a topic; `viewer_key` tells the topic's owner what it may see.

    `caller` is a digest of the client's address, "" for this machine.
    """

    connection_id: str
    viewer_key: str
    subscribed_at: datetime
    caller: str = ""


class WebSocketConnections(Protocol):
    """Interface to open WebSocket connections by their ids: send texts to them and close them.

    It does not matter where the connections end.
    """

    def send(self, connection: str, text: str) -> None:
        """Send a text within about a second; raise `ConnectionGone` if that is not possible."""

    def close(self, connection: str) -> None:
        """End a connection, so that its client knows; quiet if it is gone."""


def migrate_v02_body(item: Item) -> Mapping[str, object]:
    """Return the body of an item of version 0.2, which had an attribute per field.

    The first items had no caller.
    """
    if "topic_name" in item:
        return {"topic": item["topic_name"]["S"]}
    caller = item.get("caller_key", {"S": ""})["S"]
    return {"key": item["watcher_key"]["S"], "caller": caller, "since": item["since_at"]["N"]}


def _subscription_key(topic: str, connection: str) -> Key:
    return Key(f"watch#{topic}", connection)


def _topic_key(connection: str) -> Key:
    return Key(f"socket#{connection}", "topic")


@dataclass(frozen=True)
class Feed:
    """Feed to WebSocket subscribers; one that cannot be reached is dropped without delay.

    Subscriptions expire. All methods but `publish` raise `StoreError` if they fail.
    """

    documents: DocumentStore
    connections: WebSocketConnections
    clock: Clock
    max_subscribers: int = field(default=MAX_SUBSCRIBERS)
    max_per_caller: int = field(default=MAX_SUBSCRIBERS_PER_CALLER)

    def subscribe(self, topic: str, connection: str, viewer_key: str, caller: str = "") -> bool:
        """Subscribe a connection to a topic, its only one; return False if the topic is full."""
        watching, current_time = self.subscribers(topic), self.clock.now()
        same = sum(subscriber.caller == caller for subscriber in watching) if caller else 0
        if len(watching) >= self.max_subscribers or same >= self.max_per_caller:
            return False
        body = {"key": viewer_key, "caller": caller, "since": to_micros(current_time)}
        # The index by connection comes first. If this process dies between the two writes, the
        # index alone does no harm, but a subscription without it could never be removed.
        self.documents.commit(
            Put(_topic_key(connection), {"topic": topic}, None, current_time + SUBSCRIPTION_TTL)
        )
        self.documents.commit(
            Put(_subscription_key(topic, connection), body, None, current_time + SUBSCRIPTION_TTL)
        )
        return True

    def subscribers(self, topic: str) -> Sequence[Subscriber]:
        """Return the current subscribers of a topic."""
        return [
            Subscriber(
                connection_id=document.key.sort_key,
                viewer_key=str(document.body["key"]),
                subscribed_at=from_micros(int(str(document.body["since"]))),
                caller=str(document.body["caller"]),
            )
            for document in self.documents.query(f"watch#{topic}")
        ]

    def unsubscribe(self, connection: str) -> None:
        """Remove a connection and its subscription; do nothing if it is not known."""
        document = self.documents.get(_topic_key(connection))
        if document is not None:
            self.documents.commit(
                Delete(_subscription_key(str(document.body["topic"]), connection), None)
            )
            self.documents.commit(Delete(_topic_key(connection), None))

    def publish(self, topic: str, texts: Callable[[Subscriber], Sequence[str]]) -> None:
        """Send each subscriber of a topic the texts for it, in order; never raises.

        The published change has already happened, so a failure to send must not fail the
        caller.
        """
        try:
            watchers = self.subscribers(topic)
            # Lambda freezes a function once it has returned its response. So this waits until all
            # texts are sent, and only then raises the first error.
            for future in wait(
                [self._pool.submit(self._send, watcher, texts) for watcher in watchers]
            ).done:
                future.result()
        except Exception as error:  # noqa: BLE001 - the change itself has succeeded
            # The error's text is not logged, because it might contain a hand of cards.
            _log.warning("an update was not sent to all", extra={"error": type(error).__name__})

    def _send(self, subscriber: Subscriber, texts: Callable[[Subscriber], Sequence[str]]) -> None:
        try:
            for text in texts(subscriber):
                self.connections.send(subscriber.connection_id, text)
        except ConnectionGone:
            if self.clock.now() - subscriber.subscribed_at > HANDSHAKE_GRACE:
                self.connections.close(subscriber.connection_id)
                self.unsubscribe(subscriber.connection_id)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_MAX_CONCURRENT_SENDS, thread_name_prefix="feed")


class InMemoryConnections:
    """Open connections of a server in this process, which supplies a callback for each."""

    def __init__(self) -> None:
        self._open_connections: dict[str, tuple[Callable[[str], bool], Callable[[], None]]] = {}

    def add(
        self, connection: str, deliver: Callable[[str], bool], close: Callable[[], None]
    ) -> None:
        """Add a connection; `deliver` returns at once, False if too many texts are waiting."""
        self._open_connections[connection] = deliver, close

    def remove(self, connection: str) -> None:
        """Forget a connection that has ended."""
        self._open_connections.pop(connection, None)

    def send(self, connection: str, text: str) -> None:
        """Send a text; raise `ConnectionGone` if the connection does not accept it."""
        callbacks = self._open_connections.get(connection)
        if callbacks is None or not callbacks[0](text):
            raise ConnectionGone("The connection takes nothing.")

    def close(self, connection: str) -> None:
        """End a connection."""
        callbacks = self._open_connections.pop(connection, None)
        if callbacks is not None:
            callbacks[1]()


@cache  # an entry for each feed of this process
def get_in_memory_connections(name: str) -> InMemoryConnections:
    """Return the in-memory connections of that name, shared by the whole process."""
    del name
    return InMemoryConnections()
