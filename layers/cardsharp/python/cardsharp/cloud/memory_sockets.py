"""Sockets that end in this process, and who watches through them; both go with it."""

import threading
from collections.abc import Callable, Sequence
from functools import cache

from cardsharp.cloud.sockets import Gone, Watcher


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


class MemoryWatchers:
    """`Watchers` in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._topics: dict[str, dict[str, Watcher]] = {}

    def add(self, topic: str, watcher: Watcher) -> None:
        """Have a connection watch a topic, its only one."""
        with self._lock:
            self._topics.setdefault(topic, {})[watcher.connection] = watcher

    def of(self, topic: str) -> Sequence[Watcher]:
        """Those who watch a topic."""
        with self._lock:
            return tuple(self._topics.get(topic, {}).values())

    def remove(self, connection: str) -> None:
        """Forget a connection."""
        with self._lock:
            for topic, watchers in list(self._topics.items()):
                if watchers.pop(connection, None) is not None and not watchers:
                    del self._topics[topic]


@cache
def named(name: str) -> MemorySockets:
    """This process's sockets of that name."""
    del name
    return MemorySockets()
