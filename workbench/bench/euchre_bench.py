"""What the Euchre service costs.

    python -m workbench.bench.euchre_bench calls     CPU a call, by operation, and where it goes
    python -m workbench.bench.euchre_bench games     CPU and wall a call and a game over HTTP,
                                                     with 1 and with 8 tokens at once

CPU is a process's own, so it compares between runs better than the clock's time. The service of
`games` is a process of its own, as in the cloud; the client's cost is the coordinator's, which
speaks with the library that the real client uses.
"""

import io
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import fmean, quantiles
from typing import Annotated

import cyclopts
import requests
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.telemetry import logger, meter, redirect
from cardsharp.euchre.assembly import DEFAULT_STRATEGY, STORES
from cardsharp.euchre.game import GAME
from cardsharp.euchre.journal import LogJournal
from cardsharp.euchre.routes import API
from cardsharp.euchre.service import EuchreService
from cardsharp.euchre.store import Deals
from cardsharp.euchre.strategies import build
from cardsharp.web import edge
from cardsharp.web.events import Event, Handler, Response
from workbench.bench.measuring import Served, Spent, counted, cpu_seconds, served
from workbench.euchre.coordinator import StrategyPlayer, play_game
from workbench.euchre.direct import Direct
from workbench.euchre.remote import RemotePlayer
from workbench.show.options import Json
from workbench.stage.serving import EMULATOR, IN_MEMORY, kept

MANY = 8
MS = 1000
_OPPONENT = "rules"

_EXAMPLES = """\
Examples:
  python -m workbench.bench.euchre_bench calls              as it is deployed
  python -m workbench.bench.euchre_bench calls --emulator   with DynamoDB
  python -m workbench.bench.euchre_bench games -n 16        at 1 and 8 tokens at once
CPU is a process's own, so it compares between runs better than the clock."""

app = cyclopts.App(
    help="What the Euchre service costs.", help_format="plaintext", help_epilogue=_EXAMPLES
)
console = Console(highlight=False)

StrategyName = Annotated[str, Parameter(help="Whose decisions.")]


@dataclass
class Costs:
    """CPU seconds of the calls of one operation: all, in the store, in the strategy."""

    total: list[float] = field(default_factory=list)
    store: list[float] = field(default_factory=list)
    strategy: list[float] = field(default_factory=list)

    @property
    def overhead(self) -> list[float]:
        """What is left: reading, routing, telling the deal, writing the answer and the log."""
        three = zip(self.total, self.store, self.strategy, strict=True)
        return [total - store - strategy for total, store, strategy in three]

    def as_json(self) -> dict[str, float]:
        """How many calls, and the means in milliseconds."""
        overhead = self.overhead
        p99 = quantiles(overhead, n=100)[-1] if len(overhead) > 1 else overhead[0]
        means = (fmean(self.total), fmean(self.store), fmean(self.strategy), fmean(overhead), p99)
        names = ("all", "store", "strategy", "overhead", "its p99")
        figures = (round(MS * mean, 3) for mean in means)
        return {"calls": len(self.total), **dict(zip(names, figures, strict=True))}


class Measuring(Direct):
    """The client's requests into a service in this process; only what the service costs counts."""

    def __init__(self, handler: Handler, store: Spent, strategy: Spent) -> None:
        super().__init__(handler)
        self._store, self._strategy = store, strategy
        self.costs: dict[str, Costs] = defaultdict(Costs)

    def answered(self, event: Event) -> Response:
        """Answer, and note what it cost."""
        self._store.seconds = self._strategy.seconds = 0.0
        began = time.process_time()
        answer = super().answered(event)
        spent = time.process_time() - began
        method = event["requestContext"]["http"]["method"]
        costs = self.costs[f"{method} {event['rawPath']}"]
        costs.total.append(spent)
        costs.store.append(self._store.seconds)
        costs.strategy.append(self._strategy.seconds)
        return answer


@app.command
def calls(
    *,
    strategy: StrategyName = DEFAULT_STRATEGY,
    games: int = 20,
    emulator: Annotated[bool, Parameter(help="Keep deals in the emulated DynamoDB.")] = False,
    as_json: Json = False,
) -> None:
    """CPU a call by operation: all of it, in the store, in the strategy, and the overhead."""
    with _silent(), kept(GAME, EMULATOR if emulator else IN_MEMORY) as variables:
        store = STORES.open(variables[STORES.variable], SystemClock())
        costs = _measured(store, strategy, games)
    everything = Costs()
    for cost in costs.values():
        everything.total += cost.total
        everything.store += cost.store
        everything.strategy += cost.strategy
    rows = {name: cost.as_json() for name, cost in [*sorted(costs.items()), ("all", everything)]}
    if as_json:
        console.print_json(json.dumps(rows))
        return
    table = Table(title=f"CPU milliseconds a call, {games} games, {strategy} decides")
    for column in ("operation", *everything.as_json()):
        table.add_column(column, justify="left" if column == "operation" else "right")
    for name, row in rows.items():
        table.add_row(name, *(f"{figure:g}" for figure in row.values()))
    console.print(table)
    share = sum(everything.overhead) / max(1e-9, sum(everything.total) - sum(everything.store))
    console.print(f"The service's own part beside the strategy's: {share:.1%}.")


def _measured(store: Deals, strategy: str, games: int) -> dict[str, Costs]:
    stored, thought = Spent(), Spent()
    service = EuchreService(
        counted(store, stored),
        counted(build(strategy), thought),
        SystemClock(),
        LogJournal(logger, meter),
    )
    adapter = Measuring(edge.build(API, service), stored, thought)
    other = StrategyPlayer(build(_OPPONENT))
    with adapter.player() as player:
        for seed in range(games):
            play_game((player, other, player, other), Random(seed))
    return adapter.costs


@contextmanager
def _silent() -> Iterator[None]:
    """Write logs and metrics as always, but where they disturb nobody."""
    with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
        redirect(nowhere)
        try:
            yield
        finally:
            meter.flush()
            # The stdout of this moment may be gone when somebody writes the next line.
            redirect(io.StringIO())


# --- over HTTP -----------------------------------------------------------------------------------


@app.command
def games(
    *,
    strategy: StrategyName = DEFAULT_STRATEGY,
    count: Annotated[int, Parameter(name=["--games", "-n"])] = 8,
    as_json: Json = False,
) -> None:
    """CPU and wall a call and a game over HTTP, with 1 and with 8 tokens at once."""
    rows = [_run(strategy, count, at_once) for at_once in (1, MANY)]
    if as_json:
        console.print_json(json.dumps(rows))
        return
    table = Table(title=f"{count} games over HTTP, {strategy} on one side")
    table.add_column("tokens at once")
    for row in rows:
        table.add_column(f"{row.pop('tokens'):g}", justify="right")
    for figure in rows[0]:
        table.add_row(figure, *(f"{row[figure]:g}" for row in rows))
    console.print(table)


def _run(strategy: str, count: int, at_once: int) -> dict[str, float]:
    """The figures of some games with that many tokens at once."""
    with _server(strategy) as service:
        before, began = cpu_seconds(service.pid), time.monotonic()
        own = time.process_time()
        with ThreadPoolExecutor(at_once) as pool:
            sent = sum(pool.map(lambda seed: _play(service.url, seed), range(count)))
        wall, own = time.monotonic() - began, time.process_time() - own
        cpu = cpu_seconds(service.pid) - before
    return {
        "tokens": at_once,
        "calls": sent,
        "calls a game": round(sent / count, 1),
        "service CPU ms a call": round(MS * cpu / sent, 2),
        "service CPU s a game": round(cpu / count, 3),
        "client CPU ms a call": round(MS * own / sent, 2),
        "wall ms a call": round(MS * wall * min(at_once, count) / sent, 2),
        "wall s a game": round(wall * min(at_once, count) / count, 2),
        "games a minute": round(60 * count / wall, 1),
    }


def _play(url: str, seed: int) -> int:
    """Play a game against the player by rules; the number of calls."""
    other = StrategyPlayer(build(_OPPONENT))
    with RemotePlayer(url) as player:
        play_game((player, other, player, other), Random(seed))
        return player.calls


@contextmanager
def _server(strategy: str) -> Iterator[Served]:
    """A service that has answered once."""
    with tempfile.TemporaryDirectory() as folder:
        kept = ("--store", f"sqlite:{folder}/deals.db", "--log", f"{folder}/log")
        with served("euchre", "serve", "--strategy", strategy, *kept) as service:
            requests.get(f"{service.url}/openapi.json", timeout=10).raise_for_status()
            yield service


if __name__ == "__main__":
    app()
