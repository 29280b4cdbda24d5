"""A real HTTP server that misbehaves by script, and records every request it gets.

with FaultServer(HANG, answer(body=b"{}")) as arena:
    ...  # the first request hangs, every later one is answered; arena.seen has them all
"""

import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from support.ports import unused_port
from support.waiting import HANG_SECONDS

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True)
class RecordedRequest:
    """A request as it arrived; `at` is the monotonic time in seconds."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    received_at: float


class Handler(BaseHTTPRequestHandler):
    """Records a request and lets the script's next fault answer it."""

    protocol_version = "HTTP/1.1"
    server: "FaultServer"

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.server.record(
            RecordedRequest(self.command, self.path, dict(self.headers), body, time.monotonic())
        )
        with suppress(OSError):  # a client that gave up is what the test wants
            fault(self)

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - the names that http.server looks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited name
        """Keep quiet."""


Fault = Callable[[Handler], None]


class FaultServer(ThreadingHTTPServer):
    """Serves `script` at a port of its own for as long as the `with` lasts.

    Every request so far is in `seen`, in order of arrival.
    """

    def __init__(self, *script: Fault) -> None:
        super().__init__(("127.0.0.1", unused_port()), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.requests: list[RecordedRequest] = []
        self.is_over = threading.Event()
        self._script = list(script)
        self._lock = threading.Lock()
        self._broken: list[str] = []
        self._hung_up = threading.Event()

    def wait_until_hung_up(self) -> None:
        """Return once the server has closed a connection."""
        if not self._hung_up.wait(HANG_SECONDS):
            raise TimeoutError("the fault server has closed no connection")

    def close_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Close a connection, and tell those who wait for that."""
        super().close_request(request)
        self._hung_up.set()

    def record(self, request: RecordedRequest) -> Fault:
        """The fault for this request: the script's next, or its last again and again."""
        with self._lock:
            self.requests.append(request)
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def handle_error(self, *_: object) -> None:
        """Note a fault of the fault server itself, which is raised at its end."""
        if not isinstance(sys.exc_info()[1], OSError):  # a client that hung up is no fault
            self._broken.append(traceback.format_exc())

    def __enter__(self) -> Self:
        # The default poll interval of half a second would be paid at the end of every test.
        threading.Thread(target=self.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.is_over.set()
        self.shutdown()
        self.server_close()
        if kind is None and self._broken:
            raise RuntimeError(f"the fault server itself failed: {self._broken[0]}")


def _head(
    length: int | None = None, status: int = 200, headers: Mapping[str, str] | None = None
) -> bytes:
    all_headers = {"Content-Type": JSON, **(headers or {})}
    all_headers |= {} if length is None else {"Content-Length": str(length)}
    lines = [
        f"HTTP/1.1 {status} Said",
        *(f"{name}: {value}" for name, value in all_headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def full_response(
    status: int = 200,
    body: bytes = b"{}",
    headers: Mapping[str, str] | None = None,
) -> Fault:
    """A whole, well-formed answer."""
    head = _head(len(body), status, headers)
    return lambda handler: handler.wfile.write(head + body)


def html(status: int = 200) -> Fault:
    """A page for people."""
    page = b"<!DOCTYPE html>\n<html><body>Cannot GET /api/nothing</body></html>"
    return full_response(status, page, {"Content-Type": "text/html; charset=utf-8"})


def raw_response(
    *chunks: bytes, pause_seconds: float = 0.0, keep_open: bool = False, repeat: bytes = b""
) -> Fault:
    """These bytes, `pause` seconds after each, and the end of the connection.

    It stays as long as the test does, with `again` and again this.
    """

    def fault(handler: Handler) -> None:
        handler.close_connection = True
        for piece in chunks:
            handler.wfile.write(piece)
            if handler.server.is_over.wait(pause_seconds):
                return
        while repeat and not handler.server.is_over.wait(pause_seconds):
            handler.wfile.write(repeat)
        if keep_open:
            handler.server.is_over.wait()

    return fault


HANG = raw_response(keep_open=True)
EARLY_HINTS = raw_response(_head(status=103), keep_open=True)
"""An early hint, and no answer after it before the test ends."""

CLOSE = raw_response()  # the connection ends after the request was read, without an answer

SMTP_BANNER = raw_response(b"220 mail.example.org ESMTP\r\n")


def truncated_response(body: bytes, missing: int = 10) -> Fault:
    """An answer of which so many bytes never come, for the connection closes without a word."""
    return raw_response(_head(len(body) + missing) + body)


def slow_response(body: bytes, pause: float) -> Fault:
    """An answer of which one byte comes every `pause` seconds."""
    return raw_response(_head(len(body)), *(bytes([byte]) for byte in body), pause_seconds=pause)


def stalled_response(body: bytes) -> Fault:
    """Half an answer, and then silence before the test ends."""
    return raw_response(_head(len(body)) + body[: len(body) // 2], keep_open=True)


def oversized_response(
    size: int, status: int = 200, headers: Mapping[str, str] | None = None
) -> Fault:
    """A body of `size` bytes of blanks, which JSON would allow, of unannounced length."""
    head = _head(status=status, headers={"Connection": "close", **(headers or {})})
    return raw_response(head, *[b" " * 65536] * (size // 65536))


def reset_connection(handler: Handler) -> None:
    """The connection is reset after the request was read."""
    handler.close_connection = True
    linger_none = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_none)
    handler.rfile.close()
    handler.connection.close()


_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


ENDLESS: Mapping[str, Fault] = {
    "hints": raw_response(repeat=b"HTTP/1.1 100 Continue\r\n\r\n" * 100, pause_seconds=0.005),
    "a header that drips": raw_response(_OK + b"X: ", repeat=b"x", pause_seconds=0.005),
    "trailers": raw_response(
        _OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n",
        repeat=b"X: y\r\n",
        pause_seconds=0.005,
    ),
    "a body without a length": raw_response(_OK + b"\r\n", repeat=b" ", pause_seconds=0.005),
}
"""Answers that never end and are never silent."""
