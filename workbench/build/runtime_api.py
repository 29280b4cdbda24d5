"""The Lambda Runtime API on loopback, as one execution environment sees it.

AWS's own runtime client (`awslambdaric`) asks it for the next invocation and gives it the answer:
GET /2018-06-01/runtime/invocation/next, POST …/invocation/ID/response or …/ID/error, and POST
…/init/error when the handler cannot be imported.
"""

import json
import queue
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from cardsharp.errors import CardsharpError

HOST = "127.0.0.1"
_LOOK = 0.2
"""Seconds between looks at whether the environment still runs."""

_TICK = 0.05
"""Seconds after which the server looks whether it is to end."""

_ARN = "arn:aws:lambda:us-east-1:000000000000:function:"


class RuntimeFault(CardsharpError):
    """The function failed, could not be imported, or did not answer in time."""


class RuntimeApi:
    """Serves one execution environment between enter and exit.

    `on_first_poll` is called in the server's thread when the environment asks for its first
    invocation: its init phase is over then. `alive` tells whether the environment still runs.
    """

    def __init__(
        self, function: str, on_first_poll: Callable[[], None], alive: Callable[[], bool]
    ) -> None:
        self._function = function
        self._on_first_poll = on_first_poll
        self._alive = alive
        self._pending: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()
        self._outcomes: queue.Queue[tuple[str, bytes]] = queue.Queue()
        self._ready = threading.Event()
        self._server = _Server((HOST, 0), _handler_for(self))
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(_TICK,), daemon=True)

    @property
    def address(self) -> str:
        """What AWS_LAMBDA_RUNTIME_API has to say."""
        return f"{HOST}:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def await_init(self, limit: timedelta) -> None:
        """Wait until the environment is ready.

        Raises:
            RuntimeFault: the handler could not be imported, or not in time.
        """
        end = time.monotonic() + limit.total_seconds()
        while not self._ready.wait(_LOOK):
            if not self._outcomes.empty():
                raise RuntimeFault(f"{self._function}: {_sentence(self._outcomes.get()[1])}")
            if time.monotonic() > end or not self._alive():
                raise RuntimeFault(f"{self._function} did not get ready.")

    def invoke(self, event: object, timeout: timedelta) -> Any:  # noqa: ANN401 - any JSON
        """What the handler answers to an event within the function's timeout.

        Raises:
            RuntimeFault: it failed, or did not answer.
        """
        seconds = timeout.total_seconds()
        headers = {
            "Lambda-Runtime-Aws-Request-Id": str(uuid.uuid4()),
            "Lambda-Runtime-Deadline-Ms": str(round((time.time() + seconds) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": _ARN + self._function,
            # AWS's client dies of a missing content type.
            "Content-Type": "application/json",
        }
        self._pending.put((headers, json.dumps(event).encode()))
        kind, body = self._outcome(time.monotonic() + seconds)
        if kind != "response":
            raise RuntimeFault(f"{self._function}: {_sentence(body)}")
        return json.loads(body or b"null")

    def _outcome(self, end: float) -> tuple[str, bytes]:
        while time.monotonic() < end:
            with suppress(queue.Empty):
                return self._outcomes.get(timeout=_LOOK)
            if not self._alive():
                raise RuntimeFault(f"{self._function}: its process died.")
        raise RuntimeFault(f"{self._function}: no answer within its timeout.")

    def next_headers_and_body(self) -> tuple[dict[str, str], bytes]:
        """The next invocation, waiting for one; the environment asks for it."""
        if not self._ready.is_set():
            self._on_first_poll()
            self._ready.set()
        return self._pending.get()

    def settle(self, kind: str, body: bytes) -> None:
        """Take what the environment said: "response" or "error" with a body."""
        self._outcomes.put((kind, body))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of connections that an ending environment drops."""


def _sentence(body: bytes) -> str:
    """What went wrong, as the runtime client tells it."""
    told = json.loads(body or b"{}")
    return f"{told.get('errorType', 'error')}: {told.get('errorMessage', 'no message')}"


def _handler_for(api: RuntimeApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are two writes, and the second must not wait for the first to be confirmed.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._reply(200, *api.next_headers_and_body())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            api.settle(self.path.rpartition("/")[2], body)
            self._reply(202, {}, b'{"status": "OK"}')

        def _reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    return Handler
