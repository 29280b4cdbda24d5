"""Real forward proxy on loopback, for tunnels (CONNECT) and for plain requests.

with ForwardProxy({"arena.example": arena_port}) as proxy:
    ...

`proxy.requests` has the first line and the headers of each request.
"""

import base64
import selectors
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

REFUSAL = b"HTTP/1.1 %d Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class ForwardProxy:
    """Proxy that leads names to ports of this machine; it refuses other names with 403.

    `login` is the USER:PASSWORD that it requires, `tls` the certificate and key of an https
    proxy. With `sends_endless_headers` it answers a CONNECT with headers that never end.
    """

    def __init__(
        self,
        hosts: Mapping[str, int] = {},
        *,
        login: str = "",
        tls: tuple[Path, Path] | None = None,
        sends_endless_headers: bool = False,
    ) -> None:
        self.hosts, self.login, self.sends_endless_headers = (
            dict(hosts),
            login,
            sends_endless_headers,
        )
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.tunnel_bytes = bytearray()  # all that clients sent through tunnels
        self.is_closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.proxy = self  # type: ignore[attr-defined]
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.scheme = "http" if tls is None else "https"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def url_with_login(self, login: str) -> str:
        return f"{self.scheme}://{login}@127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_CONNECT(self) -> None:
        host = self.path.rpartition(":")[0]
        if (proxy := self._authorize(host)) is None:
            return
        if proxy.sends_endless_headers:
            with suppress(OSError):
                self.connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while not proxy.is_closing.wait(0.01):
                    self.connection.sendall(b"X-More: 1\r\n")
            return
        with socket.create_connection(("127.0.0.1", proxy.hosts[host])) as arena:
            self.connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            self._relay(proxy, arena)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if (proxy := self._authorize(parts.hostname or "")) is None:
            return
        query = f"?{parts.query}" if parts.query else ""
        head = f"{self.command} {parts.path}{query} HTTP/1.1\r\n"
        forwarded_headers = {
            k: v for k, v in self.headers.items() if not k.lower().startswith("proxy-")
        }
        forwarded_headers["Connection"] = "close"
        lines = "".join(f"{name}: {value}\r\n" for name, value in forwarded_headers.items())
        length = int(self.headers.get("Content-Length", 0))
        with socket.create_connection(("127.0.0.1", proxy.hosts[parts.hostname or ""])) as arena:
            arena.sendall(f"{head}{lines}\r\n".encode() + self.rfile.read(length))
            while data := arena.recv(65536):
                self.connection.sendall(data)

    do_POST = do_GET  # noqa: N815 - the name that http.server looks for

    def _authorize(self, host: str) -> ForwardProxy | None:
        """Return the proxy if the request may pass; otherwise refuse it and return None."""
        proxy: ForwardProxy = self.server.proxy  # type: ignore[attr-defined]
        self.close_connection = True
        proxy.requests.append((self.requestline, dict(self.headers)))
        credentials = base64.b64encode(proxy.login.encode()).decode()
        is_login_wrong = (
            bool(proxy.login) and self.headers.get("Proxy-Authorization") != f"Basic {credentials}"
        )
        if is_login_wrong or host not in proxy.hosts:
            self.connection.sendall(REFUSAL % (407 if is_login_wrong else 403))
            return None
        return proxy

    def _relay(self, proxy: ForwardProxy, arena: socket.socket) -> None:
        """Relay bytes in both directions until either side closes its connection."""
        with selectors.DefaultSelector() as selector, suppress(OSError):
            peers = {self.connection: arena, arena: self.connection}
            for connection in peers:
                selector.register(connection, selectors.EVENT_READ)
            while not proxy.is_closing.is_set():
                for key, _ in selector.select(0.05):
                    source: socket.socket = key.fileobj  # type: ignore[assignment]
                    data = source.recv(65536)
                    while isinstance(source, ssl.SSLSocket) and source.pending():
                        data += source.recv(65536)
                    if not data:
                        return
                    if source is self.connection:
                        proxy.tunnel_bytes += data
                    peers[source].sendall(data)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
