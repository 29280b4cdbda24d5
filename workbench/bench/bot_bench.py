"""What our bot costs, against a plain client that plays the same strategy in the same run.

    python -m workbench.bench.bot_bench match        requests and CPU seconds a match
    python -m workbench.bench.bot_bench throughput   matches a minute, 1 and 50 at once

The plain client is one connection and a loop: no poller, no queue, no lease, no match log. Arena,
opponent and we are a process each; everything runs on this machine, so figures of two runs
compare only where nothing else was running.
"""

import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from cardsharp.access import Credentials
from cardsharp.deadmansdraw.arena.players import ADMIN
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.wire import MatchParams
from cardsharp.errors import ArenaError
from workbench.bench.measuring import Served, cpu_seconds, served
from workbench.stage.clouds import embedded_in
from workbench.stage.opponent import Opponent
from workbench.stage.opponent_process import OpponentProcess, opponent_at_play
from workbench.stage.side import HomeRhythm, assembled, attending
from workbench.stage.stage import Teams, credentials_of, order_of, variables_of
from workbench.stage.surroundings import telemetry_in
from workbench.stage.tally import Tally

ADMIN_PASSWORD = "bench"  # noqa: S105 - of an arena on loopback that lives for seconds
MANY = 50
GLANCE = 0.05
"""Seconds between the organiser's looks at which matches have ended; costs both sides the same."""

app = cyclopts.App(help=__doc__, help_format="plaintext")
console = Console(highlight=False)


@dataclass(frozen=True, slots=True)
class BenchSetup:
    """One arena, who plays, and how many matches at once."""

    url: str
    strategy: str
    folder: Path
    at_once: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What a number of matches took; CPU in seconds, by process."""

    matches: int
    seconds: float
    requests: Mapping[str, int]
    us: float
    arena: float
    opponent: float

    @property
    def pace(self) -> float:
        """Matches a minute."""
        return 60 * self.matches / self.seconds


Seat = Callable[[BenchSetup], AbstractContextManager[None]]
"""Somebody who plays our seat in this process while the context lasts."""


@contextmanager
def bot(setting: BenchSetup) -> Iterator[None]:
    """Our bot: poller, queue, worker and match log in the embedded home."""
    cloud = embedded_in(setting.folder / "bench.db")
    variables = variables_of(setting.strategy, setting.url, Teams.of_arena().us, cloud)
    with assembled(variables) as assembly, attending(assembly, HomeRhythm(at_once=setting.at_once)):
        yield


@contextmanager
def plain(setting: BenchSetup) -> Iterator[None]:
    """A client that plays one waiting turn after the other."""
    us = Teams.of_arena().us
    client = ArenaClient(setting.url, credentials_of(us))
    opponent = Opponent(client, order_of(setting.strategy, setting.url, us))

    def play() -> None:
        try:
            opponent.play_on()
        except ArenaError:
            return  # the arena has closed

    threading.Thread(target=play, daemon=True).start()
    yield


class BenchOrganiser:
    """Creates matches and waits for their ends."""

    def __init__(self, client: ArenaClient) -> None:
        self._client = client
        teams = Teams.of_arena()
        self._params = MatchParams(
            player_ids=(teams.us.id, teams.them.id), timeout=timedelta(minutes=5)
        )

    def run(self, matches: int, at_once: int) -> None:
        """Let so many matches be played, `at_once` of them at any time."""
        running: set[str] = set()
        begun = 0
        while begun < matches or running:
            while begun < matches and len(running) < at_once:
                running.add(self._client.create_match(self._params).id)
                begun += 1
            time.sleep(GLANCE)
            seen = self._client.matches(ids=sorted(running))
            running -= {view.id for view in seen if view.finished}

    @property
    def counts(self) -> Counter[str]:
        """The organiser's own requests."""
        return self._client.counts


def measure(seat: Seat, matches: int, at_once: int, players: tuple[str, str]) -> Cost:
    """What `matches` matches cost, after one to warm up, in an arena of their own."""
    strategy, opponent = players
    with (
        tempfile.TemporaryDirectory() as name,
        telemetry_in(Path(name, "bench.log")),
        served("arena", variables={"ARENA_ADMIN_PASSWORD": ADMIN_PASSWORD}) as arena,
        ArenaClient(arena.url, Credentials(ADMIN, ADMIN_PASSWORD)) as admin,
        Tally(arena.url) as tally,
    ):
        folder = Path(name)
        order = order_of(opponent, arena.url, Teams.of_arena().them)
        with opponent_at_play(order, folder / "opponent.log") as process:
            process.await_ready()
            setting = BenchSetup(arena.url, strategy, folder, at_once)
            with seat(setting):
                organiser = BenchOrganiser(admin)
                organiser.run(1, 1)
                return _measured(organiser, tally, (arena, process), (matches, at_once))


def _measured(
    organiser: BenchOrganiser,
    tally: Tally,
    processes: tuple[Served, OpponentProcess],
    plan: tuple[int, int],
) -> Cost:
    """The cost of the matches of a plan, from now on."""
    pids = (os.getpid(), *(process.pid for process in processes))
    before = [cpu_seconds(pid) for pid in pids]
    asked, began = tally.counts - organiser.counts, time.monotonic()
    organiser.run(*plan)
    seconds = time.monotonic() - began
    us, arena, opponent = (cpu_seconds(pid) - then for pid, then in zip(pids, before, strict=True))
    requests = tally.counts - organiser.counts - asked
    return Cost(plan[0], seconds, requests, us, arena, opponent)


Strategy = Annotated[str, Parameter(help="Who plays our seat: a strategy's name.")]
Against = Annotated[str, Parameter(help="Who plays the other seat.")]


@app.command
def match(
    *, matches: int = 20, strategy: Strategy = GAME.default_strategy, opponent: Against = "champion"
) -> None:
    """Requests and CPU seconds a match, one after the other."""
    players = (strategy, opponent)
    ours, base = (measure(seat, matches, 1, players) for seat in (bot, plain))
    title = f"{strategy} v {opponent}, {matches} matches one after the other"
    table = _table(title, "bot", "plain client")
    kinds = sorted({*ours.requests, *base.requests}, key=lambda k: -ours.requests.get(k, 0))
    _row(
        table, "requests a match", sum(ours.requests.values()), sum(base.requests.values()), matches
    )
    for kind in kinds:
        _row(table, f"  {kind}", ours.requests.get(kind, 0), base.requests.get(kind, 0), matches)
    _row(table, "CPU s a match, our side", ours.us, base.us, matches)
    _row(table, "CPU s a match, arena", ours.arena, base.arena, matches)
    _row(table, "CPU s a match, opponent", ours.opponent, base.opponent, matches)
    _row(table, "seconds a match", ours.seconds, base.seconds, matches)
    console.print(table)


@app.command
def throughput(
    *, matches: int = 50, strategy: Strategy = GAME.default_strategy, opponent: Against = "champion"
) -> None:
    """Matches a minute with 1 and with 50 at once."""
    players = (strategy, opponent)
    table = _table(f"{strategy} v {opponent}, matches a minute", "bot", "plain client")
    for at_once, number in ((1, max(1, matches // 5)), (MANY, matches)):
        ours, base = (measure(seat, number, at_once, players) for seat in (bot, plain))
        _row(table, f"{at_once} at once ({number} matches)", ours.pace, base.pace, 1)
        _row(table, "  CPU s a match, all three", _cpu(ours), _cpu(base), 1)
    console.print(table)


def _cpu(cost: Cost) -> float:
    return (cost.us + cost.arena + cost.opponent) / cost.matches


def _table(title: str, *columns: str) -> Table:
    table = Table("", title=title, box=None, padding=(0, 2), title_justify="left")
    for column in (*columns, "ratio"):
        table.add_column(column, justify="right")
    return table


def _row(table: Table, name: str, ours: float, base: float, matches: int) -> None:
    """A figure of both sides, divided by the number of matches, and their ratio."""
    ratio = f"{ours / base:.2f}" if base else "-"
    table.add_row(name, f"{ours / matches:.3f}", f"{base / matches:.3f}", ratio)


if __name__ == "__main__":
    app()
