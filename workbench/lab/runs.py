"""A duel as a run: planned, played by all cores, kept pair by pair, taken up again."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context

from workbench.lab.engine import Engine, engine_for
from workbench.lab.selfplay import Duel, Pair

Numbered = tuple[int, Pair]
"""A pair and its number in the run."""

SERIES = 3
"""Pairs that two players play in a row: six matches, as in a pairing of the tournament."""

_TASKS = 100
"""Tasks into which a run is cut, so that progress can be seen and little is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A duel to be played; who plays it with how many processes changes nothing.

    In a series of `series` pairs a strategy that asks for it knows the matches before.
    """

    first: str
    second: str
    pairs: int
    seed: int = 1
    series: int = SERIES
    plain: bool = False

    def stop_rule(self) -> str:
        """When the run ends, said before it begins."""
        return (
            f"{self.first} v {self.second}: stops after {self.pairs:,} pairs of matches "
            f"(seed {self.seed}), whatever they show; interval 95 %, from the pairs' averages."
        )

    def missing(self, kept: dict[int, Pair]) -> list[range]:
        """The series of which pairs are still to be played."""
        starts = range(0, self.pairs, self.series)
        all_series = (range(at, min(at + self.series, self.pairs)) for at in starts)
        return [numbers for numbers in all_series if not kept.keys() >= set(numbers)]


def all_cores() -> int:
    """The number of processes that this machine runs at once."""
    return os.cpu_count() or 1


def run(
    plan: Plan,
    workers: int,
    kept: dict[int, Pair] | None = None,
    tell: Callable[[list[Numbered]], None] = lambda _played: None,
) -> Duel:
    """The duel of `plan`; `kept` pairs are not played again, and `tell` hears of each new one.

    Raises:
        ConfigError: a player of the plan does not exist.
    """
    done = dict(kept or {})
    for played in _play_missing(plan, plan.missing(done), workers):
        fresh = [(number, pair) for number, pair in played if number not in done]
        done |= fresh
        tell(fresh)
    return Duel(tuple(done[number] for number in range(plan.pairs)))


def _play_missing(plan: Plan, missing: list[range], workers: int) -> Iterator[list[Numbered]]:
    engine = engine_for(plan.first, plan.second, plain=plan.plain)
    size = max(1, min(len(missing) // _TASKS, 500))
    tasks = [missing[at : at + size] for at in range(0, len(missing), size)]
    if workers == 1 or len(tasks) < 2:  # noqa: PLR2004 (one task is one process's work)
        yield from (_play(plan, engine, task) for task in tasks)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        futures: list[Future[list[Numbered]]] = []
        try:
            futures = [pool.submit(_play, plan, engine, task) for task in tasks]
            yield from (future.result() for future in as_completed(futures))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _play(plan: Plan, engine: Engine, task: list[range]) -> list[Numbered]:
    return [
        numbered
        for numbers in task
        for numbered in zip(numbers, engine(plan.seed, numbers), strict=True)
    ]
