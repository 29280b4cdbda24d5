"""The connections of a local server, and the line before its processor: who waits for whom."""

import asyncio
import errno
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from support.store_fixtures import FakeClock
from support.waiting import HANG_SECONDS, until

from cardsharp.bot.fair_semaphore import FairSemaphore
from cardsharp_tools.local_server import connections as module
from cardsharp_tools.local_server.connections import (
    HEADER_TIMEOUT,
    WRITE_STALL_TIMEOUT,
    ConnectionLimiter,
)
from cardsharp_tools.local_server.http_server import BackgroundServer

MAX_CONNECTIONS = 8

LARGE = 32_000_000


class Site:
    """A server with room for eight connections, a clock to turn, and requests that wait."""

    def __init__(self) -> None:
        self.clock_seconds, self.waiting, self.released = 0.0, 0, asyncio.Event()
        self.lines = ConnectionLimiter(MAX_CONNECTIONS, lambda: self.clock_seconds)
        wake, lines = self.released.set, self.lines
        self.background = BackgroundServer(
            "The test", self._app, wake, limiter=lines, lifespan="off"
        )
        self._called: list[socket.socket] = []

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """/wait answers at the end, /player the same to who has signed in, /large much."""
        if scope["path"] == "/player":
            scope["state"]["signed_in"]()
        if scope["path"] in ("/wait", "/player"):
            self.waiting += 1
            await self.released.wait()
        body = bytes(LARGE) if scope["path"] == "/large" else b"here"
        await Response(body)(scope, receive, send)

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.background._socket.getsockname()
        return host, port

    def call(self, path: str | None = None) -> socket.socket:
        line = socket.create_connection(self.address, timeout=HANG_SECONDS)
        self._called.append(line)
        if path is not None:
            ask(line, path)
        return line

    def wait(self, path: str) -> socket.socket:
        previous_waiting = self.waiting
        line = self.call(path)
        until(lambda: self.waiting > previous_waiting)
        return line

    def later(self, time: timedelta) -> None:
        self.clock_seconds += time.total_seconds() + 0.1
        self.do(self.lines.close_expired_and_slow)

    def do(self, callback: Callable[[], object]) -> None:
        self.background.loop.call_soon_threadsafe(callback)

    def close(self) -> None:
        for line in self._called:
            line.close()
        self.background.stop()


def ask(line: socket.socket, path: str) -> None:
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())


def is_closed(line: socket.socket) -> bool:
    try:
        while line.recv(1_000_000):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def still_open(line: socket.socket) -> bool:
    ask(line, "/")
    return answered(line)


def answered(line: socket.socket) -> bool:
    received = b""
    while not received.endswith(b"here") and (more := line.recv(1000)):
        received += more
    return received.startswith(b"HTTP/1.1 200")


@pytest.fixture
def site() -> Iterator[Site]:
    running_site = Site()
    running_site.background.start()
    yield running_site
    running_site.close()


def test_half_a_head_is_waited_for_ten_seconds(site: Site) -> None:
    """On a new connection, without a byte as well, and on one that was used before."""
    silent, half, used, idle = (site.call() for _ in range(4))
    for line in (used, idle):
        assert still_open(line)
    half.sendall(b"GET / HTTP/1.1\r\nHo")
    used.sendall(b"GET / HTTP/1.1\r\nHo")
    until(
        lambda: any(
            line.first_byte_at is not None for line in site.lines._connections_by_peer.values()
        )
    )
    site.later(HEADER_TIMEOUT)
    assert [is_closed(line) for line in (silent, half, used)] == [True] * 3
    assert still_open(idle)


def test_silent_connections_cost_the_server_nothing(site: Site) -> None:
    """Nor does who goes without a word; who speaks at last is answered."""
    silent, gone = site.call(), site.call()
    gone.close()
    assert still_open(site.call())
    until(lambda: len(site.lines) == 2)
    assert len(site.background._server.server_state.connections) == 1
    assert still_open(silent)


def test_a_reconnect_from_the_same_port_ends_the_earlier_connection(site: Site) -> None:
    """A client that went in silence left its place taken for ever, and the server without room."""
    busy = threading.Event()
    site.do(partial(busy.wait, 5))
    for _ in range(3 * MAX_CONNECTIONS):
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.bind(("127.0.0.3", site.address[1]))
        line.connect(site.address)
        line.close()
    busy.set()
    assert still_open(site.call())
    until(lambda: site.lines.open_handles == 1)
    assert sum(map(len, site.lines._sets_by_state)) == 1


def test_idle_connections_are_closed_first_and_signed_in_waiters_never(site: Site) -> None:
    """The server never has more connections than it has room for."""
    players = [site.wait("/player") for _ in range(2)]
    strangers = [site.wait("/wait") for _ in range(2)]
    idle = site.call()
    assert still_open(idle)
    flood = [site.call() for _ in range(40)]
    assert sum(is_closed(line) for line in flood[:-1]) == len(flood) - 1
    assert len(site.lines) <= MAX_CONNECTIONS
    assert still_open(idle)
    for _ in range(5):
        site.wait("/wait")
    assert is_closed(idle)
    assert is_closed(strangers[0])
    site.do(site.released.set)
    for player in players:
        assert answered(player)


def test_a_response_that_is_not_read_is_dropped_eventually(site: Site) -> None:
    site.call("/large")
    until(lambda: site.lines.unread_bytes > LARGE // 2)
    site.later(WRITE_STALL_TIMEOUT)
    until(lambda: not len(site.lines))
    assert site.lines.unread_bytes == 0


def test_of_too_many_unread_the_oldest_go(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_UNREAD_BYTES", LARGE)
    for enough in (LARGE // 2, LARGE, LARGE + LARGE // 2):
        site.call("/large")
        until(partial(lambda min_bytes: site.lines.unread_bytes > min_bytes, enough))
        site.clock_seconds += 1
    site.later(timedelta())
    until(lambda: len(site.lines) <= 1)
    assert site.lines.unread_bytes <= LARGE


def test_an_idle_connection_is_closed_when_file_handles_run_out(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing stops: asyncio would try two thousand times, and log each of them."""
    idle = site.call()
    assert still_open(idle)
    accept = socket.socket.accept
    failed: list[socket.socket] = []

    def no_handle(door: socket.socket) -> object:
        if not failed:
            failed.append(door)
            raise OSError(errno.EMFILE, "Too many open files")
        return accept(door)

    monkeypatch.setattr(socket.socket, "accept", no_handle)
    assert still_open(site.call())
    assert failed
    assert is_closed(idle)


class Person:
    """One who stands in a line, and leaves a place that was given when told to."""

    def __init__(self, line: FairSemaphore) -> None:
        """Come once whoever came before stands in line or has a place."""
        self.inside, self._go, previous_wait = (
            threading.Event(),
            threading.Event(),
            line.expected_wait,
        )
        self._thread = threading.Thread(target=self._stand, args=(line,), daemon=True)
        self._thread.start()
        until(lambda: line.expected_wait != previous_wait or self.inside.is_set())

    def _stand(self, line: FairSemaphore) -> None:
        with line.hold_permit():
            self.inside.set()
            self._go.wait(HANG_SECONDS)

    def leave(self) -> None:
        assert self.inside.wait(HANG_SECONDS)
        self._go.set()
        self._thread.join(HANG_SECONDS)


def test_a_line_serves_so_many_at_a_time_and_in_the_order_in_which_they_came() -> None:
    line = FairSemaphore(FakeClock(), permits=2)
    crowd = [Person(line) for _ in range(6)]
    for person, later in zip(crowd, crowd[2:], strict=False):
        assert not any(waits.inside.is_set() for waits in crowd[crowd.index(later) :])
        person.leave()
        assert later.inside.wait(HANG_SECONDS)
    for person in crowd[-2:]:
        person.leave()
    for _ in range(3):  # a place is free again after a failure, too
        with pytest.raises(RuntimeError), line.hold_permit():
            raise RuntimeError
    assert line.expected_wait == timedelta(0)


def test_the_match_capacity_of_a_semaphore_follows_from_its_pace() -> None:
    clock = FakeClock()
    line = FairSemaphore(clock, permits=1, max_wait=timedelta(seconds=4))
    assert line.can_sustain(200)
    assert not line.can_sustain(201)  # before anything was seen, 20 ms each
    crowd = [Person(line) for _ in range(90)]
    for person in crowd[:45]:
        clock.advance(timedelta(seconds=1))
        person.leave()
    assert not line.can_sustain(25)  # a second each of late
    assert line.can_sustain(15)
    for person in crowd[45:]:
        person.leave()
    assert line.can_sustain(20)  # no time passed: better again
