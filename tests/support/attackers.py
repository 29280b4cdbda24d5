"""Faulty and hostile clients of an arena, many of each kind in one process, for a bounded time.

`python attackers.py URL SECONDS CONNECTIONS USER` lets ten of each kind of `KINDS` loose on an
arena of this machine: each does what it does over and over, as fast as it can. USER is a team in
whose name wrong passwords are sent. CONNECTIONS is how many one of them opens in all.
"""

import asyncio
import sys
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from urllib.parse import urlsplit

CLIENTS = 10
"""Of each kind."""

HELD = 60
"""Connections that one client keeps open without finishing a request."""

_DUMMY = b64encode(b"0" * 24 + b":dummypass").decode()


class Attacker:
    """One client at an arena's address."""

    def __init__(self, url: str, user: str, connections: int) -> None:
        parts = urlsplit(url)
        assert parts.hostname in {"127.0.0.1", "localhost"}  # for arenas of this machine alone
        self._address = str(parts.hostname), parts.port
        self._wrong = b64encode(f"{user}:wrong".encode()).decode()
        self._connections = connections

    async def hurry(self) -> None:
        """Try again at once whatever is answered, never signed in, by a new connection each."""
        await self._ask("GET /api/matches?wait=1 HTTP/1.1\r\nHost: x\r\n\r\n")

    async def wrong_password(self) -> None:
        """The same with a wrong password."""
        head = "GET /api/matches?wait=1 HTTP/1.1\r\nHost: x\r\n"
        await self._ask(f"{head}Authorization: Basic {self._wrong}\r\n\r\n")

    async def half_heads(self) -> None:
        """Begin requests, and leave them so."""
        await self._hold("GET /api/matches HTTP/1.1\r\nHost:", HELD)

    async def half_bodies(self) -> None:
        """Begin bodies, and leave them so."""
        head = f"POST /api/matches HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {_DUMMY}\r\n"
        await self._hold(
            f"{head}Content-Type: application/json\r\nContent-Length: 90000\r\n\r\n{{", HELD
        )

    async def connections(self) -> None:
        """Open connections, and say nothing."""
        await self._hold("", self._connections // CLIENTS)

    async def slow_readers(self) -> None:
        """Ask for much, and read nothing of it."""
        head = f"GET /docs HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {_DUMMY}\r\n\r\n"
        await self._hold(head * 20, HELD)

    async def _ask(self, request: str) -> None:
        reader, writer = await asyncio.open_connection(*self._address)
        with suppress(OSError):
            writer.write(request.encode())
            await reader.read(100)
        writer.close()

    async def _hold(self, begun: str, number: int) -> None:
        held = []
        try:
            for opened in count():
                if opened >= number:
                    await asyncio.sleep(1)
                    break
                reader, writer = await asyncio.open_connection(*self._address, limit=1024)
                held.append(writer)
                writer.write(begun.encode())
                del reader
        finally:
            for writer in held:
                writer.transport.abort()


Act = Callable[[Attacker], Awaitable[None]]
KINDS: tuple[Act, ...] = (
    Attacker.hurry,
    Attacker.wrong_password,
    Attacker.half_heads,
    Attacker.half_bodies,
    Attacker.connections,
    Attacker.slow_readers,
)


async def _over_and_over(attacker: Attacker, act: Act, done: dict[str, int]) -> None:
    name = act.__name__  # type: ignore[attr-defined]
    while True:
        try:
            await act(attacker)
            done[name] = done.get(name, 0) + 1
        except OSError:
            done[f"{name} failed"] = done.get(f"{name} failed", 0) + 1
            await asyncio.sleep(0.01)


async def attack(url: str, seconds: float, connections: int, user: str) -> dict[str, int]:
    """Let them loose; how often each kind did what it does."""
    done: dict[str, int] = {}
    attackers = [(Attacker(url, user, connections), act) for act in KINDS for _ in range(CLIENTS)]
    tasks = [
        asyncio.create_task(_over_and_over(attacker, act, done)) for attacker, act in attackers
    ]
    await asyncio.wait(tasks, timeout=seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return done


if __name__ == "__main__":
    _, address, seconds, connections, user = sys.argv
    done = asyncio.run(attack(address, float(seconds), int(connections), user))
    sys.stdout.write(f"{done}\n")
