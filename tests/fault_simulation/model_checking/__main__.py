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
            job, result = running[future], future.result()
            results[job] = result
            name = f"broken on purpose: {job.title}" if job.mutation else job.title
            say(
                f"{name}: {result.states:,} states, {result.violation or 'nothing wrong'}",
                *result.trace,
            )
    tables = _tables(results)
    say(tables)
    if document:
        head, _, rest = DOCUMENT.read_text().partition(BEGIN)
        DOCUMENT.write_text(f"{head}{BEGIN}\n\n{tables}\n\n{END}{rest.partition(END)[2]}")
    return int(
        any(bool(job.mutation) == (result.violation is None) for job, result in results.items())
    )


def _tables(results: Mapping[SearchJob, SearchResult]) -> str:
    lines = ["| explored | faults | states | steps | seconds | wrong |", "|---" * 6 + "|"]
    for search in SEARCHES:
        result, wrong = results[search], results[search].violation or "nothing"
        if search.config.max_unattended is not None:
            wrong += f"; {result.max_unattended_seconds:g} s alone at most"
        lines.append(
            f"| {search.title} | up to {search.max_faults} | {result.states:,} | {result.steps:,} "
            f"| {result.seconds:.0f} | {wrong} |"
        )
    lines += ["", "| broken on purpose | found with | after states |", "|---|---|---|"]
    for mutant in MUTATION_SEARCHES:
        result = results[mutant]
        needed = ("no fault", "one fault")[len(result.states_by_fault_count) - 1]
        lines.append(
            f"| {mutant.title} | {needed if result.violation else '**not found**'} | "
            f"{result.states:,} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
