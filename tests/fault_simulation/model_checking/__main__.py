"""All interleavings of the real code in small matches, also with broken rules.

`make evidence-model-check` runs it.

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

from fault_simulation.model_checking.searches import (
    ALL_SEARCHES,
    MUTATION_SEARCHES,
    SEARCHES,
    SearchJob,
    SearchResult,
    run_search,
)

DOCUMENT = Path(__file__).parents[3] / "docs" / "reliability.md"
BEGIN = "<!-- written by make evidence-model-check -->"
END = "<!-- end of make evidence-model-check -->"


def main(*, jobs: int | None = None, document: bool = False) -> int:
    """All searches and all broken rules; 1 if anything is not as it should be."""
    results: dict[SearchJob, SearchResult] = {}
    say = partial(print, sep="\n    ", flush=True)
    with ProcessPoolExecutor(jobs or os.cpu_count(), get_context("spawn")) as pool:
        running = {pool.submit(run_search, number): job for number, job in enumerate(ALL_SEARCHES)}
        for future in as_completed(running):
            job, found = running[future], future.result()
            results[job] = found
            name = f"broken on purpose: {job.title}" if job.mutation else job.title
            say(
                f"{name}: {found.states:,} states, {found.violation or 'nothing wrong'}",
                *found.trace,
            )
    tables = _tables(results)
    say(tables)
    if document:
        before, _, rest = DOCUMENT.read_text().partition(BEGIN)
        DOCUMENT.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{rest.partition(END)[2]}")
    return int(any(bool(job.mutation) == (one.violation is None) for job, one in results.items()))


def _tables(results: Mapping[SearchJob, SearchResult]) -> str:
    lines = ["| explored | faults | states | steps | seconds | wrong |", "|---" * 6 + "|"]
    for search in SEARCHES:
        found, wrong = results[search], results[search].violation or "nothing"
        if search.config.max_unattended is not None:
            wrong += f"; {found.max_unattended_seconds:g} s alone at most"
        lines.append(
            f"| {search.title} | up to {search.max_faults} | {found.states:,} | {found.steps:,} "
            f"| {found.seconds:.0f} | {wrong} |"
        )
    lines += ["", "| broken on purpose | found with | after states |", "|---|---|---|"]
    for mutant in MUTATION_SEARCHES:
        found = results[mutant]
        needed = ("no fault", "one fault")[len(found.states_by_fault_count) - 1]
        lines.append(
            f"| {mutant.title} | {needed if found.violation else '**not found**'} | "
            f"{found.states:,} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
