"""A body that never comes whole: both of our servers end the wait, and nobody else is cut short."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.arena import ALICE, basic, running_arena

from workbench import listening
from workbench.cloud.context import Function
from workbench.cloud.http_front import HttpFront

LIMIT = timedelta(seconds=0.3)
HALF = b'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"tags":'


@contextmanager
def arena(folder: Path) -> Iterator[str]:
    with running_arena(folder, poll_timeout=3 * LIMIT) as (server, _):
        yield server.url


@contextmanager
def front(_folder: Path) -> Iterator[str]:
    handler = Function("echo", lambda event, _: event["body"], timedelta(seconds=29))
    with HttpFront(handler) as server:
        yield server.url


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "BODY_LIMIT", LIMIT)


def everything(url: str, request: bytes) -> bytes:
    """All that is answered before the server closes the connection."""
    parts = urlsplit(url)
    with socket.create_connection((str(parts.hostname), parts.port or 0), timeout=20) as client:
        client.sendall(request)
        answer = b""
        while chunk := client.recv(65_536):
            answer += chunk
        return answer


@pytest.mark.parametrize("server", [arena, front])
def test_half_a_body_is_answered_and_the_connection_closed(
    server: Callable[[Path], "contextmanager[str]"], tmp_path: Path
) -> None:
    with server(tmp_path) as url:
        head = f"POST /api/matches HTTP/1.1\r\nHost: x\r\nAuthorization: {basic(ALICE)}\r\n"
        answer = everything(url, head.encode() + HALF)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"did not come" in answer
    assert b"connection: close" in answer.lower()


def test_a_long_poll_outlasts_the_limit(tmp_path: Path) -> None:
    """The limit is that of the body, which is whole before anybody waits."""
    with arena(tmp_path) as url:
        head = "GET /api/matches?waitactive=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        answer = everything(url, f"{head}Authorization: {basic(ALICE)}\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 200 ")
