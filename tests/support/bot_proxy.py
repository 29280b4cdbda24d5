"""A gateway before the arena that can change or spoil what passes."""

import http.client
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self, cast
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Passing:
    """A request on its way through."""

    method: str
    path: str
    body: bytes

    @property
    def is_action(self) -> bool:
        """Whether it plays an action."""
        return self.method == "POST" and self.path.startswith("/api/matches/")

    @property
    def is_look(self) -> bool:
        """Whether it looks at one match."""
        return self.method == "GET" and self.path.startswith("/api/matches/")


@dataclass(frozen=True)
class Reply:
    """The answer on its way back."""

    status: int
    body: bytes
    content_type: str = "application/json; charset=utf-8"


Back = Callable[[Passing, Reply], Reply]


def as_it_is(_passing: Passing, reply: Reply) -> Reply:
    """Change nothing."""
    return reply


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        proxy = cast("_Server", self.server).proxy
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        passing = Passing(self.command, self.path, body)
        reply = proxy.pass_on(passing, self.headers.get("Authorization", ""))
        if reply is None:
            self.close_connection = True
            return
        with suppress(OSError):  # a client that gave up
            self.send_response_only(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

    do_GET = do_POST = _serve  # noqa: N815 - the names that http.server looks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited name
        """Keep quiet."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    proxy: "Proxy"


class Proxy:
    """Passes requests on to the arena; `out` changes bodies, `back` changes answers.

    While the arena is gone it hangs up without an answer.
    """

    def __init__(
        self, arena_url: str, back: Back = as_it_is, out: Callable[[bytes], bytes] = bytes
    ) -> None:
        self._arena = urlsplit(arena_url)
        self._back = back
        self._out = out
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def pass_on(self, passing: Passing, authorization: str) -> Reply | None:
        """The arena's answer as the client gets it, None where there is none."""
        connection = http.client.HTTPConnection(
            str(self._arena.hostname), self._arena.port, timeout=60
        )
        headers = {"Authorization": authorization, "Content-Type": "application/json"}
        try:
            connection.request(passing.method, passing.path, self._out(passing.body), headers)
            answer = connection.getresponse()
            reply = Reply(answer.status, answer.read())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        return self._back(passing, reply)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
