"""The process in which `cardsharp contest ...` runs, which can be killed, and what it used.

`python -m workbench.bench.rehearsal.hall` reads its orders, one line of JSON, from stdin, says
READY and runs the command. So it ends with its parent, however that dies. Five times a second it
writes down what each part of it used, so that a kill loses next to nothing of that.
"""

import json
import os
import re
import runpy
import signal
import subprocess
import sys
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import socket
from typing import Self

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench.child import Child, read_orders, say_ready
from workbench.listening import Server

SAMPLE = timedelta(seconds=0.2)

_ACTED_ON = re.compile(r"(?i)/api/matches/(\w+)/?")
_SIGNED = re.compile(r'(?i)(basic) ([\w+/=]+)|digest .*username="(\w+)"')


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests that were answered, and seconds of the processor by what they were for."""

    requests: int = 0
    arena: float = 0
    director: float = 0
    teams: float = 0
    starting: float = 0
    measuring: float = 0

    def __add__(self, other: Self) -> "Usage":
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Orders:
    """The arguments of `cardsharp`, and where usage and output go."""

    arguments: tuple[str, ...]
    usage: str
    log: str


@dataclass(frozen=True, slots=True)
class RefusedAction:
    """An action that the arena refused: whose, in which match, with which status, and when."""

    team: str
    match: str
    status: int
    at: datetime


@dataclass
class Hall:
    """The process as its parent sees it, through all its deaths."""

    folder: Path
    starts: int = 0
    frozen: bool = False
    _child: Child | None = field(default=None, init=False)

    def start(self, *arguments: str) -> None:
        """Run a command of `cardsharp`; the last one is killed, as by a power cut."""
        self.kill()
        self.starts += 1
        orders = Orders(arguments, str(self._usage(self.starts)), str(self.folder / "hall.log"))
        with (self.folder / "hall.err").open("ab") as errors:
            self._child = Child(__name__, json.dumps(asdict(orders)), errors)
        self._child.gets_ready()
        self.frozen = False

    def kill(self) -> None:
        """End it, if it runs."""
        if self._child is not None:
            self._child.kill()

    def freeze(self) -> None:
        """Stop it in the middle of whatever it does, as a lid that is shut stops a laptop."""
        if self._child is not None:
            self._child.process.send_signal(signal.SIGSTOP)
            self.frozen = True

    def thaw(self) -> None:
        """Let it go on."""
        if self._child is not None:
            self._child.process.send_signal(signal.SIGCONT)
            self.frozen = False

    @property
    def ended(self) -> int | None:
        """The exit code of the command, None while it runs."""
        return None if self._child is None else self._child.process.poll()

    def ends_within(self, seconds: float) -> bool:
        """Whether it ends by itself so soon."""
        with suppress(subprocess.TimeoutExpired):
            if self._child is not None:
                self._child.process.wait(seconds)
        return self.ended is not None

    def usage(self) -> Usage:
        """What it has used in all its lives."""
        found = Usage()
        for number in range(1, self.starts + 1):
            path = self._usage(number)
            if path.exists():
                found += Usage(**json.loads(path.read_text()))
        return found

    def refused(self) -> list[RefusedAction]:
        """The actions that the arena refused in all its lives."""
        path = self.folder / "refused.jsonl"
        rows = map(json.loads, path.read_text().splitlines() if path.exists() else ())
        return [RefusedAction(**row | {"at": datetime.fromisoformat(row["at"])}) for row in rows]

    def _usage(self, number: int) -> Path:
        return self.folder / f"usage-{number}.json"


class Refusals:
    """An arena that writes down which actions it refuses."""

    def __init__(self, app: ASGIApp, path: Path) -> None:
        self._app, self._path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        acted = scope.get("method") == "POST" and _ACTED_ON.fullmatch(scope["path"])

        async def sent(message: Message) -> None:
            if acted and message.get("status") in {400, 409}:
                self._write(_signed(scope), acted[1], message["status"])
            await send(message)

        await self._app(scope, receive, sent)

    def _write(self, team: str, match: str, status: int) -> None:
        row = {"team": team, "match": match, "status": status, "at": f"{datetime.now(UTC)}"}
        with self._path.open("a") as rows:
            rows.write(json.dumps(row) + "\n")


def _signed(scope: Scope) -> str:
    """The user in whose name a request came."""
    found = _SIGNED.match(Headers(scope=scope).get("authorization", ""))
    if found is None:
        return "nobody"
    return b64decode(found[2]).decode().partition(":")[0] if found[1] else found[3]


class Meter:
    """What the threads of this process used, by their names."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._servers: list[Server] = []
        self._used: dict[str, float] = {}
        self._starting: float | None = None

    def start(self) -> None:
        """Write it down from now on."""
        begin = Server.startup

        async def startup(server: Server, sockets: list[socket] | None = None) -> None:
            self._servers.append(server)
            refused = self._path.with_name("refused.jsonl")
            server.config.loaded_app = Refusals(server.config.loaded_app, refused)
            await begin(server, sockets)

        Server.startup = startup  # type: ignore[method-assign, assignment]
        threading.Thread(target=self._measure, name="measuring", daemon=True).start()

    def usage(self) -> Usage:
        """What was used so far; a thread that has ended keeps what it had."""
        for thread in threading.enumerate():
            used = _processor_time(thread.native_id)
            if used is not None:
                self._used[thread.name] = used
        main = self._used.get("MainThread", 0.0)
        if self._servers and self._starting is None:
            self._starting = main
        starting = main if self._starting is None else self._starting
        return Usage(
            requests=sum(server.server_state.total_requests for server in self._servers),
            arena=self._of("The arena"),
            director=main - starting,
            teams=self._of("team "),
            starting=starting,
            measuring=self._of("measuring"),
        )

    def _of(self, name: str) -> float:
        return sum(used for named, used in self._used.items() if named.startswith(name))

    def _measure(self) -> None:
        for _ in _for_ever():
            new = self._path.with_suffix(".new")
            new.write_text(json.dumps(asdict(self.usage())))
            new.replace(self._path)


def _processor_time(thread: int | None) -> float | None:
    """Seconds of the processor that a thread of ours has used, None for one that has ended."""
    try:
        stat = Path(f"/proc/self/task/{thread}/stat").read_text()
    except OSError:
        return None
    ticks = stat.rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _for_ever() -> Iterator[None]:
    pause = threading.Event()
    while True:
        yield
        pause.wait(SAMPLE.total_seconds())


def main() -> None:
    """Run the command of the orders on stdin."""
    orders = Orders(**json.loads(read_orders()))
    say_ready()
    log = os.open(orders.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    Meter(Path(orders.usage)).start()
    sys.argv = ["cardsharp", *orders.arguments]
    runpy.run_module("workbench.cli", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
