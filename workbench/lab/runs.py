"""A duel as a run: played by processes here or on a cluster, kept pair by pair, taken up again."""

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import closing
from dataclasses import replace
from itertools import count, takewhile

from workbench.lab.duel import Duel
from workbench.lab.extras import PlaySeries, extras_of
from workbench.lab.matches import play_series
from workbench.lab.plan import Plan
from workbench.lab.players import check_players
from workbench.lab.pools import hosted
from workbench.lab.results import LessLuck, Pair
from workbench.lab.sprt import Sequential
from workbench.strategy_file import is_file, is_own

Numbered = tuple[int, Pair]
"""A pair and its number in the run."""

Tell = Callable[[list[Numbered]], None]
"""Hears of pairs as they end."""

_TASKS = 100
"""Tasks into which a run is cut, so that progress can be seen and little is lost."""

_TASKS_TESTED = 1000
"""The same for a run that may end at any pair: what is under way then was played for nothing."""


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

    Without a pool it is played in this process. The result is the same in any way, also where it
    is `tested`: then it ends with the pair, in the order of their numbers, that decides the test.

    Raises:
        ConfigError: a player of the plan does not exist.
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


def unsteady(played: Duel) -> tuple[str, ...]:
    """Which users' files decide otherwise when the first deal is played again.

    Where both players are files and one does, both are named.
    """
    files = tuple(filter(is_own, (played.plan.first, played.plan.second)))
    if not files:
        return ()
    [(_, again)] = play_task(played.plan, [range(1)])
    return () if again == played.pairs[0] else tuple(dict.fromkeys(files))


def _decided(tested: Sequential | None, done: dict[int, Pair], less: LessLuck) -> bool:
    """Whether the pairs that are there without a gap decide the test."""
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
    futures: list[Future[list[Numbered]]] = [
        pool.submit(hosted, play_task, plan, task) for task in tasks
    ]
    try:
        yield from (future.result() for future in as_completed(futures))
    finally:
        for future in futures:
            future.cancel()


def engine_of(plan: Plan) -> PlaySeries:
    """What plays the series of a plan: plain Python, or what does the same faster."""
    faster = None if plan.plain else extras_of(plan.game).series(plan)
    return faster or play_series


def play_task(plan: Plan, task: Sequence[range]) -> list[Numbered]:
    """Some series of a plan, in whichever process this is called.

    A pair depends on the plan's seed and on what its series played before, on nothing else.
    """
    engine = engine_of(plan)
    return [
        numbered
        for numbers in task
        for numbered in zip(numbers, engine(plan, numbers), strict=True)
    ]
