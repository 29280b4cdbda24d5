"""Limits of a local server's connections: their number, by client, and their time.

A connection costs a file handle and memory. Its client decides how long it lasts, unless the
server does. So there are never more of them than the process has handles for. Where there is no
room, the one of the least use is closed for a new one: first those that have sent no request, then
idle ones, then those of strangers. The connection of a client that has signed in and waits for a
response is never closed. Responses that their clients do not read are bounded, too.

docs/decisions/0026-connections-at-home.md says which test needs which part.
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

MAX_CONNECTIONS = (
    4096  # connections at a time, where the process has handles enough; they take some 80 MB
)
MAX_SHARE = 0.75  # of the process's handles for connections, and of the connections for one address
HEADER_TIMEOUT = timedelta(
    seconds=10
)  # from the connection, or a later first byte, to a head's end
WRITE_STALL_TIMEOUT = timedelta(seconds=20)  # how long a client may read nothing of an answer
MAX_UNREAD_BYTES = (
    64 * 1024 * 1024
)  # bytes of answers that wait to be read, of all clients together


class ConnectionState(IntEnum):
    """State of a connection by its use, in ascending order of priority."""

    NEW = 0
    IDLE = 1
    ANONYMOUS = 2  # a request is being answered of somebody who has not signed in

    IDLE_AUTHENTICATED = 3
    AUTHENTICATED = 4


class ClientConnection(socket.socket):
    """Connection of a client, with its state and the number of unread response bytes."""

    limiter: "ConnectionLimiter"
    address: tuple[str, int]
    client_ip: str
    state = ConnectionState.NEW
    state_since: float  # since when it is used so
    first_byte_at: float | None = None  # when the first byte came after the last answer
    unread_bytes = 0
    stalled_since: float | None = None  # since when its client has read nothing
    is_authenticated = False  # whether somebody has signed in on it
    abort: Callable[[], None] | None = None

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Receive bytes and note the use of the connection."""
        self._record_first_byte()
        return super().recv(size, flags)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """Receive bytes into a buffer and note the use of the connection."""
        self._record_first_byte()
        return super().recv_into(buffer, nbytes, flags)

    def send(self, data: "ReadableBuffer", flags: int = 0, /) -> int:
        """Send as many bytes as there is room for."""
        byte_count = memoryview(data).nbytes
        return self._send_and_count(
            byte_count, lambda: super(ClientConnection, self).send(data, flags)
        )

    def sendmsg(self, buffers: "Iterable[ReadableBuffer]", /, *more: Any) -> int:  # noqa: ANN401
        """Send as many bytes as there is room for."""
        buffer_list = list(buffers)
        byte_count = sum(memoryview(buffer).nbytes for buffer in buffer_list)
        return self._send_and_count(
            byte_count, lambda: super(ClientConnection, self).sendmsg(buffer_list, *more)
        )

    def close(self) -> None:
        """Close the connection and remove it from the limiter."""
        self.limiter.remove(self)
        if self.fileno() != -1:
            self.limiter.open_handles -= 1
        super().close()

    def abort_connection(self) -> None:
        """End the connection at once, whatever its state."""
        self.limiter.remove(self)
        if self.abort is not None:
            self.abort()
        else:
            with suppress(OSError):
                self.shutdown(socket.SHUT_RDWR)

    def mark_authenticated(self) -> None:
        """Note that the client has authenticated."""
        self.is_authenticated = True
        self.limiter.set_state(self, ConnectionState.AUTHENTICATED)

    def _record_first_byte(self) -> None:
        if self.first_byte_at is None and self.state in {
            ConnectionState.IDLE,
            ConnectionState.IDLE_AUTHENTICATED,
        }:
            self.first_byte_at = self.limiter.clock()

    def _send_and_count(self, byte_count: int, send: Callable[[], int]) -> int:
        sent_bytes = 0
        try:
            sent_bytes = send()
        finally:
            self.limiter.unread_bytes += byte_count - sent_bytes - self.unread_bytes
            self.unread_bytes = byte_count - sent_bytes
            if not self.unread_bytes:
                self.stalled_since = None
            elif sent_bytes or self.stalled_since is None:
                self.stalled_since = self.limiter.clock()
        return sent_bytes


ConnectionSet = dict[ClientConnection, None]  # connections in the order in which their use began


class ConnectionLimiter:
    """Limiter of a server's open connections; the default limit follows the file handles."""

    def __init__(
        self, max_connections: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        handles, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.max_connections = (
            min(MAX_CONNECTIONS, int(handles * MAX_SHARE))
            if max_connections is None
            else max_connections
        )
        self.clock = clock
        self.unread_bytes = 0
        self.open_handles = 0
        """Handles of connections; who was cut has its own for a moment yet."""
        self.max_open_handles = self.max_connections + max(1, (handles - self.max_connections) // 2)
        self._sets_by_address: dict[str, list[ConnectionSet]] = {}
        self._sets_by_state: list[ConnectionSet] = [{} for _ in ConnectionState]
        self._connections_by_peer: dict[tuple[str, int], ClientConnection] = {}

    def __len__(self) -> int:
        return len(self._connections_by_peer)

    def find(self, client: object) -> ClientConnection | None:
        """Return the connection from an address and port, or None."""
        return (
            self._connections_by_peer.get((client[0], client[1]))
            if isinstance(client, tuple)
            else None
        )

    def add(self, connection: ClientConnection) -> None:
        """Add a connection; close one of lower priority, or this one, if there are too many."""
        earlier = self._connections_by_peer.get(connection.address)
        if earlier is not None:  # its client has gone, which nobody has looked at yet
            earlier.abort_connection()
        lots = self._sets_by_address.setdefault(connection.client_ip, [{} for _ in ConnectionState])
        crowded = sum(map(len, lots)) >= self.max_connections * MAX_SHARE
        room = not crowded or self._close_lowest_priority_in(lots)
        room = room and (len(self) < self.max_connections or self.close_lowest_priority())
        connection.state_since = self.clock()
        self.open_handles += 1
        self._connections_by_peer[connection.address] = connection
        lots = self._sets_by_address.setdefault(connection.client_ip, lots)
        lots[connection.state][connection] = self._sets_by_state[connection.state][connection] = (
            None
        )
        if not room:
            connection.abort_connection()

    def count_for(self, caller: str) -> int:
        """Return the number of connections of an address."""
        return sum(map(len, self._sets_by_address.get(caller, ())))

    def close_lowest_priority(self) -> bool:
        """Close the oldest connection of the lowest priority; return False if there is none."""
        return self._close_lowest_priority_in(self._sets_by_state)

    def set_state(self, connection: ClientConnection, state: ConnectionState) -> None:
        """Set the state of a connection."""
        if self._connections_by_peer.get(connection.address) is not connection:
            return
        lots = self._sets_by_address[connection.client_ip]
        del lots[connection.state][connection], self._sets_by_state[connection.state][connection]
        connection.state, connection.state_since, connection.first_byte_at = (
            state,
            self.clock(),
            None,
        )
        lots[state][connection] = self._sets_by_state[state][connection] = None

    def remove(self, connection: ClientConnection) -> None:
        """Remove a closed connection."""
        if self._connections_by_peer.get(connection.address) is not connection:
            return
        del self._connections_by_peer[connection.address]
        lots = self._sets_by_address[connection.client_ip]
        del lots[connection.state][connection], self._sets_by_state[connection.state][connection]
        if not any(lots):
            del self._sets_by_address[connection.client_ip]
        self.unread_bytes -= connection.unread_bytes
        connection.unread_bytes = 0

    def close_expired_and_slow(self) -> None:
        """Close connections past their time, and the slowest readers if too much is unread."""
        current_time = self.clock()
        for line in [
            connection
            for connection in self._connections_by_peer.values()
            if self._has_timed_out(connection, current_time)
        ]:
            line.abort_connection()
        if self.unread_bytes > MAX_UNREAD_BYTES:
            stuck = [
                connection
                for connection in self._connections_by_peer.values()
                if connection.stalled_since is not None
            ]
            for line in sorted(
                stuck, key=lambda connection: connection.stalled_since or current_time
            ):
                if self.unread_bytes <= MAX_UNREAD_BYTES:
                    break
                line.abort_connection()

    def _close_lowest_priority_in(self, connection_sets: list[ConnectionSet]) -> bool:
        """Close the oldest connection of the lowest priority; return False if there is none."""
        for connections in connection_sets[: ConnectionState.AUTHENTICATED]:
            if connections:
                next(iter(connections)).abort_connection()
                return True
        return False

    def _has_timed_out(self, connection: ClientConnection, current_time: float) -> bool:
        if (
            connection.stalled_since is not None
            and current_time - connection.stalled_since > WRITE_STALL_TIMEOUT.total_seconds()
        ):
            return True
        started_at = (
            connection.state_since
            if connection.state is ConnectionState.NEW
            else connection.first_byte_at
        )
        return started_at is not None and current_time - started_at > HEADER_TIMEOUT.total_seconds()


def track_requests(app: ASGIApp, limiter: ConnectionLimiter) -> ASGIApp:
    """Wrap an application so that `limiter` knows the state of each connection.

    The application calls the function in the request's state `signed_in` once a client has
    signed in.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        connection = limiter.find(scope.get("client"))
        if connection is None:
            await app(scope, receive, send)
            return
        limiter.set_state(connection, ConnectionState.ANONYMOUS)
        scope.setdefault("state", {})["signed_in"] = connection.mark_authenticated
        try:
            await app(scope, receive, send)
        finally:
            limiter.set_state(
                connection,
                ConnectionState.IDLE_AUTHENTICATED
                if connection.is_authenticated
                else ConnectionState.IDLE,
            )

    return answer
