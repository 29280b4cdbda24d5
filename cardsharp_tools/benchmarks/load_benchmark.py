"""Benchmark of many concurrent matches: their cost and how many of them keep up.

    python -m cardsharp_tools.benchmarks.load_benchmark AT_ONCE [--seconds 60] [--turn 30]

This is the worst case: in practice matches both seats are ours, so in each match it is always
our turn. All matches are offered at the same moment; those that have not ended after
`--seconds` are abandoned. A row reports how many matches were started, finished and still
queued, how many turns timed out, how many leases were lost, and the cost of an action. Run one
size at a time.
"""

import tempfile
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from cardsharp.aws.telemetry import metrics_recorder
from cardsharp.core.credentials import Credentials
from cardsharp.core.metrics import MetricName
from cardsharp.games.deadmansdraw.arena_bot.client import DUMMY_ID, ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.store.match_log import MatchLog
from cardsharp_tools.benchmarks.arena_benchmark import start_arena_process
from cardsharp_tools.local_cloud.lambda_scheduler import LambdaSchedulerOptions
from cardsharp_tools.local_cloud.metric_samples import read_emf_samples
from cardsharp_tools.local_play.bot_runtime import (
    in_process_backend_settings,
    open_bot_dependencies,
    run_poller_and_workers,
)
from cardsharp_tools.local_play.handler_environment import redirect_telemetry
from cardsharp_tools.local_play.local_run import bot_settings
from cardsharp_tools.local_play.opponent import BOT_CREDENTIALS

PROGRESS_POLL_SECONDS = 0.5  # seconds between two looks at how many have ended

app = cyclopts.App(help=__doc__, help_format="plaintext")


def play_matches(
    matches: MatchLog, max_seconds: float, log: Path, match_count: int
) -> tuple[float, Counter[str]]:
    """Play the matches for at most `max_seconds`; return the duration and the counted metrics."""
    began = time.monotonic()
    while True:
        time.sleep(PROGRESS_POLL_SECONDS)
        passed = time.monotonic() - began
        running = sum(r.outcome is None for r in matches.matches(limit=match_count))
        if not running or passed > max_seconds:
            metrics_recorder.flush()
            sums = Counter[str]()
            for sample in read_emf_samples(log.read_text("utf-8").splitlines()):
                sums[sample.metric.name] += round(sample.value)
            return passed, sums


@app.default
def measure_and_print_load(
    concurrency: int,
    *,
    seconds: Annotated[float, Parameter(help="When to stop.")] = 60,
    turn: Annotated[int, Parameter(help="The limit of a turn in seconds.")] = 30,
    strategy: str = GAME.default_strategy,
) -> None:
    """Play `concurrency` matches at once and print one row."""
    options = LambdaSchedulerOptions(concurrency=concurrency)
    params = MatchParams(player_ids=(BOT_CREDENTIALS[0], DUMMY_ID), timeout=timedelta(seconds=turn))
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        redirect_telemetry(log := Path(name, "bench.log")),
        start_arena_process() as arena,
        ArenaClient(arena.url, Credentials(*BOT_CREDENTIALS)) as client,
        open_bot_dependencies(
            {
                **bot_settings(
                    strategy, arena.url, in_process_backend_settings(Path(name, "bench.db"))
                ),
                "CARDSHARP_DUMMY_STRATEGY": "draw-3",
            }
        ) as assembly,
    ):
        ids = [client.create_match(params).id for _ in range(concurrency)]
        for match_id in ids:
            assembly.dispatcher.dispatch(match_id, GAME.name)
        start_cpu, arena_start_cpu = time.process_time(), arena.request("cpu")
        with run_poller_and_workers(assembly.dispatcher, options, arena.pipe.close):
            passed, sums = play_matches(assembly.match_log, seconds, log, concurrency)
            bot_cpu, arena_cpu = (
                time.process_time() - start_cpu,
                arena.request("cpu") - arena_start_cpu,
            )
            records = assembly.match_log.matches(limit=concurrency)
            run_count = sum(bool(record.header) for record in records)
            finished_count = sum(record.outcome is not None for record in records)
            actions = max(1, sums[MetricName.ACTIONS])
            print(  # noqa: T201 - the row
                f"{concurrency:5} at once: {run_count} taken up, {concurrency - run_count} left, "
                f"{finished_count} finished in {passed:.0f} s; "
                f"{sums[MetricName.TIMEOUTS]} turns and {sums[MetricName.LEASE_STEALS]} "
                "leases lost; "
                f"{actions} actions, {1000 * bot_cpu / actions:.1f} ms CPU each "
                f"(arena {1000 * arena_cpu / actions:.1f}), "
                f"{(bot_cpu + arena_cpu) / passed:.2f} processors",
                flush=True,
            )


if __name__ == "__main__":
    app()
