"""Connection limits of a local server, and the fair semaphore of its processor."""

import asyncio
import errno
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from support.store_fixtures import FakeClock
from support.waiting import HANG_SECONDS, wait_until

from cardsharp.bot.fair_semaphore import FairSemaphore
from cardsharp_tools.local_server import connections as module
from cardsharp_tools.local_server.connections import (
    HEADER_TIMEOUT,
    WRITE_STALL_TIMEOUT,
    ConnectionLimiter,
)
from cardsharp_tools.local_server.http_server import BackgroundServer, open_listening_socket
from cardsharp_tools.local_server.listening_socket import (
    MAX_ACCEPTS_PER_POLL,
    MAX_HANDOVERS_PER_POLL,
    DeferredAcceptSocket,
)

MAX_CONNECTIONS = 8

LARGE_SIZE = 32_000_000


class LimitedServer:
    """Server with a limit of eight connections, a manual clock, and requests that wait."""

    def __init__(self) -> None:
        self.clock_seconds, self.waiting_count, self.release_event = 0.0, 0, asyncio.Event()
        self.limiter = ConnectionLimiter(MAX_CONNECTIONS, lambda: self.clock_seconds)
        on_stop, limiter = self.release_event.set, self.limiter
        self.background = BackgroundServer(
            "The test", self._app, on_stop, limiter=limiter, lifespan="off"
        )
        self._connections: list[socket.socket] = []

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve /wait at the end, /player likewise to a signed-in client, /large a large body."""
        if scope["path"] == "/player":
            scope["state"]["signed_in"]()
        if scope["path"] in ("/wait", "/player"):
            self.waiting_count += 1
            await self.release_event.wait()
        body = bytes(LARGE_SIZE) if scope["path"] == "/large" else b"here"
        await Response(body)(scope, receive, send)

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.background._socket.getsockname()
        return host, port

    def connect(self, path: str | None = None) -> socket.socket:
        connection = socket.create_connection(self.address, timeout=HANG_SECONDS)
        self._connections.append(connection)
        if path is not None:
            send_request(connection, path)
        return connection

    def connect_and_wait(self, path: str) -> socket.socket:
        previous_waiting = self.waiting_count
        connection = self.connect(path)
        wait_until(lambda: self.waiting_count > previous_waiting)
        return connection

    def advance_and_close(self, duration: timedelta) -> None:
        self.clock_seconds += duration.total_seconds() + 0.1
        self.run_in_loop(self.limiter.close_expired_and_slow)

    def run_in_loop(self, callback: Callable[[], object]) -> None:
        self.background.loop.call_soon_threadsafe(callback)

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        self.background.stop()


def send_request(connection: socket.socket, path: str) -> None:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())


def is_closed(connection: socket.socket) -> bool:
    try:
        while connection.recv(1_000_000):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def is_still_open(connection: socket.socket) -> bool:
    send_request(connection, "/")
    return receives_response(connection)


def receives_response(connection: socket.socket) -> bool:
    received = b""
    while not received.endswith(b"here") and (chunk := connection.recv(1000)):
        received += chunk
    return received.startswith(b"HTTP/1.1 200")


@pytest.fixture
def server() -> Iterator[LimitedServer]:
    running_server = LimitedServer()
    running_server.background.start()
    yield running_server
    running_server.close()


def test_an_incomplete_request_header_times_out_within_ten_seconds(server: LimitedServer) -> None:
    """The limit holds for a new connection, with or without a byte, and for a reused one."""
    silent_connection, partial_connection, reused_connection, idle_connection = (
        server.connect() for _ in range(4)
    )
    for connection in (reused_connection, idle_connection):
        assert is_still_open(connection)
    partial_connection.sendall(b"GET / HTTP/1.1\r\nHo")
    reused_connection.sendall(b"GET / HTTP/1.1\r\nHo")
    wait_until(
        lambda: any(
            connection.first_byte_at is not None
            for connection in server.limiter._connections_by_peer.values()
        )
    )
    server.advance_and_close(HEADER_TIMEOUT)
    assert [
        is_closed(connection)
        for connection in (silent_connection, partial_connection, reused_connection)
    ] == [True] * 3
    assert is_still_open(idle_connection)


def test_silent_connections_cost_the_server_nothing(server: LimitedServer) -> None:
    """A silent connection takes no server state and is still served once it sends a request."""
    silent_connection, closed_connection = server.connect(), server.connect()
    closed_connection.close()
    assert is_still_open(server.connect())
    wait_until(lambda: len(server.limiter) == 2)
    assert len(server.background._server.server_state.connections) == 1
    assert is_still_open(silent_connection)


def test_a_reconnect_from_the_same_port_ends_the_earlier_connection(server: LimitedServer) -> None:
    """A client that left without closing must not take up a connection for ever."""
    loop_release = threading.Event()
    server.run_in_loop(partial(loop_release.wait, 5))
    for _ in range(3 * MAX_CONNECTIONS):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        connection.bind(("127.0.0.3", server.address[1]))
        connection.connect(server.address)
        connection.close()
    loop_release.set()
    assert is_still_open(server.connect())
    wait_until(lambda: server.limiter.open_handles == 1)
    assert sum(map(len, server.limiter._sets_by_state)) == 1


def test_idle_connections_are_closed_first_and_signed_in_waiters_never(
    server: LimitedServer,
) -> None:
    """The server never has more connections than its limit."""
    player_connections = [server.connect_and_wait("/player") for _ in range(2)]
    anonymous_connections = [server.connect_and_wait("/wait") for _ in range(2)]
    idle_connection = server.connect()
    assert is_still_open(idle_connection)
    flood = [server.connect() for _ in range(40)]
    assert sum(is_closed(connection) for connection in flood[:-1]) == len(flood) - 1
    assert len(server.limiter) <= MAX_CONNECTIONS
    assert is_still_open(idle_connection)
    for _ in range(5):
        server.connect_and_wait("/wait")
    assert is_closed(idle_connection)
    assert is_closed(anonymous_connections[0])
    server.run_in_loop(server.release_event.set)
    for player in player_connections:
        assert receives_response(player)


def test_where_all_have_signed_in_a_new_connection_is_refused(server: LimitedServer) -> None:
    share_of_one_address = MAX_CONNECTIONS * 3 // 4
    players = [server.connect_and_wait("/player") for _ in range(share_of_one_address)]
    assert is_closed(server.connect())
    server.run_in_loop(server.release_event.set)
    assert all(map(receives_response, players))


def test_an_idle_connection_is_closed_before_the_request_of_a_stranger(
    server: LimitedServer,
) -> None:
    strangers = [server.connect_and_wait("/wait") for _ in range(MAX_CONNECTIONS * 3 // 4 - 1)]
    idle_connection = server.connect()
    assert is_still_open(idle_connection)
    server.connect_and_wait("/wait")
    assert is_closed(idle_connection)
    server.run_in_loop(server.release_event.set)
    assert all(map(receives_response, strangers))


def test_the_handle_of_a_closed_connection_is_free_also_within_a_body(
    server: LimitedServer,
) -> None:
    """The server reads no more of a body that nobody takes, and would not see its end."""
    uploading_connection = server.connect()
    head = b"POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
    uploading_connection.sendall(head + bytes(150_000))
    wait_until(lambda: server.waiting_count == 1)
    for _ in range(MAX_CONNECTIONS * 3 // 4):
        server.connect_and_wait("/wait")
    assert is_closed(uploading_connection)
    wait_until(lambda: server.limiter.open_handles == len(server.limiter))


@pytest.fixture
def listener() -> Iterator[DeferredAcceptSocket]:
    """A listening socket without a server, of which the test takes connections itself."""
    listening = open_listening_socket("The test", "127.0.0.1", 0)
    listening.connections = ConnectionLimiter(1_000)
    listening.settimeout(0)
    yield listening
    listening.close()


def connect_and_speak(
    listener: DeferredAcceptSocket, source: str, count: int = 1
) -> list[socket.socket]:
    clients = []
    for _ in range(count):
        client = socket.create_connection(listener.getsockname(), source_address=(source, 0))
        client.sendall(b"GET / HTTP/1.1\r\n")
        clients.append(client)
    return clients


def accept_addresses(listener: DeferredAcceptSocket) -> list[str]:
    """Return the addresses of the connections that are handed over between two polls."""
    addresses = []
    with suppress(BlockingIOError):
        while True:
            connection, address = listener.accept()
            connection.close()
            addresses.append(address[0])
    return addresses


def test_a_client_with_one_connection_is_answered_before_a_flood(
    listener: DeferredAcceptSocket,
) -> None:
    """A few connections are handed over at a time, those of the least crowded address first."""
    clients = [
        *connect_and_speak(listener, "127.0.0.2", 20),
        *connect_and_speak(listener, "127.0.0.3"),
        *connect_and_speak(listener, "127.0.0.2", 20),
    ]
    handed_over = accept_addresses(listener)
    assert handed_over[0] == "127.0.0.3"
    assert len(handed_over) == MAX_HANDOVERS_PER_POLL
    for client in clients:
        client.close()


def test_a_flood_of_connections_is_taken_up_in_parts(listener: DeferredAcceptSocket) -> None:
    """The server looks at its other connections between two parts, and has handles left."""
    clients = connect_and_speak(listener, "127.0.0.2", MAX_ACCEPTS_PER_POLL + 10)
    accept_addresses(listener)
    assert len(listener.connections) == MAX_ACCEPTS_PER_POLL - MAX_HANDOVERS_PER_POLL
    listener.connections.max_open_handles = count = listener.connections.open_handles
    handed_over = accept_addresses(listener)
    assert listener.connections.open_handles == count - len(handed_over), "no more are taken up"
    for client in clients:
        client.close()


def test_a_response_that_is_not_read_is_dropped_eventually(server: LimitedServer) -> None:
    server.connect("/large")
    wait_until(lambda: server.limiter.unread_bytes > LARGE_SIZE // 2)
    server.advance_and_close(WRITE_STALL_TIMEOUT)
    wait_until(lambda: not len(server.limiter))
    assert server.limiter.unread_bytes == 0


def test_the_oldest_unread_responses_are_dropped_beyond_the_limit(
    server: LimitedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_UNREAD_BYTES", LARGE_SIZE)
    for size_limit in (LARGE_SIZE // 2, LARGE_SIZE, LARGE_SIZE + LARGE_SIZE // 2):
        server.connect("/large")
        wait_until(partial(lambda min_bytes: server.limiter.unread_bytes > min_bytes, size_limit))
        server.clock_seconds += 1
    server.advance_and_close(timedelta())
    wait_until(lambda: len(server.limiter) <= 1)
    assert server.limiter.unread_bytes <= LARGE_SIZE


def test_an_idle_connection_is_closed_when_file_handles_run_out(
    server: LimitedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server stays available: asyncio alone would retry and log two thousand times."""
    idle_connection = server.connect()
    assert is_still_open(idle_connection)
    accept = socket.socket.accept
    failed_sockets: list[socket.socket] = []

    def fail_first_accept(listening_socket: socket.socket) -> object:
        if not failed_sockets:
            failed_sockets.append(listening_socket)
            raise OSError(errno.EMFILE, "Too many open files")
        return accept(listening_socket)

    monkeypatch.setattr(socket.socket, "accept", fail_first_accept)
    assert is_still_open(server.connect())
    assert failed_sockets
    assert is_closed(idle_connection)


class PermitHolder:
    """Thread that takes a permit of the semaphore and releases it on demand."""

    def __init__(self, semaphore: FairSemaphore) -> None:
        """Start the thread; return once it waits for a permit or has it."""
        self.has_permit, self._release, previous_wait = (
            threading.Event(),
            threading.Event(),
            semaphore.expected_wait,
        )
        self._thread = threading.Thread(target=self._hold_permit, args=(semaphore,), daemon=True)
        self._thread.start()
        wait_until(lambda: semaphore.expected_wait != previous_wait or self.has_permit.is_set())

    def _hold_permit(self, semaphore: FairSemaphore) -> None:
        with semaphore.hold_permit():
            self.has_permit.set()
            self._release.wait(HANG_SECONDS)

    def release_permit(self) -> None:
        assert self.has_permit.wait(HANG_SECONDS)
        self._release.set()
        self._thread.join(HANG_SECONDS)


def test_a_fair_semaphore_grants_its_permits_in_the_order_of_arrival() -> None:
    semaphore = FairSemaphore(FakeClock(), permits=2)
    holders = [PermitHolder(semaphore) for _ in range(6)]
    for holder, later_holder in zip(holders, holders[2:], strict=False):
        assert not any(
            waiting_holder.has_permit.is_set()
            for waiting_holder in holders[holders.index(later_holder) :]
        )
        holder.release_permit()
        assert later_holder.has_permit.wait(HANG_SECONDS)
    for holder in holders[-2:]:
        holder.release_permit()
    for _ in range(3):  # a place is free again after a failure, too
        with pytest.raises(RuntimeError), semaphore.hold_permit():
            raise RuntimeError
    assert semaphore.expected_wait == timedelta(0)


def test_the_match_capacity_of_a_semaphore_follows_from_its_pace() -> None:
    clock = FakeClock()
    semaphore = FairSemaphore(clock, permits=1, max_wait=timedelta(seconds=4))
    assert semaphore.can_sustain(200)
    assert not semaphore.can_sustain(201)  # before anything was seen, 20 ms each
    holders = [PermitHolder(semaphore) for _ in range(90)]
    for holder in holders[:45]:
        clock.advance(timedelta(seconds=1))
        holder.release_permit()
    assert not semaphore.can_sustain(25)  # a second each of late
    assert semaphore.can_sustain(15)
    for holder in holders[45:]:
        holder.release_permit()
    assert semaphore.can_sustain(20)  # no time passed: better again
