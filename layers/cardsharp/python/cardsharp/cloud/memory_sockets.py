"""Sockets that end in this process."""

from collections.abc import Callable
from functools import cache

from cardsharp.cloud.sockets import Gone


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
