"""Real HTTP server that misbehaves by a script, and records every request.

with FaultServer(HANG, full_response(body=b"{}")) as arena:
    ...

The first request hangs, and every later one gets a response; `arena.requests` has them
all.
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

JSON_CONTENT_TYPE = "application/json; charset=utf-8"


@dataclass(frozen=True)
class RecordedRequest:
    """Request as it arrived; `received_at` is the monotonic time in seconds."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    received_at: float


class Handler(BaseHTTPRequestHandler):
    """Handler that records a request and lets the script's next fault respond to it."""

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
        """Log nothing."""


Fault = Callable[[Handler], None]


class FaultServer(ThreadingHTTPServer):
    """Server that responds by a script, at a port of its own, within a `with` block.

    `requests` has all requests so far, in order of arrival.
    """

    def __init__(self, *script: Fault) -> None:
        super().__init__(("127.0.0.1", unused_port()), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.requests: list[RecordedRequest] = []
        self.is_stopping = threading.Event()
        self._script = list(script)
        self._lock = threading.Lock()
        self._server_errors: list[str] = []
        self._connection_closed = threading.Event()

    def wait_until_connection_closed(self) -> None:
        """Return once the server has closed a connection."""
        if not self._connection_closed.wait(HANG_SECONDS):
            raise TimeoutError("the fault server has closed no connection")

    def close_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Close a connection, and signal that."""
        super().close_request(request)
        self._connection_closed.set()

    def record(self, request: RecordedRequest) -> Fault:
        """Record a request and return its fault: the script's next, or the last one again."""
        with self._lock:
            self.requests.append(request)
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def handle_error(self, *_: object) -> None:
        """Record an error of the fault server itself, which `__exit__` raises."""
        if not isinstance(sys.exc_info()[1], OSError):  # a client that hung up is no fault
            self._server_errors.append(traceback.format_exc())

    def __enter__(self) -> Self:
        # The default poll interval of half a second would be paid at the end of every test.
        threading.Thread(target=self.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.is_stopping.set()
        self.shutdown()
        self.server_close()
        if kind is None and self._server_errors:
            raise RuntimeError(f"the fault server itself failed: {self._server_errors[0]}")


def _response_head(
    length: int | None = None, status: int = 200, headers: Mapping[str, str] | None = None
) -> bytes:
    all_headers = {"Content-Type": JSON_CONTENT_TYPE, **(headers or {})}
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
    """Return a fault that sends a complete, well-formed response."""
    head = _response_head(len(body), status, headers)
    return lambda handler: handler.wfile.write(head + body)


def html_response(status: int = 200) -> Fault:
    """Return a fault that sends a page for people."""
    page = b"<!DOCTYPE html>\n<html><body>Cannot GET /api/nothing</body></html>"
    return full_response(status, page, {"Content-Type": "text/html; charset=utf-8"})


def raw_response(
    *chunks: bytes, pause_seconds: float = 0.0, keep_open: bool = False, repeat: bytes = b""
) -> Fault:
    """Return a fault that sends these bytes, with a pause after each chunk, and hangs up.

    It then sends `repeat` again and again, or keeps the connection open, until the test ends.
    """

    def fault(handler: Handler) -> None:
        handler.close_connection = True
        for chunk in chunks:
            handler.wfile.write(chunk)
            if handler.server.is_stopping.wait(pause_seconds):
                return
        while repeat and not handler.server.is_stopping.wait(pause_seconds):
            handler.wfile.write(repeat)
        if keep_open:
            handler.server.is_stopping.wait()

    return fault


HANG = raw_response(keep_open=True)
EARLY_HINTS = raw_response(_response_head(status=103), keep_open=True)
"""An early hint, and no answer after it before the test ends."""

CLOSED_CONNECTION = (
    raw_response()
)  # the connection ends after the request was read, without an answer

SMTP_BANNER = raw_response(b"220 mail.example.org ESMTP\r\n")


def truncated_response(body: bytes, missing: int = 10) -> Fault:
    """Return a fault whose connection closes before the last bytes of the response."""
    return raw_response(_response_head(len(body) + missing) + body)


def slow_response(body: bytes, pause: float) -> Fault:
    """Return a fault that sends a byte of the response every `pause` seconds."""
    return raw_response(
        _response_head(len(body)), *(bytes([byte]) for byte in body), pause_seconds=pause
    )


def stalled_response(body: bytes) -> Fault:
    """Return a fault that sends half a response, and is silent until the test ends."""
    return raw_response(_response_head(len(body)) + body[: len(body) // 2], keep_open=True)


def oversized_response(
    size: int, status: int = 200, headers: Mapping[str, str] | None = None
) -> Fault:
    """Return a fault that sends `size` blanks, valid JSON of unannounced length."""
    head = _response_head(status=status, headers={"Connection": "close", **(headers or {})})
    return raw_response(head, *[b" " * 65536] * (size // 65536))


def reset_connection(handler: Handler) -> None:
    """Reset the connection without a response, as a fault of the script."""
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
