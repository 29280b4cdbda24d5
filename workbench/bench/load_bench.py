"""What many matches at once cost, and what of them is kept up.

    python -m workbench.bench.load_bench AT_ONCE [--seconds 60] [--turn 30]

The worst there is: in practice matches both seats are ours, so that in each of them it is our turn
all the time. All are offered at the same moment; whatever has not ended after `--seconds` is left.
A row says how many matches were taken up, finished and still left on the queue, how many turns ran
out of time and how many leases were lost, and what an action cost. Run one size at a time.
"""

import tempfile
import time
from collections import Counter
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
from workbench.bench.arena_bench import remote
from workbench.cloud.home import HomeOptions
from workbench.cloud.samples import read_emf
from workbench.stage.opponent import US
from workbench.stage.side import assembled, attending, embedded_in
from workbench.stage.stage import variables_of
from workbench.stage.surroundings import telemetry_in

GLANCE = 0.5  # seconds between two looks at how many have ended

app = cyclopts.App(help=__doc__, help_format="plaintext")


def play(matches: MatchLog, seconds: float, log: Path, number: int) -> tuple[float, Counter[str]]:
    """Let the matches be played, but not for longer; how long it took, and what was counted."""
    began = time.monotonic()
    while True:
        time.sleep(GLANCE)
        passed = time.monotonic() - began
        running = sum(r.outcome is None for r in matches.matches(limit=number))
        if not running or passed > seconds:
            meter.flush()
            sums = Counter[str]()
            for one in read_emf(log.read_text("utf-8").splitlines()):
                sums[one.metric.name] += round(one.value)
            return passed, sums


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
        remote() as arena,
        ArenaClient(arena.url, Credentials(*US)) as client,
        assembled(
            {
                **variables_of(strategy, arena.url, embedded_in(Path(name, "bench.db"))),
                "CARDSHARP_DUMMY_STRATEGY": "draw-3",
            }
        ) as assembly,
    ):
        ids = [client.create_match(params).id for _ in range(at_once)]
        for match_id in ids:
            assembly.offering.offer_one(match_id, GAME.name)
        before, before_theirs = time.process_time(), arena.ask("cpu")
        with attending(assembly.offering, options, arena.line.close):
            passed, sums = play(assembly.log, seconds, log, at_once)
            ours, theirs = time.process_time() - before, arena.ask("cpu") - before_theirs
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
