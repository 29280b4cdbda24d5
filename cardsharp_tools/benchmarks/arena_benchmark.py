"""Benchmark of the arena against a bare request and response measured in the same run.

    python -m cardsharp_tools.benchmarks.arena_benchmark wake    how soon a move reaches a
    waiting client
    python -m cardsharp_tools.benchmarks.arena_benchmark hold    a thousand waiting clients

The arena runs in a separate process; minimal clients in this process call it over loopback.
Figures of two runs compare only if nothing else was running; the ratio to the baseline is more
reliable.
"""

import asyncio
import base64
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

import cyclopts
from rich.console import Console

from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp_tools.games.deadmansdraw.emulated_arena import unstarted_emulated_arena
from cardsharp_tools.local_play.opponent import BOT_CREDENTIALS, OPPONENT_CREDENTIALS
from cardsharp_tools.local_server.arena_server import ArenaServer

FIRST_PLAYER, SECOND_PLAYER = BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]
PASSWORDS = dict((BOT_CREDENTIALS, OPPONENT_CREDENTIALS))
app = cyclopts.App(help=__doc__, help_format="plaintext")
console = Console(highlight=False)

WAITING_CLIENTS = 1000
WAKE_ROUNDS = 300
PLAIN_REQUESTS = 300  # how many clients wait, turns are awaited, plain requests are made

DRAW_ACTION = {"etype": "Draw", "autopick": True}


@dataclass(frozen=True)
class ArenaProcess:
    """Benchmark's handle of the arena process, which exits when its connection is closed."""

    url: str
    pipe: Connection

    def request(self, command: str, seed: int = 0) -> Any:  # noqa: ANN401 - one of three numbers or ids
        """Send a command to the arena process and return its answer.

        `create` creates a match with this seed; `waiting` counts the waiting clients, and
        `cpu` the used seconds of processor time.
        """
        self.pipe.send((command, seed))
        return self.pipe.recv()


def _serve_arena(connection: Connection, in_cloud: bool) -> None:
    with ExitStack() as stack:
        config = ArenaConfig()
        arena = (
            stack.enter_context(unstarted_emulated_arena(config))
            if in_cloud
            else ArenaServer(config)
        )
        stack.enter_context(arena)
        work: dict[str, Callable[[int], object]] = {
            "create": lambda seed: arena.create_match_and_get_id(
                [FIRST_PLAYER, SECOND_PLAYER], seed=str(seed)
            ),
            "waiting": lambda _: arena.long_poll_count,
            "cpu": lambda _: time.process_time(),
        }
        connection.send(arena.url)
        with suppress(EOFError):
            while True:
                command, seed = connection.recv()
                connection.send(work[command](seed))


@contextmanager
def start_arena_process(*, use_emulator: bool = False) -> Iterator[ArenaProcess]:
    """Start an arena in a separate process."""
    context = get_context("spawn")
    parent_end, child_end = context.Pipe()
    process = context.Process(target=_serve_arena, args=(child_end, use_emulator))
    process.start()
    child_end.close()
    try:
        yield ArenaProcess(parent_end.recv(), parent_end)
    finally:
        parent_end.close()
        process.join(timeout=20)


class PlayerConnection:
    """One kept-alive connection of one player."""

    def __init__(self, url: str, player_id: str) -> None:
        parts = urlsplit(url)
        self._address = parts.hostname, parts.port
        token = base64.b64encode(f"{player_id}:{PASSWORDS[player_id]}".encode()).decode()
        self._request_headers = f"Host: {parts.netloc}\r\nAuthorization: Basic {token}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def request(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Send a request and return the status and the JSON of the response."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._address)
        reader, writer = self._streams
        raw = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self._request_headers}"
        if raw:
            head += f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n"
        writer.write(f"{head}\r\n".encode() + raw)
        response_head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        content_length = int(response_head.partition("content-length:")[2].partition("\r\n")[0])
        return int(response_head[9:12]), json.loads(await reader.readexactly(content_length))

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()


@app.command
async def measure_wakeup_latency(*, emulator: bool = False, rounds: int = WAKE_ROUNDS) -> None:
    """Measure the delay from the end of a turn to the response of the other player's long poll.

    With --emulator the arena runs as it does in the cloud.
    """
    with start_arena_process(use_emulator=emulator) as arena:
        connections = {
            player: PlayerConnection(arena.url, player) for player in (FIRST_PLAYER, SECOND_PLAYER)
        }
        sleeper = {
            player: PlayerConnection(arena.url, player) for player in (FIRST_PLAYER, SECOND_PLAYER)
        }
        trips, wakes = [], []
        for seed in range(rounds):
            path, mover, waiting_player = await _create_match(
                arena, connections[FIRST_PLAYER], seed
            )
            trips.append(
                await _measure_latency(connections[mover].request("POST", path, DRAW_ACTION))
            )
            poll_request = sleeper[waiting_player].request(
                "GET", f"{path}?waitactive=1&showevents=1"
            )
            poll = asyncio.ensure_future(_await_with_arrival_time(poll_request))
            await _wait_for_clients(arena, 1)
            # Somewhere between two of the table's reads.
            await asyncio.sleep(random.random() if emulator else 0)
            wakes.append(await _measure_wake_up(connections[mover], path, poll))
        for connection in (*connections.values(), *sleeper.values()):
            connection.close()
    _print_comparison("wake-up of a waiting client", wakes, "a plain POST and its answer", trips)


async def _create_match(
    arena: ArenaProcess, connection: PlayerConnection, seed: int
) -> tuple[str, str, str]:
    """Create a match; return its path, its player to act and the other player."""
    path = f"/api/matches/{arena.request('create', seed)}"
    _, view = await connection.request("GET", path)
    return path, *(
        (FIRST_PLAYER, SECOND_PLAYER)
        if view["activePlayerIndex"] == 0
        else (SECOND_PLAYER, FIRST_PLAYER)
    )


async def _measure_wake_up(
    mover: PlayerConnection, path: str, poll: "asyncio.Future[tuple[int, float]]"
) -> float:
    """Return the seconds from sending a turn's last action to the waiting client's response."""
    began = time.perf_counter()
    await mover.request("POST", path, {"etype": "EndTurn", "autopick": True})
    status, end_time = await poll
    if status != 200:  # noqa: PLR2004 - the one good answer
        raise SystemExit(f"A waiting client got {status}.")
    return end_time - began


@app.command
async def measure_waiting_clients() -> None:
    """Measure a thousand clients that wait in separate matches until all are woken."""
    with start_arena_process() as arena:
        plain = PlayerConnection(arena.url, FIRST_PLAYER)
        idle = [
            await _measure_latency(plain.request("GET", "/api/whoami"))
            for _ in range(PLAIN_REQUESTS)
        ]
        matches = [await _create_match(arena, plain, seed) for seed in range(WAITING_CLIENTS)]
        sleepers = [PlayerConnection(arena.url, waiting_player) for _, _, waiting_player in matches]
        began = time.perf_counter()
        polls = [
            asyncio.ensure_future(
                _await_with_arrival_time(sleeper.request("GET", f"{path}?waitactive=1"))
            )
            for sleeper, (path, _, _) in zip(sleepers, matches, strict=True)
        ]
        await _wait_for_clients(arena, WAITING_CLIENTS)
        arrived = time.perf_counter() - began
        start_cpu = arena.request("cpu")
        busy = [
            await _measure_latency(plain.request("GET", "/api/whoami"))
            for _ in range(PLAIN_REQUESTS)
        ]
        cost = arena.request("cpu") - start_cpu
        wakes = []
        for (path, mover, _), poll in zip(matches, polls, strict=True):
            connection = PlayerConnection(arena.url, mover)
            await connection.request("POST", path, DRAW_ACTION)
            wakes.append(await _measure_wake_up(connection, path, poll))
            connection.close()
        for connection in (plain, *sleepers):
            connection.close()
    console.print(f"{WAITING_CLIENTS} clients waiting, all connected after {arrived:.2f} s")
    console.print(f"CPU of {PLAIN_REQUESTS} requests while they wait: {cost * 1000:.0f} ms")
    _print_comparison(
        "a request while they wait", busy, "the same request with nobody waiting", idle
    )
    _print_comparison("wake-up of each of them", wakes, "a plain request and its answer", idle)


async def _wait_for_clients(arena: ArenaProcess, client_count: int) -> None:
    while arena.request("waiting") < client_count:  # noqa: ASYNC110 - another process: no event to wait for
        await asyncio.sleep(0.001)


async def _await_with_arrival_time(
    pending_response: Awaitable[tuple[int, Any]],
) -> tuple[int, float]:
    """Return the status of a response and the time at which it arrived."""
    return (await pending_response)[0], time.perf_counter()


async def _measure_latency(pending_response: Awaitable[object]) -> float:
    """Return the seconds from the request to the response."""
    began = time.perf_counter()
    await pending_response
    return time.perf_counter() - began


def _print_comparison(
    name: str, latencies: list[float], baseline_name: str, baseline: list[float]
) -> None:
    console.print(f"{name}: {_format_latencies(latencies)}")
    console.print(f"  {baseline_name}: {_format_latencies(baseline)}")
    console.print(f"  ratio of the medians: {median(latencies) / median(baseline):.1f}")


def _format_latencies(latencies: list[float]) -> str:
    p95 = quantiles(latencies, n=20)[18]
    return f"median {median(latencies) * 1000:.2f} ms, p95 {p95 * 1000:.2f} ms, n={len(latencies)}"


if __name__ == "__main__":
    app()
