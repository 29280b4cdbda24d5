"""Connections to an arena, on which what was sent in vain is not sent later.

Not by the kernel either, which keeps the bytes of a broken connection and sends them again until
they arrive. Every connection is reset when it is closed, be it by the end of our process, and given
up when nothing was acknowledged for as long as an action may take, be our process frozen. A write
whose connection took too long is not sent. Through a proxy this holds for the way to the proxy.
"""

import json
import socket
import struct
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import urllib3
from requests.adapters import HTTPAdapter
from requests.utils import get_auth_from_url
from urllib3.connection import HTTPConnection, HTTPSConnection

from cardsharp.access import Limits
from cardsharp.errors import Unreachable

_here = threading.local()  # the cutter of the request that a thread is sending


class Cutter:
    """Shuts down the connection of the one request that is under way, when its time is over.

    A limit of a socket holds between two bytes. An arena that sends header after header, hint after
    hint (1xx), or trailer after trailer keeps within it for ever, and its client at full speed.
    """

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
        sock = getattr(sock, "socket", sock)  # of TLS within the TLS to a proxy
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


class _Plain(HTTPConnection):
    def connect(self) -> None:
        self._can_be_cut()  # a proxy answers before the first request, in as many lines as it likes
        super().connect()

    def _can_be_cut(self) -> None:
        cutter: Cutter | None = getattr(_here, "cutter", None)
        if cutter is not None:
            cutter.takes(self)

    def putrequest(self, *args: object, **more: object) -> None:
        self._can_be_cut()
        super().putrequest(*args, **more)  # type: ignore[arg-type]


class _Secure(_Plain, HTTPSConnection):
    pass


class _PlainPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Secure


POOLS = {"http": _PlainPool, "https": _SecurePool}  # pools by scheme whose connections can be cut


class Connections(HTTPAdapter):
    """Connections without retries, that leave no byte to the kernel (see the module)."""

    def __init__(self, limits: Limits) -> None:
        self._options = [
            *HTTPConnection.default_socket_options,
            (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)),
        ]
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; elsewhere a frozen process is as it was
            # So much of an action's time is left, at least, when its body is written.
            patience = limits.act - min(limits.connect, limits.act / 2)
            milliseconds = patience // timedelta(milliseconds=1)
            self._options.append((socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds))
        super().__init__(max_retries=0)

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **rest: object
    ) -> None:
        """Make the pool of direct connections."""
        options = self._options
        super().init_poolmanager(connections, maxsize, block, socket_options=options, **rest)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, proxy: str, **rest: object) -> urllib3.ProxyManager:
        """The pool of connections through a proxy; they are like the direct ones."""
        manager: urllib3.ProxyManager = super().proxy_manager_for(
            proxy, socket_options=self._options, **rest
        )
        manager.pool_classes_by_scheme = POOLS
        return manager

    def proxy_headers(self, proxy: str) -> dict[str, str]:
        """The headers with user and password; in UTF-8, where requests has Latin-1 alone."""
        user, password = get_auth_from_url(proxy)
        if not user:
            return {}
        word = b64encode(f"{user}:{password}".encode()).decode()
        return {"Proxy-Authorization": f"Basic {word}"}


class Prompt:
    """The body of a write, which leaves before the monotonic second `until`, or not at all.

    It is asked for when the connection stands, however long that took: a name to be looked up,
    keys to be exchanged, a process that was stopped. The headers alone have no effect.
    """

    def __init__(self, call: str, body: object, until: float) -> None:
        self._call, self._until = call, until
        self._body = json.dumps(body).encode()

    def __len__(self) -> int:
        return len(self._body)

    def __iter__(self) -> Iterator[bytes]:
        if time.monotonic() >= self._until:
            raise Unreachable(f"{self._call}: not sent, for it took too long to connect.")
        yield self._body
