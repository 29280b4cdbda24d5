"""Connections to an arena that never deliver a request late.

The kernel keeps the bytes of a broken connection and resends them until they arrive, so two
socket options prevent that. Every connection is reset when it is closed, even by the end of our
process. It is also given up when nothing was acknowledged for as long as an action may take,
even if our process is frozen. A write whose connection took too long is not sent. Through a
proxy this holds for the path to the proxy only.
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

from cardsharp.client.config import RequestLimits
from cardsharp.errors import Unreachable

_thread_state = threading.local()  # the cutter of the request that a thread is sending


class DeadlineWatchdog:
    """Watchdog that shuts down the connection of the active request at its deadline.

    A socket timeout only limits the time between two bytes. An arena that sends header after
    header, hint after hint (1xx) or trailer after trailer never exceeds it, and would keep its
    client busy for ever.
    """

    def __init__(self) -> None:
        self.has_cut = False
        self._connection: HTTPConnection | None = None

    @contextmanager
    def limit(self, timeout: timedelta) -> Iterator[None]:
        """Let the request of the block take so long and no longer."""
        self.has_cut, self._connection = False, None
        timer = threading.Timer(timeout.total_seconds(), self._cut)
        timer.daemon = True
        _thread_state.cutter = self
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            _thread_state.cutter = None

    def attach(self, connection: HTTPConnection) -> None:
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
        cutter: DeadlineWatchdog | None = getattr(_thread_state, "cutter", None)
        if cutter is not None:
            cutter.attach(self)

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


class NoRetryAdapter(HTTPAdapter):
    """Connections without retries, that leave no byte to the kernel (see the module)."""

    def __init__(self, limits: RequestLimits) -> None:
        self._options = [
            *HTTPConnection.default_socket_options,
            (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)),
        ]
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; elsewhere a frozen process is as it was
            # So much of an action's time is left, at least, when its body is written.
            patience = limits.action_timeout - min(
                limits.connect_timeout, limits.action_timeout / 2
            )
            milliseconds = patience // timedelta(milliseconds=1)
            self._options.append((socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds))
        super().__init__(max_retries=0)

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: object
    ) -> None:
        """Make the pool of direct connections."""
        options = self._options
        super().init_poolmanager(connections, maxsize, block, socket_options=options, **pool_kwargs)
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
        credentials = b64encode(f"{user}:{password}".encode()).decode()
        return {"Proxy-Authorization": f"Basic {credentials}"}


class DeadlineBody:
    """Body of a write that is sent before the monotonic second `deadline`, or not at all.

    It is requested once the connection is established, however long that took: a DNS lookup, a
    TLS handshake, a process that was stopped. The headers alone have no effect.
    """

    def __init__(self, request: str, body: object, deadline: float) -> None:
        self._call, self._until = request, deadline
        self._body = json.dumps(body).encode()

    def __len__(self) -> int:
        return len(self._body)

    def __iter__(self) -> Iterator[bytes]:
        if time.monotonic() >= self._until:
            raise Unreachable(f"{self._call}: not sent, for it took too long to connect.")
        yield self._body
