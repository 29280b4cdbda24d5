"""Tests of R04: after `kill -9` of worker processes, every match continues soon and ends."""

import os
import secrets
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.forkserver import ensure_running
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from unittest import mock

import pytest
from fault_simulation.checker import (
    accepted_actions,
    intent_differences,
    is_forced,
    log_differences,
)
from support.arena_server import ADMIN_PASSWORD, ALICE, write_players
from support.case_counts import case_count
from support.lambda_events import alice_settings
from support.waiting import HANG_SECONDS

import poller.app
from cardsharp.bot.queueing.messages import parse_match_message
from cardsharp.core.clock import SystemClock
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.match_creation import DEFAULT_DRAW_DECK
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, build, strategy
from cardsharp.store.match_log import MatchLog
from cardsharp_tools.local_cloud.lambda_events import Event, LambdaFunction, LocalLambdaContext
from cardsharp_tools.local_cloud.lambda_scheduler import LambdaScheduler, LambdaSchedulerOptions
from cardsharp_tools.local_play.bot_runtime import (
    MatchFollower,
    in_process_backend_settings,
    open_bot_dependencies,
)
from cardsharp_tools.local_server.arena_server import ArenaServer
from cardsharp_tools.machine_speed import slowdown_factor


class WorkerProcesses:
    """Worker handler that runs each invocation in a separate process, identified by its match."""

    def __init__(self, variables: Mapping[str, str], log: Path) -> None:
        self._worker_args = dict(variables), log
        self._process_context = get_context("forkserver")
        self._process_context.set_forkserver_preload([__name__, "worker.app"])
        with mock.patch.dict(os.environ, variables):  # its path leads to that module
            ensure_running()
        self._processes_by_match: defaultdict[str, list[BaseProcess]] = defaultdict(list)

    def __call__(self, event: Event, context: LocalLambdaContext) -> None:
        """Run an invocation in a process; raise an error if the process fails or dies."""
        match_processes = self._processes_by_match[
            parse_match_message(event["Records"][0]["body"]).match_id
        ]
        remaining_time = timedelta(milliseconds=context.get_remaining_time_in_millis())
        process = self._process_context.Process(
            target=_handle_event, args=(*self._worker_args, event, remaining_time), daemon=True
        )
        process.start()
        match_processes.append(process)
        process.join()
        match_processes.remove(process)
        if process.exitcode:
            raise ChildProcessError(f"a worker ended with exit code {process.exitcode}")

    def process_ids(self, match_id: str) -> list[int]:
        """Return the ids of the processes that play a match or are starting to."""
        return [
            process.pid for process in self._processes_by_match[match_id] if process.pid is not None
        ]

    def close(self) -> None:
        """Kill all running processes."""
        for process in [
            worker
            for match_processes in self._processes_by_match.values()
            for worker in match_processes
        ]:
            process.kill()


def _handle_event(
    variables: Mapping[str, str], log: Path, event: Event, remaining_time: timedelta
) -> None:
    """Handle one event in this process, as the worker function does in that environment."""
    os.environ.clear()
    os.environ.update(variables)
    with log.open("a") as log_file:
        os.dup2(log_file.fileno(), 1)
        os.dup2(log_file.fileno(), 2)
    strategy(STRATEGY)(SlowChampion)  # here alone, so that no other process has it
    handler = import_module("worker.app").handler
    response = handler(event, LocalLambdaContext("worker", remaining_time, SystemClock()))
    sys.exit(bool(response["batchItemFailures"]))


STRATEGY = "thinking"


class SlowChampion:
    """Strategy that decides as `champion` after a pause, so that a kill can hit our own turns."""

    def __init__(self, rng: Random) -> None:
        self._inner = build("champion", rng)

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        threading.Event().wait(0.15)
        return self._inner.decide(position)


CONCURRENT_MATCHES = case_count(4, full=8)
KILL_COUNT = case_count(CONCURRENT_MATCHES, full=20)
TURN_LIMIT = timedelta(seconds=20)
MAX_RECOVERY_SECONDS = 5
KILL_INTERVAL_RANGE = (0.1, 0.6)  # seconds between two kills

DRAW_PILE_SIZE = 24
"""In the draw pile of a match: what comes after a death matters, not how long a match lasts."""

MIN_KILL_INTERVAL = timedelta(seconds=8)
"""For so long a match is spared: two deaths in a turn may well cost the turn."""

CLOCK = SystemClock()


def test_r04_every_match_continues_and_ends_after_a_worker_is_killed(tmp_path: Path) -> None:
    """Matches in which the bot has both seats continue; each turn has enough time."""
    kill_workers(tmp_path, timedelta(seconds=HANG_SECONDS))


@pytest.mark.slow
@pytest.mark.timed
def test_r04_a_match_goes_on_within_five_seconds_of_a_kill(tmp_path: Path) -> None:
    """The next action is accepted within five seconds, and no turn of twenty seconds is lost.

    On a slow machine both durations are extended by its slowdown.
    """
    initial_slowdown = slowdown_factor()
    recovery_times = kill_workers(tmp_path, TURN_LIMIT * initial_slowdown)
    assert recovery_times[-1] <= MAX_RECOVERY_SECONDS * max(initial_slowdown, slowdown_factor())


def kill_workers(tmp_path: Path, limit: timedelta) -> list[float]:
    """Kill workers at random moments and return the sorted recovery times in seconds."""
    seed = secrets.randbelow(10**6)
    sys.stdout.write(f"kill seed {seed}\n")
    rng, kills = Random(seed), list[tuple[str, datetime]]()
    with run_worker_processes(tmp_path) as (arena, log, workers, run_poller):

        def create_match() -> str:
            draw_pile = [
                [card.suit, card.value] for card in rng.sample(DEFAULT_DRAW_DECK, DRAW_PILE_SIZE)
            ]
            return arena.create_match_and_get_id((ALICE, ALICE), timeout=limit, drawPile=draw_pile)

        matches = [create_match() for _ in range(CONCURRENT_MATCHES)]
        run_poller()  # not before: only the first list has them all, and the next comes after 30 s
        while len(kills) < KILL_COUNT:
            CLOCK.sleep(timedelta(seconds=rng.uniform(*KILL_INTERVAL_RANGE)))
            running_matches = [
                match_id
                for match_id in matches
                if arena.admin_view(match_id)["activePlayerIndex"] is not None
            ]
            recently_hit = {
                hit_match_id
                for hit_match_id, kill_time in kills
                if CLOCK.now() - kill_time < MIN_KILL_INTERVAL
            }
            if candidates := [
                match_id
                for match_id in running_matches
                if match_id not in recently_hit and workers.process_ids(match_id)
            ]:
                hit_match_id = rng.choice(candidates)
                kills.append((hit_match_id, CLOCK.now()))
                for pid in workers.process_ids(hit_match_id):
                    os.kill(pid, signal.SIGKILL)
            matches += [
                create_match() for _ in range(CONCURRENT_MATCHES // 2 - len(running_matches))
            ]
        [
            *MatchFollower(log, CLOCK, timedelta(seconds=HANG_SECONDS)).iter_finished(
                matches, len(matches)
            )
        ]
        admin_views = {hit_match_id: arena.admin_view(hit_match_id) for hit_match_id in matches}
        for admin_view in admin_views.values():
            assert [
                *log_differences(admin_view, log),
                *intent_differences(admin_view, log, [ALICE]),
            ] == []
            assert not any(is_forced(entry) for entry in admin_view["moves"])
    recovery_times = sorted(
        recovery_seconds(admin_views[hit_match_id], kill_time) for hit_match_id, kill_time in kills
    )
    figures = ", ".join(f"{seconds:.1f}" for seconds in recovery_times)
    sys.stdout.write(f"{KILL_COUNT} kills in {len(matches)} matches; after {figures} s\n")
    return recovery_times


def recovery_seconds(admin_view: dict[str, object], kill_time: datetime) -> float:
    """Return the seconds from a kill to the next action; 0 if the match has no later action."""
    action_times = (
        datetime.fromisoformat(move["at"]) for move in accepted_actions(admin_view, [ALICE])
    )
    return (
        min(
            (action_time for action_time in action_times if action_time > kill_time),
            default=kill_time,
        )
        - kill_time
    ).total_seconds()


@contextmanager
def run_worker_processes(
    folder: Path,
) -> Iterator[tuple[ArenaServer, MatchLog, WorkerProcesses, Callable[[], None]]]:
    """Yield the arena, the match log, the workers, and a function that starts the poller."""
    config = ArenaConfig(players_file=write_players(folder), admin_password=ADMIN_PASSWORD)
    with ExitStack() as stack:
        arena = stack.enter_context(ArenaServer(config))
        settings = {
            **alice_settings(arena.url),
            **in_process_backend_settings(folder / "matches.db"),
        }
        del settings["CARDSHARP_PACE_SECONDS"], settings["CARDSHARP_WATCH_SECONDS"]
        dependencies = stack.enter_context(open_bot_dependencies(settings))
        variables = {
            **settings,
            "CARDSHARP_STRATEGY": STRATEGY,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(__file__).parents[1]),
        }
        workers = WorkerProcesses(variables, folder / "worker.log")
        stack.callback(workers.close)
        scheduler = LambdaScheduler(
            LambdaFunction("poller", poller.app.handler, timedelta(seconds=100)),
            LambdaFunction("worker", workers, timedelta(minutes=5)),
            dependencies.queue,
            dependencies.clock,
            LambdaSchedulerOptions(concurrency=2 * CONCURRENT_MATCHES),
        )
        try:
            yield arena, dependencies.match_log, workers, scheduler.start
        finally:
            scheduler.stop_accepting()
            arena.stop()
            scheduler.stop(timedelta(seconds=5))
