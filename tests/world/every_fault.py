"""Plays every kind of fault at every I/O step, and pairs of them, and writes what was played.

python -m world.every_fault [--pairs N] [--seed S]

Every bot at both homes of its match log. When nothing was harmed, the table in docs/reliability.md
is written anew; else every harmed match is named by its faults, and the exit code is 1.
"""

import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import TypeVar

import cyclopts

from world import kit as fault_kit
from world.kit import HOMES, PLACES, Counts, Faults, Kit, singles
from world.lies import Lie, harm_by, pairs_of_lies, single_lies

T = TypeVar("T")
BATCH = 20  # matches that a process plays before it tells of them
_open = ExitStack()


@cache
def kit(game: str, home: str) -> Kit:
    """The kit of this process; its home and folder last as long as the process."""
    logging.disable()
    folder = _open.enter_context(tempfile.TemporaryDirectory())
    return Kit(game, _open.enter_context(HOMES[home]()), Path(folder))


def steps(game: str, home: str) -> list[str]:
    return kit(game, home).steps()


def harmed(game: str, home: str, batch: Sequence[Faults]) -> list[str]:
    """A sentence for each match that its faults harmed."""
    found = []
    for bench in (kit(game, home).run(faults) for faults in batch):
        hits = (f"{kind} at {number} {step}" for _, number, step, kind in bench.plan.hits)
        found += [f"  {', '.join(hits)}: {'; '.join(bench.found)}"] if bench.found else []
    return found


def harmed_by_lies(batch: Sequence[tuple[Lie, ...]]) -> list[str]:
    """A sentence for each match that extreme values harmed."""
    logging.disable()
    found = []
    for lies in batch:
        with tempfile.TemporaryDirectory() as folder:
            harm = harm_by(lies, Path(folder))
        found += [f"  {' and '.join(map(str, lies))}: {'; '.join(harm)}"] if harm else []
    return found


def main(*, pairs: int = 1000, seed: int = 1) -> int:
    """Play, with so many pairs for each bot at each home, and write the table; 1 if harmed."""
    counts: dict[str, Counts] = {home: Counter() for home in HOMES}
    began, total = time.monotonic(), Counter[str]()
    say = partial(print, flush=True)

    def play(what: str, runs: Sequence[T], judge: Callable[[Sequence[T]], list[str]]) -> None:
        batches = [runs[at : at + BATCH] for at in range(0, len(runs), BATCH)]
        bad = [one for found in pool.map(judge, batches) for one in found]
        total[what.rpartition(": ")[2]] += len(runs)
        total["harmed"] += len(bad)
        say(f"{what}: {len(runs)}, {len(bad)} harmed", *bad, sep="\n")

    with ProcessPoolExecutor() as pool:
        for home, game in product(HOMES, PLACES):
            clean = pool.submit(steps, game, home).result()
            counts[home] += fault_kit.counted(clean)
            where, judge = f"{game}, {home}", partial(harmed, game, home)
            play(f"{where}: single faults", [{at: kind} for at, kind in singles(clean)], judge)
            play(f"{where}: pairs", [*fault_kit.pairs(clean, pairs, seed)], judge)
        play("extreme values", [(lie,) for lie in single_lies()], harmed_by_lies)
        play("pairs of values", pairs_of_lies(pairs, seed), harmed_by_lies)
    said = f"{total['single faults']:,} single faults and {total['pairs']:,} pairs"
    say(f"{said} in {time.monotonic() - began:.0f} s, {total['harmed']} matches harmed")
    if not total["harmed"]:
        lied = f"{total['extreme values']} extreme values and {total['pairs of values']} pairs"
        said = f"{said} (seed {seed}), {lied} of them: no match harmed."
        fault_kit.write(said, counts)
    return 1 if total["harmed"] else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
