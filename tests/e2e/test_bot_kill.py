"""R04: `kill -9` of a worker's process at random moments; every match goes on soon and ends."""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.arena import ADMIN_PASSWORD, ALICE, write_players
from support.bot_killing import Killer, WorkerProcesses
from support.bot_stage import SEATS, TURN_LIMIT, ours, start_opponents
from support.bot_table import PlayedTable
from support.size import cases

import poller.app
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from workbench.arena.server import ArenaServer
from workbench.cloud.context import Function
from workbench.cloud.home import Home, HomeOptions
from workbench.machine import slowness
from workbench.stage.clouds import embedded_in
from workbench.stage.side import assembled
from workbench.stage.tally import Tally

STRATEGY = "thinking"
"""Of `support.bot_thinking_worker`, which only the workers' own processes import."""

KILLS = cases(10, 20)
AT_ONCE = 8
SOON = 5
PACE = (0.1, 0.6)
"""Seconds between two kills."""

OPPONENTS = ("draw-3", "champion", "draw-2", "third") * 2
THOUGHT = timedelta(seconds=0.1)
"""How long an opponent thinks before each turn; our own strategy here thinks as well."""


@pytest.mark.timed
@pytest.mark.timeout(180)
def test_r04_every_match_goes_on_within_five_seconds_of_a_kill_and_ends(tmp_path: Path) -> None:
    """To the next accepted action where it was our turn, else to the next worker's lease.

    On a machine that is slow just now, seconds are longer: those of the promise and of the turn.
    """
    slow = slowness()
    seed = secrets.randbelow(10**6)
    sys.stdout.write(f"kill seed {seed}\n")
    with workers_in_processes(tmp_path, Random(seed), TURN_LIMIT * slow) as (table, killer):
        matches = [table.begin(SEATS[number]) for number in range(AT_ONCE)]
        while len(killer.deaths) < KILLS:
            killer.look_on(timedelta(seconds=killer.rng.uniform(*PACE)))
            killer.kill_one(matches)
            slow = max(slow, slowness(1))
            running = [m for m in matches if table.arena.look(m)["activePlayerIndex"] is not None]
            if len(running) < AT_ONCE / 2:
                matches.append(table.begin(SEATS[len(matches) % AT_ONCE]))
        while killer.orphans:
            killer.look_on(timedelta(seconds=0.1))
        accounts = list(table.finished(iter(matches), len(matches)))
        gone_on = sorted(killer.gone_on(death).total_seconds() for death in killer.deaths)
    in_turn = sum(death.our_turn for death in killer.deaths)
    figures = ", ".join(f"{seconds:.1f}" for seconds in gone_on)
    said = f"{KILLS} kills ({in_turn} in our turn) in {len(matches)} matches; after {figures} s\n"
    sys.stdout.write(said)
    assert [account for account in accounts if not account.well] == []
    assert gone_on[-1] <= SOON * slow


@contextmanager
def workers_in_processes(
    folder: Path, rng: Random, turn_limit: timedelta
) -> Iterator[tuple[PlayedTable, Killer]]:
    """Arena, thinking opponents and poller here, and each worker in a process of its own."""
    config = ArenaConfig(players=write_players(folder), admin_password=ADMIN_PASSWORD)
    with ExitStack() as stack:
        arena = stack.enter_context(ArenaServer(config))
        statuses = stack.enter_context(Tally(arena.url))
        start_opponents(arena.url, OPPONENTS, THOUGHT)
        settings = {**ours(arena.url), **embedded_in(folder / "matches.db").settings}
        del settings["CARDSHARP_PACE_SECONDS"], settings["CARDSHARP_WATCH_SECONDS"]
        assembly = stack.enter_context(assembled(settings))
        variables = {
            **settings,
            "CARDSHARP_STRATEGY": STRATEGY,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(__file__).parents[1]),
        }
        workers = WorkerProcesses(variables, folder / "worker.log")
        stack.callback(workers.close)
        home = Home(
            Function("poller", poller.app.handler, timedelta(seconds=100)),
            Function("worker", workers, timedelta(minutes=5)),
            assembly.queue,
            assembly.clock,
            HomeOptions(concurrency=2 * AT_ONCE),
        )
        home.start()
        table = PlayedTable(arena, assembly.log, statuses, ALICE, turn_limit)
        try:
            yield table, Killer(workers, arena, assembly.log, rng)
        finally:
            home.wind_down()
            arena.stop()
            home.stop(timedelta(seconds=5))
