"""`make explore`: all interleavings of the real code in small matches, and rules that are broken.

Exit status 1 where something is wrong, with the way to it in plain words, or where a broken rule is
not found. `--document` writes the tables into docs/reliability.md, `--jobs 8` does so many at once.
"""

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import cyclopts

from world.explore.jobs import JOBS, MUTANTS, SEARCHES, Found, Job, run

DOCUMENT = Path(__file__).parents[3] / "docs" / "reliability.md"
BEGIN, END = "<!-- written by make explore -->", "<!-- end of make explore -->"


def main(*, jobs: int | None = None, document: bool = False) -> int:
    """All searches and all broken rules; 1 if anything is not as it should be."""
    results: dict[Job, Found] = {}
    say = partial(print, sep="\n    ", flush=True)
    with ProcessPoolExecutor(jobs or os.cpu_count(), get_context("spawn")) as pool:
        running = {pool.submit(run, number): job for number, job in enumerate(JOBS)}
        for future in as_completed(running):
            job, found = running[future], future.result()
            results[job] = found
            name = f"broken on purpose: {job.words}" if job.broken else job.words
            say(f"{name}: {found.states:,} states, {found.wrong or 'nothing wrong'}", *found.trace)
    tables = _tables(results)
    say(tables)
    if document:
        before, _, rest = DOCUMENT.read_text().partition(BEGIN)
        DOCUMENT.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{rest.partition(END)[2]}")
    return int(any(bool(job.broken) == (one.wrong is None) for job, one in results.items()))


def _tables(results: Mapping[Job, Found]) -> str:
    lines = ["| explored | faults | states | steps | seconds | wrong |", "|---" * 6 + "|"]
    for search in SEARCHES:
        found, wrong = results[search], results[search].wrong or "nothing"
        if search.setting.bound is not None:
            wrong += f"; {found.alone:g} s alone at most"
        lines.append(
            f"| {search.words} | up to {search.faults} | {found.states:,} | {found.steps:,} "
            f"| {found.seconds:.0f} | {wrong} |"
        )
    lines += ["", "| broken on purpose | found with | after states |", "|---|---|---|"]
    for mutant in MUTANTS:
        found = results[mutant]
        needed = ("no fault", "one fault")[len(found.by_faults) - 1]
        lines.append(
            f"| {mutant.words} | {needed if found.wrong else '**not found**'} | {found.states:,} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
