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

_thread_state = threading.local()  # the watchdog of the request that a thread is sending


class DeadlineWatchdog:
    """Watchdog that shuts down the connection of the active request at its deadline.

    A socket timeout only limits the time between two bytes. An arena that sends header after
    header, hint after hint (1xx) or trailer after trailer never exceeds it, and would keep its
    client busy for ever.
    """

    # Why a timer thread: requests reads headers inside one blocking call, in which no code of ours
    # can look at a clock. Shutting the socket down is the only way to end that call from outside.
    # The timeout of the transport ends almost every request first; this is the last resort.

    def __init__(self) -> None:
        self.has_expired = False
        self._connection: HTTPConnection | None = None

    @contextmanager
    def enforce_timeout(self, timeout: timedelta) -> Iterator[None]:
        """Shut down the connection of the block's request once `timeout` has passed."""
        self.has_expired, self._connection = False, None
        timer = threading.Timer(timeout.total_seconds(), self._shut_down_connection)
        timer.daemon = True
        _thread_state.watchdog = self
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            _thread_state.watchdog = None

    def attach(self, connection: HTTPConnection) -> None:
        """Set the connection that the active request uses."""
        self._connection = connection

    def _shut_down_connection(self) -> None:
        self.has_expired = True
        sock = None if self._connection is None else self._connection.sock
        # TLS to the arena inside TLS to a proxy wraps the socket once more.
        sock = getattr(sock, "socket", sock)
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


class _HttpConnection(HTTPConnection):
    def connect(self) -> None:
        # A proxy answers before the first request is sent, and may answer for ever.
        self._attach_watchdog()
        super().connect()

    def _attach_watchdog(self) -> None:
        watchdog: DeadlineWatchdog | None = getattr(_thread_state, "watchdog", None)
        if watchdog is not None:
            watchdog.attach(self)

    def _tunnel(self) -> None:
        super()._tunnel()
        # The standard library leaks a socket that is wrapped in TLS when it has been shut down.
        watchdog: DeadlineWatchdog | None = getattr(_thread_state, "watchdog", None)
        if watchdog is not None and watchdog.has_expired:
            raise ConnectionAbortedError("the deadline passed while the proxy answered")

    def putrequest(self, *args: object, **kwargs: object) -> None:
        """Attach the watchdog of the active request, then begin the request."""
        self._attach_watchdog()
        super().putrequest(*args, **kwargs)  # type: ignore[arg-type]


class _HttpsConnection(_HttpConnection, HTTPSConnection):
    pass


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _HttpConnection


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _HttpsConnection


# Connection pools by scheme, with connections that the watchdog can shut down.
POOLS = {"http": _HttpPool, "https": _HttpsPool}


class NoRetryAdapter(HTTPAdapter):
    """Connections without retries, that leave no byte to the kernel (see the module)."""

    def __init__(self, limits: RequestLimits) -> None:
        self._socket_options = [
            *HTTPConnection.default_socket_options,
            (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)),
        ]
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; elsewhere a frozen process is as it was
            # The least part of an action's time that is left when its body is written.
            remaining = limits.action_timeout - min(
                limits.connect_timeout, limits.action_timeout / 2
            )
            milliseconds = remaining // timedelta(milliseconds=1)
            self._socket_options.append((socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds))
        super().__init__(max_retries=0)

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: object
    ) -> None:
        """Create the pool of direct connections."""
        options = self._socket_options
        super().init_poolmanager(connections, maxsize, block, socket_options=options, **pool_kwargs)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, proxy: str, **pool_kwargs: object) -> urllib3.ProxyManager:
        """Return the pool of connections through a proxy, with the options of direct ones."""
        manager: urllib3.ProxyManager = super().proxy_manager_for(
            proxy, socket_options=self._socket_options, **pool_kwargs
        )
        manager.pool_classes_by_scheme = POOLS
        return manager

    def proxy_headers(self, proxy: str) -> dict[str, str]:
        """Return the headers with user and password, in UTF-8; requests would use Latin-1."""
        user, password = get_auth_from_url(proxy)
        if not user:
            return {}
        credentials = b64encode(f"{user}:{password}".encode()).decode()
        return {"Proxy-Authorization": f"Basic {credentials}"}


class RequestBodyWithDeadline:
    """Body of a write that is sent before the monotonic second `deadline`, or not at all.

    It is requested once the connection is established, however long that took: a DNS lookup, a
    TLS handshake, a process that was stopped. The headers alone have no effect.
    """

    def __init__(self, request: str, body: object, deadline: float) -> None:
        self._request_text, self._deadline = request, deadline
        self._body = json.dumps(body).encode()

    def __len__(self) -> int:
        return len(self._body)

    def __iter__(self) -> Iterator[bytes]:
        if time.monotonic() >= self._deadline:
            raise Unreachable(f"{self._request_text}: not sent, because connecting took too long.")
        yield self._body
