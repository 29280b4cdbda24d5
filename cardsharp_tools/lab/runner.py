"""Run of a duel: in processes here or on a cluster; recorded pairs are not played again."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count, takewhile
from multiprocessing import active_children, get_context, set_start_method
from typing import Any, TypeVar
from urllib.parse import urlsplit

from cardsharp.errors import ConfigError, StrategyError, Unreachable
from cardsharp_tools.executors import crash_report, hang_monitor, process_guard
from cardsharp_tools.executors.clean_environment import (
    clean_own_environment,
    pass_variables,
    passed_variables,
)
from cardsharp_tools.executors.strategy_import import enable_in_process_imports
from cardsharp_tools.lab.duel_result import DuelResult, LuckAdjuster, Pair
from cardsharp_tools.lab.game_adapter import lab_adapter
from cardsharp_tools.lab.match_runner import play_series
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.lab.players import check_players
from cardsharp_tools.lab.sprt import SequentialTest
from cardsharp_tools.project_files import missing_extra_error
from cardsharp_tools.proxy_option import keep_proxy

T = TypeVar("T")

_SCHEDULER_TIMEOUT = 60  # seconds in which a scheduler must answer


@contextmanager
def make_executor(
    workers: int | None, cluster: str | None = None, *, isolate_strategies: bool = False
) -> Iterator[Executor | None]:
    """Return an executor of `workers` processes, by default one a core; None for in-process.

    With `isolate_strategies` it is never None. A cluster gives the task of a worker that dies to
    another worker. Raises `ConfigError` if the cluster's library or address is missing,
    `Unreachable` if no cluster answers, and `StrategyError` if a process of this machine ended in
    the middle of a task.
    """
    processes = workers or core_count()
    if cluster is not None:
        with _open_cluster_executor(cluster) as pool:
            yield pool
    elif processes == 1 and not isolate_strategies:
        yield None
    else:
        with _open_local_executor(processes) as pool:
            yield pool


@contextmanager
def _open_local_executor(processes: int) -> Iterator[Executor]:
    """Yield an executor that uses processes of this machine; end them after the block."""
    previous_children = active_children()
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _initialize_worker, (os.getpid(),))
    try:
        yield pool
    except BrokenProcessPool:
        raise StrategyError(
            "A process that played matches has died: a strategy ended it, or the memory ran out."
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        workers = set(active_children()) - set(previous_children)
        for worker in workers:
            worker.terminate()  # its guard also ends a strategy that never returns
        for worker in workers:
            worker.join()


def _initialize_worker(parent: int) -> None:
    """Prepare a worker: start its guard, and let strategies start processes as elsewhere."""
    process_guard.continue_in_guarded_child(parent, hang_monitor.__file__)
    # otherwise strategies' processes would be spawned, as this worker was
    set_start_method(None, force=True)


def submit_worker_task(pool: Executor, function: Callable[..., T], *args: object) -> "Future[T]":
    """Let a worker process call `function`; return the future of its result."""
    return pool.submit(run_worker_task, passed_variables(), function, *args)


def run_worker_task(passed_names: Sequence[str], function: Callable[..., T], *args: object) -> T:
    """Call `function` in a worker process and return its result.

    The strategy files that it uses are imported in this process, not in a further one. So the
    process first removes the environment variables that they must not see.
    """
    keep_proxy()
    pass_variables(passed_names)
    clean_own_environment()
    enable_in_process_imports(crash_report.enable_crash_reports)
    this = os.getpid()
    result = function(*args)
    crash_report.exit_if_forked(this)
    return result


@contextmanager
def _open_cluster_executor(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client  # noqa: PLC0415 - an optional group
    except ImportError:
        raise missing_extra_error("--cluster", "Dask", "cluster") from None
    if urlsplit(address).netloc.rpartition(":")[0] == "":
        raise ConfigError(f"'{address}' is not the address of a cluster, such as tcp://HOST:PORT.")
    try:
        client: Any = Client(  # type: ignore[no-untyped-call]  # Dask says no types
            address, timeout=_SCHEDULER_TIMEOUT, set_as_default=False
        )
    except ValueError as error:
        raise ConfigError(f"'{address}' is not the address of a cluster: {error}.") from error
    except OSError as error:
        raise Unreachable(f"No Dask scheduler answers at {address}.") from error
    with client:
        pool = client.get_executor(pure=False)
        try:
            yield pool
        finally:
            pool.shutdown(wait=False)


NumberedPair = tuple[int, Pair]  # a pair and its number in the run
OnPairs = Callable[[list[NumberedPair]], None]  # called with new pairs
_TASK_COUNT = 100  # tasks of a run: many enough to show progress and to lose little
_SEQUENTIAL_TEST_TASK_COUNT = (
    1000  # of a run that may end at any pair: pairs in progress are then wasted
)


def core_count() -> int:
    """Return the number of processes that this machine can run at the same time."""
    return os.cpu_count() or 1


def run_duel(
    plan: DuelPlan,
    pool: Executor | None = None,
    recorded_pairs: dict[int, Pair] | None = None,
    on_pairs: OnPairs = lambda _played: None,
    sprt: SequentialTest | None = None,
) -> DuelResult:
    """Play the duel of `plan` and return the result.

    `recorded_pairs` are not played again, and `on_pairs` gets each new one. The result is the
    same with any pool, also with `sprt`: the duel then ends with the pair, in the order of
    their numbers, that decides the test. Raises `ConfigError` for unknown players.
    """
    check_players(plan)
    # A sequential test reads the pairs in the order of their numbers, not in that of their ends.
    # Otherwise the decision would depend on which process was faster.
    done, less = dict(recorded_pairs or {}), LuckAdjuster()
    if not _is_test_decided(sprt, done, less):
        tasks = _TASK_COUNT if sprt is None else _SEQUENTIAL_TEST_TASK_COUNT
        with closing(_play_missing(plan, plan.missing_series(done), pool, tasks)) as batches:
            for played in batches:
                fresh = [
                    (pair_number, pair) for pair_number, pair in played if pair_number not in done
                ]
                done |= fresh
                on_pairs(fresh)
                if _is_test_decided(sprt, done, less):
                    break
    pairs = plan.pairs if sprt is None else sprt.pair_count
    return DuelResult(
        replace(plan, pairs=pairs), tuple(done[pair_number] for pair_number in range(pairs))
    )


def _is_test_decided(
    tested: SequentialTest | None, done: dict[int, Pair], less: LuckAdjuster
) -> bool:
    if tested is None:
        return False
    pair_numbers = takewhile(done.__contains__, count(tested.pair_count))
    return tested.add_pairs_until_decided(
        less.adjusted_share(done[pair_number]) for pair_number in pair_numbers
    )


def _play_missing(
    plan: DuelPlan, missing: list[range], pool: Executor | None, task_count: int
) -> Generator[list[NumberedPair]]:
    task_size = max(1, min(len(missing) // task_count, 500))
    tasks = [missing[at : at + task_size] for at in range(0, len(missing), task_size)]
    if pool is None or (len(tasks) == 1 and not plan.has_strategy_file):
        yield from (play_series_task(plan, task) for task in tasks)
        return
    futures = [submit_worker_task(pool, play_series_task, plan, task) for task in tasks]
    try:
        yield from (future.result() for future in as_completed(futures))
    finally:
        for future in futures:
            future.cancel()


def play_series_task(plan: DuelPlan, task: Sequence[range]) -> list[NumberedPair]:
    """Play some series of a plan; the results depend only on seed and series.

    A pair depends on the seed and its series alone.
    """
    engine = (
        None if plan.pure_python else lab_adapter(plan.game).find_compiled_series_player(plan)
    ) or play_series
    return [
        numbered_pair
        for pair_numbers in task
        for numbered_pair in zip(pair_numbers, engine(plan, pair_numbers), strict=True)
    ]
