"""What the arena does in its time, against a plain request and its answer in the same run.

    python -m workbench.bench.arena_bench wake    how soon a move reaches a waiting client
    python -m workbench.bench.arena_bench hold    a thousand waiting clients

The arena is a process of its own, asked over loopback by lean clients in ours. Figures of two
runs compare only where nothing else was running; the ratio to the baseline says more.
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

from cardsharp.deadmansdraw.arena.config import ArenaConfig
from workbench.arena.server import ArenaServer
from workbench.deadmansdraw.emulated import emulated
from workbench.stage.opponent import OPPONENT, US

ONE, TWO = US[0], OPPONENT[0]
PASSWORDS = dict((US, OPPONENT))
app = cyclopts.App(help=__doc__, help_format="plaintext")
console = Console(highlight=False)

WAITERS = 1000
WAKE_ROUNDS = 300
PLAIN = 300  # how many clients wait, turns are awaited, plain requests are made

DRAW = {"etype": "Draw", "autopick": True}


@dataclass(frozen=True)
class Remote:
    """The arena's process as a benchmark sees it; it ends where nobody can ask it any more."""

    url: str
    line: Connection

    def ask(self, what: str, seed: int = 0) -> Any:  # noqa: ANN401 - one of three numbers or ids
        """Have it `create` a match, or count the clients `waiting` or the `cpu` seconds it used."""
        self.line.send((what, seed))
        return self.line.recv()


def _serve(line: Connection, in_cloud: bool) -> None:
    with ExitStack() as stack:
        config = ArenaConfig()
        arena = stack.enter_context(emulated(config)) if in_cloud else ArenaServer(config)
        stack.enter_context(arena)
        work: dict[str, Callable[[int], object]] = {
            "create": lambda seed: arena.create_match([ONE, TWO], seed=str(seed)),
            "waiting": lambda _: arena.waiting,
            "cpu": lambda _: time.process_time(),
        }
        line.send(arena.url)
        with suppress(EOFError):
            while True:
                what, seed = line.recv()
                line.send(work[what](seed))


@contextmanager
def remote(*, in_cloud: bool = False) -> Iterator[Remote]:
    """An arena in a process of its own."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, in_cloud))
    process.start()
    theirs.close()
    try:
        yield Remote(ours.recv(), ours)
    finally:
        ours.close()
        process.join(timeout=20)


class PlayerLine:
    """One kept-alive connection of one player."""

    def __init__(self, url: str, player_id: str) -> None:
        parts = urlsplit(url)
        self._address = parts.hostname, parts.port
        token = base64.b64encode(f"{player_id}:{PASSWORDS[player_id]}".encode()).decode()
        self._head = f"Host: {parts.netloc}\r\nAuthorization: Basic {token}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON of the answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._address)
        reader, writer = self._streams
        raw = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self._head}"
        if raw:
            head += f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n"
        writer.write(f"{head}\r\n".encode() + raw)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(answer.partition("content-length:")[2].partition("\r\n")[0])
        return int(answer[9:12]), json.loads(await reader.readexactly(length))

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()


@app.command
async def wake(*, emulator: bool = False, rounds: int = WAKE_ROUNDS) -> None:
    """How long after a turn's end was answered the other player's long poll is answered.

    With --emulator of the arena as the cloud runs it.
    """
    with remote(in_cloud=emulator) as arena:
        lines = {player: PlayerLine(arena.url, player) for player in (ONE, TWO)}
        sleeper = {player: PlayerLine(arena.url, player) for player in (ONE, TWO)}
        trips, wakes = [], []
        for seed in range(rounds):
            path, mover, other = await _match(arena, lines[ONE], seed)
            trips.append(await _took(lines[mover].ask("POST", path, DRAW)))
            asked = sleeper[other].ask("GET", f"{path}?waitactive=1&showevents=1")
            poll = asyncio.ensure_future(_ended(asked))
            await _until_waiting(arena, 1)
            # Somewhere between two of the table's reads.
            await asyncio.sleep(random.random() if emulator else 0)
            wakes.append(await _woken(lines[mover], path, poll))
        for line in (*lines.values(), *sleeper.values()):
            line.close()
    _compare("wake-up of a waiting client", wakes, "a plain POST and its answer", trips)


async def _match(arena: Remote, line: PlayerLine, seed: int) -> tuple[str, str, str]:
    """The path of a new match, and who is to act in it and who is not."""
    path = f"/api/matches/{arena.ask('create', seed)}"
    _, view = await line.ask("GET", path)
    return path, *((ONE, TWO) if view["activePlayerIndex"] == 0 else (TWO, ONE))


async def _woken(mover: PlayerLine, path: str, poll: "asyncio.Future[tuple[int, float]]") -> float:
    """Seconds from sending the last action of a turn to the waiting client's answer."""
    began = time.perf_counter()
    await mover.ask("POST", path, {"etype": "EndTurn", "autopick": True})
    status, ended = await poll
    if status != 200:  # noqa: PLR2004 - the one good answer
        raise SystemExit(f"A waiting client got {status}.")
    return ended - began


@app.command
async def hold() -> None:
    """A thousand clients wait for their turn in matches of their own, and all are woken."""
    with remote() as arena:
        plain = PlayerLine(arena.url, ONE)
        idle = [await _took(plain.ask("GET", "/api/whoami")) for _ in range(PLAIN)]
        matches = [await _match(arena, plain, seed) for seed in range(WAITERS)]
        sleepers = [PlayerLine(arena.url, other) for _, _, other in matches]
        began = time.perf_counter()
        polls = [
            asyncio.ensure_future(_ended(sleeper.ask("GET", f"{path}?waitactive=1")))
            for sleeper, (path, _, _) in zip(sleepers, matches, strict=True)
        ]
        await _until_waiting(arena, WAITERS)
        arrived = time.perf_counter() - began
        before = arena.ask("cpu")
        busy = [await _took(plain.ask("GET", "/api/whoami")) for _ in range(PLAIN)]
        cost = arena.ask("cpu") - before
        wakes = []
        for (path, mover, _), poll in zip(matches, polls, strict=True):
            line = PlayerLine(arena.url, mover)
            await line.ask("POST", path, DRAW)
            wakes.append(await _woken(line, path, poll))
            line.close()
        for line in (plain, *sleepers):
            line.close()
    console.print(f"{WAITERS} clients waiting, all there after {arrived:.2f} s")
    console.print(f"CPU of {PLAIN} requests while they wait: {cost * 1000:.0f} ms")
    _compare("a request while they wait", busy, "the same request with nobody waiting", idle)
    _compare("wake-up of each of them", wakes, "a plain request and its answer", idle)


async def _until_waiting(arena: Remote, clients: int) -> None:
    while arena.ask("waiting") < clients:  # noqa: ASYNC110 - another process: no event to wait for
        await asyncio.sleep(0.001)


async def _ended(answer: Awaitable[tuple[int, Any]]) -> tuple[int, float]:
    """The status of an answer, and when it came."""
    return (await answer)[0], time.perf_counter()


async def _took(answer: Awaitable[object]) -> float:
    """Seconds from the question to the answer."""
    began = time.perf_counter()
    await answer
    return time.perf_counter() - began


def _compare(name: str, figures: list[float], baseline_name: str, baseline: list[float]) -> None:
    console.print(f"{name}: {_shown(figures)}")
    console.print(f"  {baseline_name}: {_shown(baseline)}")
    console.print(f"  ratio of the medians: {median(figures) / median(baseline):.1f}")


def _shown(seconds: list[float]) -> str:
    p95 = quantiles(seconds, n=20)[18]
    return f"median {median(seconds) * 1000:.2f} ms, p95 {p95 * 1000:.2f} ms, n={len(seconds)}"


if __name__ == "__main__":
    app()
