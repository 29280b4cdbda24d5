"""One hard end for a request, whatever drips: its connection is shut down under it.

A limit of a socket holds between two bytes. An arena that sends header after header, hint after
hint (1xx), or trailer after trailer keeps within it for ever, and its client at full speed.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

_here = threading.local()
"""The cutter of the request that a thread is sending."""


class Cutter:
    """Shuts down the connection of the one request that is under way, when its time is over."""

    def __init__(self) -> None:
        self.has_cut = False
        self._connection: HTTPConnection | None = None

    @contextmanager
    def within(self, limit: timedelta) -> Iterator[None]:
        """Let the request of the block take so long and no longer."""
        self.has_cut, self._connection = False, None
        timer = threading.Timer(limit.total_seconds(), self._cut)
        timer.daemon = True
        _here.cutter = self
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            _here.cutter = None

    def takes(self, connection: HTTPConnection) -> None:
        """The request goes by this connection."""
        self._connection = connection

    def _cut(self) -> None:
        self.has_cut = True
        sock = None if self._connection is None else self._connection.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _announce(connection: HTTPConnection) -> None:
    cutter: Cutter | None = getattr(_here, "cutter", None)
    if cutter is not None:
        cutter.takes(connection)


class _Plain(HTTPConnection):
    def putrequest(self, *args: object, **more: object) -> None:
        _announce(self)
        super().putrequest(*args, **more)  # type: ignore[arg-type]


class _Secure(HTTPSConnection):
    def putrequest(self, *args: object, **more: object) -> None:
        _announce(self)
        super().putrequest(*args, **more)  # type: ignore[arg-type]


class _PlainPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Secure


POOLS = {"http": _PlainPool, "https": _SecurePool}
"""Pools by scheme whose connections can be cut."""
