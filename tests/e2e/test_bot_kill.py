"""R04: `kill -9` of a worker's process at random moments; every match goes on soon and ends."""

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
    """The worker's handler; each invocation has a process of its own, known by its match."""

    def __init__(self, variables: Mapping[str, str], log: Path) -> None:
        self._worker_args = dict(variables), log
        self._process_context = get_context("forkserver")
        self._process_context.set_forkserver_preload([__name__, "worker.app"])
        with mock.patch.dict(os.environ, variables):  # its path leads to that module
            ensure_running()
        self._of: defaultdict[str, list[BaseProcess]] = defaultdict(list)

    def __call__(self, event: Event, context: LocalLambdaContext) -> None:
        """Have a process attend; raises where it has failed or died."""
        busy = self._of[parse_match_message(event["Records"][0]["body"]).match_id]
        remaining_time = timedelta(milliseconds=context.get_remaining_time_in_millis())
        process = self._process_context.Process(
            target=_attend, args=(*self._worker_args, event, remaining_time), daemon=True
        )
        process.start()
        busy.append(process)
        process.join()
        busy.remove(process)
        if process.exitcode:
            raise ChildProcessError(f"a worker ended with exit code {process.exitcode}")

    def busy(self, match_id: str) -> list[int]:
        """The processes that attend a match, or are about to."""
        return [process.pid for process in self._of[match_id] if process.pid is not None]

    def close(self) -> None:
        """Kill whoever still attends."""
        for process in [worker for busy in self._of.values() for worker in busy]:
            process.kill()


def _attend(
    variables: Mapping[str, str], log: Path, event: Event, remaining_time: timedelta
) -> None:
    """Answer one event in this process, as the worker function does in that environment."""
    os.environ.clear()
    os.environ.update(variables)
    with log.open("a") as printed:
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
    strategy(STRATEGY)(Thinking)  # here alone, so that no other process has it
    handler = import_module("worker.app").handler
    answer = handler(event, LocalLambdaContext("worker", remaining_time, SystemClock()))
    sys.exit(bool(answer["batchItemFailures"]))


STRATEGY = "thinking"


class Thinking:
    """Decides as the champion does, after a while: so that a death can hit our own turns too."""

    def __init__(self, rng: Random) -> None:
        self._inner = build("champion", rng)

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        threading.Event().wait(0.15)
        return self._inner.decide(position)


AT_ONCE = 8
KILLS = case_count(AT_ONCE, 20)
TURN_LIMIT = timedelta(seconds=20)
SOON = 5
PACE = (0.1, 0.6)  # seconds between two kills

CARDS = 24
"""In the draw pile of a match: what comes after a death matters, not how long a match lasts."""

REST = timedelta(seconds=8)
"""For so long a match is spared: two deaths in a turn may well cost the turn."""

CLOCK = SystemClock()


def test_r04_every_match_continues_and_ends_after_a_worker_is_killed(tmp_path: Path) -> None:
    """In matches in which we have both seats; no turn is lost, as each has time."""
    killed(tmp_path, timedelta(seconds=HANG_SECONDS))


@pytest.mark.slow
@pytest.mark.timed
def test_r04_a_match_goes_on_within_five_seconds_of_a_kill(tmp_path: Path) -> None:
    """To the next accepted action, and no turn of twenty seconds is lost.

    On a machine that is slow just now, seconds are longer: those of the promise and of the turn.
    """
    slow = slowdown_factor()
    gone_on = killed(tmp_path, TURN_LIMIT * slow)
    assert gone_on[-1] <= SOON * max(slow, slowdown_factor())


def killed(tmp_path: Path, limit: timedelta) -> list[float]:
    """Kill workers until the matches have stood it all; after how many seconds they went on."""
    seed = secrets.randbelow(10**6)
    sys.stdout.write(f"kill seed {seed}\n")
    chance, deaths = Random(seed), list[tuple[str, datetime]]()
    with workers_in_processes(tmp_path) as (arena, log, workers, start):

        def begin() -> str:
            pile = [[card.suit, card.value] for card in chance.sample(DEFAULT_DRAW_DECK, CARDS)]
            return arena.create_match_and_get_id((ALICE, ALICE), timeout=limit, drawPile=pile)

        matches = [begin() for _ in range(AT_ONCE)]
        start()  # not before: only the first list has them all, and the next comes after 30 s
        while len(deaths) < KILLS:
            CLOCK.sleep(timedelta(seconds=chance.uniform(*PACE)))
            running = [m for m in matches if arena.admin_view(m)["activePlayerIndex"] is not None]
            hit = {match for match, at in deaths if CLOCK.now() - at < REST}
            if busy := [m for m in running if m not in hit and workers.busy(m)]:
                match = chance.choice(busy)
                deaths.append((match, CLOCK.now()))
                for pid in workers.busy(match):
                    os.kill(pid, signal.SIGKILL)
            matches += [begin() for _ in range(AT_ONCE // 2 - len(running))]
        [
            *MatchFollower(log, CLOCK, timedelta(seconds=HANG_SECONDS)).iter_finished(
                matches, len(matches)
            )
        ]
        admin_views = {match: arena.admin_view(match) for match in matches}
        for admin_view in admin_views.values():
            assert [
                *log_differences(admin_view, log),
                *intent_differences(admin_view, log, [ALICE]),
            ] == []
            assert not any(is_forced(entry) for entry in admin_view["moves"])
    recovery_times = sorted(recovery_seconds(admin_views[match], at) for match, at in deaths)
    figures = ", ".join(f"{seconds:.1f}" for seconds in recovery_times)
    sys.stdout.write(f"{KILLS} kills in {len(matches)} matches; after {figures} s\n")
    return recovery_times


def recovery_seconds(admin_view: dict[str, object], death: datetime) -> float:
    """The seconds from a death to the next action; none where the match had just ended."""
    acted = (datetime.fromisoformat(move["at"]) for move in accepted_actions(admin_view, [ALICE]))
    return (min((at for at in acted if at > death), default=death) - death).total_seconds()


@contextmanager
def workers_in_processes(
    folder: Path,
) -> Iterator[tuple[ArenaServer, MatchLog, WorkerProcesses, Callable[[], None]]]:
    """Yield arena, match log, workers in processes of their own, and what starts the poller."""
    config = ArenaConfig(players_file=write_players(folder), admin_password=ADMIN_PASSWORD)
    with ExitStack() as stack:
        arena = stack.enter_context(ArenaServer(config))
        settings = {
            **alice_settings(arena.url),
            **in_process_backend_settings(folder / "matches.db"),
        }
        del settings["CARDSHARP_PACE_SECONDS"], settings["CARDSHARP_WATCH_SECONDS"]
        assembly = stack.enter_context(open_bot_dependencies(settings))
        variables = {
            **settings,
            "CARDSHARP_STRATEGY": STRATEGY,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(__file__).parents[1]),
        }
        workers = WorkerProcesses(variables, folder / "worker.log")
        stack.callback(workers.close)
        home = LambdaScheduler(
            LambdaFunction("poller", poller.app.handler, timedelta(seconds=100)),
            LambdaFunction("worker", workers, timedelta(minutes=5)),
            assembly.queue,
            assembly.clock,
            LambdaSchedulerOptions(concurrency=2 * AT_ONCE),
        )
        try:
            yield arena, assembly.match_log, workers, home.start
        finally:
            home.stop_accepting()
            arena.stop()
            home.stop(timedelta(seconds=5))
