"""A duel as a run: played by processes here or on a cluster, kept pair by pair, taken up again."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count, takewhile
from multiprocessing import active_children, get_context, set_start_method
from typing import Any, TypeVar
from urllib.parse import urlsplit

from cardsharp.errors import ConfigError, StrategyFault, Unreachable
from workbench import companion, guard, last_words
from workbench.files import lacking
from workbench.lab.duel import Duel, LessLuck, Pair
from workbench.lab.extras import extras_of
from workbench.lab.matches import play_series
from workbench.lab.plan import Plan
from workbench.lab.players import check_players
from workbench.lab.sprt import Sequential
from workbench.strategy_file import host, is_file

T = TypeVar("T")

_PATIENCE = 60  # seconds in which a scheduler must answer


@contextmanager
def pool_of(
    workers: int | None, cluster: str | None = None, *, apart: bool = False
) -> Iterator[Executor | None]:
    """An executor of so many processes, else of one a core; None where this process does it.

    With `apart` that is never so. A cluster gives the task of a worker that dies to another one.
    Raises `ConfigError` without its library or address, `Unreachable` where nobody answers, and
    `StrategyFault` where a process of this machine ended in the middle of a task.
    """
    processes = workers or all_cores()
    if cluster is not None:
        with _cluster(cluster) as pool:
            yield pool
    elif processes == 1 and not apart:
        yield None
    else:
        with _local(processes) as pool:
            yield pool


@contextmanager
def _local(processes: int) -> Iterator[Executor]:
    """An executor of processes of this machine; what runs at the end of the block is ended."""
    before = active_children()
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin, (os.getpid(),))
    try:
        yield pool
    except BrokenProcessPool:
        raise StrategyFault(
            "A process that played has died: a strategy ended it, or the memory ran out."
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        workers = set(active_children()) - set(before)
        for worker in workers:
            worker.terminate()  # its guard ends whatever a strategy does there for ever
        for worker in workers:
            worker.join()


def _begin(parent: int) -> None:
    """Make a worker ready: below a guard, and with processes of a strategy's as elsewhere."""
    guard.enter(parent, companion.__file__)
    set_start_method(None, force=True)  # else those would be spawned, as this was


def hosted(work: Callable[..., T], *given: object) -> T:
    """Do the work in this process, which is there for the strategy files that it imports."""
    host(last_words.listen)
    this = os.getpid()
    result = work(*given)
    last_words.leave_unless(this)
    return result


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client  # noqa: PLC0415 - an optional group
    except ImportError:
        raise lacking("--cluster", "Dask", "cluster") from None
    if urlsplit(address).netloc.rpartition(":")[0] == "":
        raise ConfigError(f"'{address}' is no address of a cluster, which is tcp://HOST:PORT.")
    try:
        client: Any = Client(  # type: ignore[no-untyped-call]  # Dask says no types
            address, timeout=_PATIENCE, set_as_default=False
        )
    except ValueError as error:
        raise ConfigError(f"'{address}' is no address of a cluster: {error}.") from error
    except OSError as error:
        raise Unreachable(f"No Dask scheduler answers at {address}.") from error
    with client:
        pool = client.get_executor(pure=False)
        try:
            yield pool
        finally:
            pool.shutdown(wait=False)


Numbered = tuple[int, Pair]  # a pair and its number in the run
Tell = Callable[[list[Numbered]], None]  # hears of pairs as they end
_TASKS = 100  # tasks into which a run is cut, so that progress can be seen and little is lost
_TASKS_TESTED = 1000  # for one that may end at any pair: what is under way then was for nothing


def all_cores() -> int:
    """The number of processes that this machine runs at once."""
    return os.cpu_count() or 1


def run(
    plan: Plan,
    pool: Executor | None = None,
    kept: dict[int, Pair] | None = None,
    tell: Tell = lambda _played: None,
    tested: Sequential | None = None,
) -> Duel:
    """The duel of `plan`; `kept` pairs are not played again, and `tell` hears of each new one.

    The result is the same with any pool, also where it is `tested`: then it ends with the pair, in
    the order of their numbers, that decides the test. Raises `ConfigError` for unknown players.
    """
    check_players(plan)
    done, less = dict(kept or {}), LessLuck()
    if not _decided(tested, done, less):
        tasks = _TASKS if tested is None else _TASKS_TESTED
        with closing(_play_missing(plan, plan.missing(done), pool, tasks)) as batches:
            for played in batches:
                fresh = [(number, pair) for number, pair in played if number not in done]
                done |= fresh
                tell(fresh)
                if _decided(tested, done, less):
                    break
    pairs = plan.pairs if tested is None else tested.number
    return Duel(replace(plan, pairs=pairs), tuple(done[number] for number in range(pairs)))


def _decided(tested: Sequential | None, done: dict[int, Pair], less: LessLuck) -> bool:
    if tested is None:
        return False
    there = takewhile(done.__contains__, count(tested.number))
    return tested.take(less.share(done[number]) for number in there)


def _play_missing(
    plan: Plan, missing: list[range], pool: Executor | None, number: int
) -> Generator[list[Numbered]]:
    size = max(1, min(len(missing) // number, 500))
    tasks = [missing[at : at + size] for at in range(0, len(missing), size)]
    apart = is_file(plan.first) or is_file(plan.second)
    if pool is None or (len(tasks) == 1 and not apart):
        yield from (play_task(plan, task) for task in tasks)
        return
    futures = [pool.submit(hosted, play_task, plan, task) for task in tasks]
    try:
        yield from (future.result() for future in as_completed(futures))
    finally:
        for future in futures:
            future.cancel()


def play_task(plan: Plan, task: Sequence[range]) -> list[Numbered]:
    """Some series of a plan, here or anywhere: a pair depends on its seed and series alone."""
    engine = (None if plan.plain else extras_of(plan.game).series(plan)) or play_series
    return [one for numbers in task for one in zip(numbers, engine(plan, numbers), strict=True)]
