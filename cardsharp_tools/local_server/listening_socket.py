"""The listening socket of a local server: who knocks is taken up, who speaks is handed on.

A server makes much of each connection. So one on which nothing was said yet is only watched, and
of those that begin to speak a few are handed on at a time, the least crowding first.
"""

import errno
import logging
import selectors
import socket
from contextlib import suppress
from functools import partial

from cardsharp.server.client_address import client_address_of
from cardsharp_tools.local_server.connections import ClientConnection, ConnectionLimiter

MAX_ACCEPTS_PER_POLL = 64  # connections that are taken up between two looks at the others
MAX_HANDOVERS_PER_POLL = 8  # of those that have begun to speak, between two looks at the others

_HANDLE_LIMIT_ERRNOS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

_log = logging.getLogger(__name__)


class DeferredAcceptSocket(socket.socket):
    """Listening socket that returns a connection only once it has sent something.

    A connection is handed on once its client has said something: a server makes much of each, and
    who says nothing is to cost it nothing. Whoever watches this socket's handle is told of both,
    clients that knock and clients that begin to speak.
    """

    connections: ConnectionLimiter

    def __init__(self, *args: int) -> None:
        super().__init__(*args)
        self._selector = selectors.DefaultSelector()
        self._selector.register(super().fileno(), selectors.EVENT_READ)
        self._silent_connections: set[ClientConnection] = set()
        self._ready_connections: list[ClientConnection] = []
        self._has_polled = False

    def fileno(self) -> int:
        """Return the handle to wait on, or -1 if the socket is closed."""
        try:
            watched: int = self._selector.fileno()  # of epoll and kqueue, which Python gives us
        except ValueError:
            return -1
        return watched

    def close(self) -> None:
        """Close the socket and all connections that have not sent anything."""
        for connection in list(self._silent_connections):
            self._close_connection(connection)
        self._selector.close()
        super().close()

    def accept(self) -> tuple[socket.socket, tuple[str, int]]:
        """Return the next connection that has sent something.

        Raises `BlockingIOError` if there is none, or others are to be looked at first; `OSError` if
        there is no handle for one, and nobody could be closed.
        """
        if not self._has_polled:
            self._has_polled = True
            self._accept_pending()
            ready = [key.fileobj for key, _ in self._selector.select(0)]
            spoke = [connection for connection in ready if isinstance(connection, ClientConnection)]
            # From the end: whoever has the fewest connections is the first to be answered.
            spoke.sort(key=lambda connection: -self.connections.count_for(connection.client_ip))
            self._ready_connections = spoke[-MAX_HANDOVERS_PER_POLL:]
        while self._ready_connections:
            connection = self._ready_connections.pop()
            if self._has_data(connection):
                self._unregister(connection)
                connection.abort = None
                return connection, connection.address
        self._has_polled = False
        raise BlockingIOError

    def _accept_pending(self) -> None:
        """Accept the clients that are waiting for a connection."""
        for _ in range(MAX_ACCEPTS_PER_POLL):
            if self.connections.open_handles >= self.connections.max_open_handles:
                return
            try:
                accepted_socket, address = super().accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _HANDLE_LIMIT_ERRNOS and self.connections.close_lowest_priority():
                    _log.warning("No handle is left for a connection; another was closed for it.")
                    return
                raise
            connection = ClientConnection(
                self.family, self.type, self.proto, accepted_socket.detach()
            )
            connection.settimeout(0)
            connection.limiter, connection.address = self.connections, address[:2]
            connection.client_ip = client_address_of(address[0]) or address[0]
            connection.abort = partial(self._close_connection, connection)
            self._silent_connections.add(connection)
            self._selector.register(connection, selectors.EVENT_READ)
            self.connections.add(connection)

    def _has_data(self, connection: ClientConnection) -> bool:
        """Return True if a client has sent data; close the connection of a client that has left."""
        if connection not in self._silent_connections:  # closed for another meanwhile
            return False
        with suppress(OSError):
            if connection.recv(1, socket.MSG_PEEK):
                return True
        self._close_connection(connection)
        return False

    def _close_connection(self, connection: ClientConnection) -> None:
        self._unregister(connection)
        connection.close()

    def _unregister(self, connection: ClientConnection) -> None:
        self._silent_connections.discard(connection)
        self._selector.unregister(connection)
