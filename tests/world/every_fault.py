"""Plays every kind of fault at every I/O step, and pairs of them, and writes what was played.

python -m world.every_fault [--pairs N] [--seed S]

Every bot at both homes of its match log. When nothing was harmed, the table in docs/reliability.md
is written anew; else every harmed match is named by its faults, and the exit code is 1.
"""

import argparse
import logging
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from world import kit as fault_kit
from world.bench import Bench
from world.kit import HOMES, PLACES, Counts, Faults, Kit, singles
from world.lies import Lie, harm_by, pairs_of_lies, single_lies

BATCH = 20
"""Matches that a process plays before it tells of them."""

_open = ExitStack()


@cache
def kit(game: str, home: str) -> Kit:
    """The kit of this process; its home and folder last as long as the process."""
    logging.disable()
    folder = _open.enter_context(tempfile.TemporaryDirectory())
    return Kit(game, _open.enter_context(HOMES[home]()), Path(folder))


def steps(game: str, home: str) -> list[str]:
    """The I/O steps of a match in which nothing goes wrong."""
    return kit(game, home).steps()


def harmed(game: str, home: str, batch: list[Faults]) -> list[str]:
    """A sentence for each match that its faults harmed."""
    benches = [kit(game, home).run(faults) for faults in batch]
    return [f"  {_hits(bench)}: {'; '.join(bench.found)}" for bench in benches if bench.found]


def harmed_by_lies(batch: list[tuple[Lie, ...]]) -> list[str]:
    """A sentence for each match that extreme values harmed."""
    logging.disable()
    found = []
    for lies in batch:
        with tempfile.TemporaryDirectory() as folder:
            harm = harm_by(lies, Path(folder))
        found += [f"  {' and '.join(map(str, lies))}: {'; '.join(harm)}"] if harm else []
    return found


def _hits(bench: Bench) -> str:
    return ", ".join(f"{kind} at {number} {step}" for _, number, step, kind in bench.plan.hits)


def say(*sentences: str) -> None:
    """Print, at once."""
    sys.stdout.write("\n".join(sentences) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Play, and write the table; 1 if any match was harmed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000, help="of each bot at each home")
    parser.add_argument("--seed", type=int, default=1, help="of the pairs")
    asked = parser.parse_args()
    counts: dict[str, Counts] = {home: Counter() for home in HOMES}
    began, total, found = time.monotonic(), Counter[str](), 0
    with ProcessPoolExecutor() as pool:
        for home, game in ((home, game) for home in HOMES for game in PLACES):
            clean = pool.submit(steps, game, home).result()
            counts[home] += fault_kit.counted(clean)
            work: dict[str, list[Faults]] = {
                "single faults": [{at: kind} for at, kind in singles(clean)],
                "pairs": list(fault_kit.pairs(clean, asked.pairs, asked.seed)),
            }
            for name, runs in work.items():
                batches = [runs[at : at + BATCH] for at in range(0, len(runs), BATCH)]
                jobs = [pool.submit(harmed, game, home, batch) for batch in batches]
                bad = [one for job in jobs for one in job.result()]
                total[name], found = total[name] + len(runs), found + len(bad)
                say(f"{game}, {home}: {len(runs)} {name}, {len(bad)} harmed", *bad)
        lies: dict[str, list[tuple[Lie, ...]]] = {
            "extreme values": [(lie,) for lie in single_lies()],
            "pairs of values": list(pairs_of_lies(asked.pairs, asked.seed)),
        }
        for name, told in lies.items():
            batches_told = [told[at : at + BATCH] for at in range(0, len(told), BATCH)]
            lying = [pool.submit(harmed_by_lies, batch) for batch in batches_told]
            bad = [one for job in lying for one in job.result()]
            total[name], found = len(told), found + len(bad)
            say(f"{name}: {len(told)}, {len(bad)} harmed", *bad)
    said = f"{total['single faults']:,} single faults and {total['pairs']:,} pairs"
    say(f"{said} in {time.monotonic() - began:.0f} s, {found} matches harmed")
    if not found:
        lied = f"{total['extreme values']} extreme values and {total['pairs of values']} pairs"
        said = f"{said} (seed {asked.seed}), {lied} of them: no match harmed."
        fault_kit.write(said, counts)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
