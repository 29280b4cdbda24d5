"""The connections of a local server: how many there may be, of whom, and for how long.

A connection costs a file handle and memory, and whoever opens one decides how long it lasts unless
the server does. So there are never more than the process has handles for. Where there is no room,
the one of the least use is closed for a new one: first who has not asked anything within a second,
then who is idle, then strangers; nobody who has signed in and waits for an answer is ever closed.
Answers that their clients do not read are bounded, too.
"""

import resource
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

MOST = 4096  # connections at a time, where the process has handles enough; they take some 80 MB
SHARE = 0.75  # of the process's handles for connections, and of the connections for one address
HEAD_LIMIT = timedelta(seconds=10)  # from the connection, or a later first byte, to a head's end
UNREAD_LIMIT = timedelta(seconds=20)  # how long a client may read nothing of an answer
MOST_UNREAD = 64 * 1024 * 1024  # bytes of answers that wait to be read, of all clients together
HURRIED = timedelta(seconds=5)  # of a stranger's idle connection once half the room is taken
YOUNG = timedelta(seconds=1)  # until then it is closed only where all others are as young


class Use(IntEnum):
    """What a connection is used for, the least first."""

    NEW = 0
    IDLE = 1
    STRANGER = 2  # a request is being answered of somebody who has not signed in

    IDLE_PLAYER = 3
    PLAYER = 4


class ClientLine(socket.socket):
    """One connection: what it is used for, and how much of the answers is unread."""

    lines: "Lines"
    address: tuple[str, int]
    caller: str
    use = Use.NEW
    since: float  # since when it is used so
    heard: float | None = None  # when the first byte came after the last answer
    unread = 0
    stuck: float | None = None  # since when its client has read nothing
    known = False  # whether somebody has signed in on it
    abort: Callable[[], None] | None = None

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Read."""
        self._hear()
        return super().recv(size, flags)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """Read."""
        self._hear()
        return super().recv_into(buffer, nbytes, flags)

    def send(self, data: "ReadableBuffer", flags: int = 0, /) -> int:
        """Write as much as there is room for."""
        size = memoryview(data).nbytes
        return self._counted(size, lambda: super(ClientLine, self).send(data, flags))

    def sendmsg(self, buffers: "Iterable[ReadableBuffer]", /, *more: Any) -> int:  # noqa: ANN401
        """Write as much as there is room for."""
        parts = list(buffers)
        size = sum(memoryview(part).nbytes for part in parts)
        return self._counted(size, lambda: super(ClientLine, self).sendmsg(parts, *more))

    def close(self) -> None:
        """Let go of it."""
        self.lines.forget(self)
        if self.fileno() != -1:
            self.lines.held -= 1
        super().close()

    def cut(self) -> None:
        """End it, whatever it is used for."""
        self.lines.forget(self)
        if self.abort is not None:
            self.abort()
        else:
            with suppress(OSError):
                self.shutdown(socket.SHUT_RDWR)

    def sign_in(self) -> None:
        """Somebody has proved who they are."""
        self.known = True
        self.lines.turn(self, Use.PLAYER)

    def _hear(self) -> None:
        if self.heard is None and self.use in {Use.IDLE, Use.IDLE_PLAYER}:
            self.heard = self.lines.clock()

    def _counted(self, size: int, send: Callable[[], int]) -> int:
        sent = 0
        try:
            sent = send()
        finally:
            self.lines.unread += size - sent - self.unread
            self.unread = size - sent
            if not self.unread:
                self.stuck = None
            elif sent or self.stuck is None:
                self.stuck = self.lines.clock()
        return sent


Lot = dict[ClientLine, None]  # connections in the order in which their use began


class Lines:
    """All connections of a server; by default as many as the process's handles allow."""

    def __init__(
        self, most: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        handles, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.most = min(MOST, int(handles * SHARE)) if most is None else most
        self.clock = clock
        self.unread = 0
        self.held = 0
        """Handles of connections; who was cut has its own for a moment yet."""
        self.most_held = self.most + max(1, (handles - self.most) // 2)
        self._lots: dict[str, list[Lot]] = {}
        self._all: list[Lot] = [{} for _ in Use]
        self._at: dict[tuple[str, int], ClientLine] = {}

    def __len__(self) -> int:
        return len(self._at)

    def at(self, client: object) -> ClientLine | None:
        """The connection from an address and port."""
        return self._at.get((client[0], client[1])) if isinstance(client, tuple) else None

    def take(self, line: ClientLine) -> None:
        """Take up a connection, for which another may have to go; it goes itself if none can."""
        earlier = self._at.get(line.address)
        if earlier is not None:  # its client has gone, which nobody has looked at yet
            earlier.cut()
        lots = self._lots.setdefault(line.caller, [{} for _ in Use])
        crowded = sum(map(len, lots)) >= self.most * SHARE
        room = not crowded or self._cut_least(lots)
        room = room and (len(self) < self.most or self.make_room())
        line.since = self.clock()
        self.held += 1
        self._at[line.address] = line
        lots = self._lots.setdefault(line.caller, lots)
        lots[line.use][line] = self._all[line.use][line] = None
        if not room:
            line.cut()

    def number_of(self, caller: str) -> int:
        """How many connections an address has."""
        return sum(map(len, self._lots.get(caller, ())))

    def make_room(self) -> bool:
        """Whether one could be closed."""
        return self._cut_least(self._all)

    def turn(self, line: ClientLine, use: Use) -> None:
        """From now on a connection is used otherwise."""
        if self._at.get(line.address) is not line:
            return
        lots = self._lots[line.caller]
        del lots[line.use][line], self._all[line.use][line]
        line.use, line.since, line.heard = use, self.clock(), None
        lots[use][line] = self._all[use][line] = None

    def forget(self, line: ClientLine) -> None:
        """A connection is no more."""
        if self._at.get(line.address) is not line:
            return
        del self._at[line.address]
        lots = self._lots[line.caller]
        del lots[line.use][line], self._all[line.use][line]
        if not any(lots):
            del self._lots[line.caller]
        self.unread -= line.unread
        line.unread = 0

    def sweep(self) -> None:
        """Close those whose time is over, and the longest unread where too much is unread."""
        now = self.clock()
        for line in [one for one in self._at.values() if self._is_over(one, now)]:
            line.cut()
        if self.unread > MOST_UNREAD:
            stuck = [one for one in self._at.values() if one.stuck is not None]
            for line in sorted(stuck, key=lambda one: one.stuck or now):
                if self.unread <= MOST_UNREAD:
                    break
                line.cut()

    def _cut_least(self, lots: list[Lot]) -> bool:
        """Close the connection of the least use, of these the oldest; whether there was one."""
        oldest = [next(iter(lot)) for lot in lots[: Use.PLAYER] if lot]
        ripe = self.clock() - YOUNG.total_seconds()
        least = next((one for one in oldest if one.since < ripe), oldest[0] if oldest else None)
        if least is not None:
            least.cut()
        return least is not None

    def _is_over(self, line: ClientLine, now: float) -> bool:
        if line.stuck is not None and now - line.stuck > UNREAD_LIMIT.total_seconds():
            return True
        begun = line.since if line.use is Use.NEW else line.heard
        if begun is not None:
            return now - begun > HEAD_LIMIT.total_seconds()
        full = len(self) > self.most / 2
        return full and line.use is Use.IDLE and now - line.since > HURRIED.total_seconds()


def answering(app: ASGIApp, lines: Lines) -> ASGIApp:
    """An application of which `lines` knows whom it answers: `state.signed_in` tells who it is."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        line = lines.at(scope.get("client"))
        if line is None:
            await app(scope, receive, send)
            return
        lines.turn(line, Use.STRANGER)
        scope.setdefault("state", {})["signed_in"] = line.sign_in
        try:
            await app(scope, receive, send)
        finally:
            lines.turn(line, Use.IDLE_PLAYER if line.known else Use.IDLE)

    return answer
