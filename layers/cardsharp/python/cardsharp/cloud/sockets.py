"""Telling those who watch over a WebSocket: the ports, and a feed that no dead watcher stops."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from cardsharp.cloud.ports import Clock
from cardsharp.errors import CardsharpError

if TYPE_CHECKING:
    from cardsharp.cloud.watchers import Watchers

LIFE = timedelta(hours=2, minutes=10)
"""How long a watcher is kept: API Gateway ends a connection after two hours."""

MOST_WATCHERS = 200
"""Of one topic."""

MOST_OF_ONE = 50
"""Of one topic from one caller, so that nobody can keep all others away."""

SETTLING = timedelta(seconds=10)
"""For how long a new connection may count as gone: it is there only once its handshake is over."""

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
        ...

    def close(self, connection: str) -> None:
        """End a connection, so that its client knows; quiet if it is gone."""
        ...


@dataclass(frozen=True)
class Feed:
    """Tells those who watch what happens; whoever cannot be told is dropped, and nobody waits."""

    watchers: "Watchers"
    sockets: Sockets
    clock: Clock
    most: int = field(default=MOST_WATCHERS)
    most_of_one: int = field(default=MOST_OF_ONE)

    def watch(self, topic: str, connection: str, key: str, caller: str = "") -> bool:
        """Have a connection watch a topic; return False where too many do already."""
        watching = self.watchers.of(topic)
        same = sum(one.caller == caller for one in watching) if caller else 0
        if len(watching) >= self.most or same >= self.most_of_one:
            return False
        self.watchers.add(topic, Watcher(connection, key, self.clock.now(), caller))
        return True

    def leave(self, connection: str) -> None:
        """Forget a connection."""
        self.watchers.remove(connection)

    def tell(self, topic: str, texts: Callable[[Watcher], Sequence[str]]) -> None:
        """Send to each watcher of a topic its own texts, in order; never raises.

        What was done is done, whether or not it can be told.
        """
        try:
            watchers = self.watchers.of(topic)
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
                self.watchers.remove(watcher.connection)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="feed")
