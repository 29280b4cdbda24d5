"""What many matches at once cost, and what of them is kept up.

    python -m workbench.bench.load_bench AT_ONCE [--seconds 60] [--turn 30]

The worst there is: in practice matches both seats are ours, so that in each of them it is our turn
all the time. All are offered at the same moment; whatever has not ended after `--seconds` is left.
A row says how many matches were taken up, finished and still left on the queue, how many turns ran
out of time and how many leases were lost, and what an action cost. Run one size at a time.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from cardsharp.access import Credentials
from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.ports import MatchLog
from cardsharp.cloud.telemetry import meter
from cardsharp.deadmansdraw.client import DUMMY_ID, ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.wire import MatchParams
from cardsharp.errors import CardsharpError
from workbench.build.sandbox import usage_of
from workbench.cloud.home import HomeOptions
from workbench.cloud.samples import read_emf
from workbench.stage.opponent import US
from workbench.stage.side import assembled, attending, embedded_in
from workbench.stage.stage import variables_of
from workbench.stage.surroundings import telemetry_in

GLANCE = 0.5  # seconds between two looks at how many have ended

app = cyclopts.App(help=__doc__, help_format="plaintext")


@contextmanager
def arena_at_work() -> Iterator[tuple[str, int]]:
    """The address of an arena in a process of its own, and the process's id."""
    command = [sys.executable, "-m", "workbench.cli", "arena", "--port", "0", "--json"]
    process = subprocess.Popen(  # noqa: S603 - our own command
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        line = "" if process.stdout is None else process.stdout.readline()
        if not line:
            raise CardsharpError("`cardsharp arena` did not start; run it to see why.")
        yield str(json.loads(line)["url"]), process.pid
    finally:
        process.terminate()
        process.wait()


def counted(log: Path) -> Counter[str]:
    """The sum of each metric in a log of ours."""
    sums: Counter[str] = Counter()
    for one in read_emf(log.read_text().splitlines()):
        sums[one.metric.name] += round(one.value)
    return sums


def play(matches: MatchLog, seconds: float, log: Path, number: int) -> tuple[float, Counter[str]]:
    """Let the matches be played, but not for longer; how long it took, and what was counted."""
    began = time.monotonic()
    while True:
        time.sleep(GLANCE)
        passed = time.monotonic() - began
        running = sum(r.outcome is None for r in matches.matches(limit=number))
        if not running or passed > seconds:
            meter.flush()
            return passed, counted(log)


@app.default
def load(
    at_once: int,
    *,
    seconds: Annotated[float, Parameter(help="When to stop.")] = 60,
    turn: Annotated[int, Parameter(help="The limit of a turn in seconds.")] = 30,
    strategy: str = GAME.default_strategy,
) -> None:
    """Play so many matches at once and print one row."""
    options = HomeOptions(concurrency=at_once)
    params = MatchParams(player_ids=(US[0], DUMMY_ID), timeout=timedelta(seconds=turn))
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        telemetry_in(log := Path(name, "bench.log")),
        arena_at_work() as (url, arena),
        ArenaClient(url, Credentials(*US)) as client,
        assembled(
            {
                **variables_of(strategy, url, embedded_in(Path(name, "bench.db"))),
                "CARDSHARP_DUMMY_STRATEGY": "draw-3",
            }
        ) as assembly,
    ):
        ids = [client.create_match(params).id for _ in range(at_once)]
        for match_id in ids:
            assembly.offering.offer_one(match_id, GAME.name)
        pids = (os.getpid(), arena)
        before = [usage_of(pid).cpu for pid in pids]
        with attending(assembly, options, lambda: os.kill(arena, signal.SIGTERM)):
            passed, sums = play(assembly.log, seconds, log, at_once)
            used = (usage_of(p).cpu - t for p, t in zip(pids, before, strict=True))
            ours, theirs = (one.total_seconds() for one in used)
            records = assembly.log.matches(limit=at_once)
            taken = sum(bool(record.header) for record in records)
            ended = sum(record.outcome is not None for record in records)
            actions = max(1, sums[Metric.ACTIONS])
            print(  # noqa: T201 - the row
                f"{at_once:5} at once: {taken} taken up, {at_once - taken} left, "
                f"{ended} finished in {passed:.0f} s; "
                f"{sums[Metric.TIMEOUTS]} turns and {sums[Metric.LEASE_STEALS]} leases lost; "
                f"{actions} actions, {1000 * ours / actions:.1f} ms CPU each "
                f"(arena {1000 * theirs / actions:.1f}), {(ours + theirs) / passed:.2f} processors",
                flush=True,
            )


if __name__ == "__main__":
    app()
