"""Model check: all interleavings of the real code in small matches, also with mutated rules.

`make evidence-model-check` runs it.

The exit code is 1 if a violation is found, and its steps are printed, or if a mutation is
not detected. `--document` writes the tables into docs/reliability.md; `--jobs 8` runs
eight searches at once.
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
BEGIN_MARKER = "<!-- written by make evidence-model-check -->"
END_MARKER = "<!-- end of make evidence-model-check -->"


def main(*, jobs: int | None = None, document: bool = False) -> int:
    """Run all searches, with and without mutations; return 1 if a result is unexpected."""
    results: dict[SearchJob, SearchResult] = {}
    print_lines = partial(print, sep="\n    ", flush=True)
    with ProcessPoolExecutor(jobs or os.cpu_count(), get_context("spawn")) as pool:
        running = {pool.submit(run_search, number): job for number, job in enumerate(ALL_SEARCHES)}
        for future in as_completed(running):
            job, result = running[future], future.result()
            results[job] = result
            name = f"broken on purpose: {job.title}" if job.mutation else job.title
            print_lines(
                f"{name}: {result.states:,} states, {result.violation or 'nothing wrong'}",
                *result.trace,
            )
    tables = _tables(results)
    print_lines(tables)
    if document:
        head, _, rest = DOCUMENT.read_text().partition(BEGIN_MARKER)
        DOCUMENT.write_text(
            f"{head}{BEGIN_MARKER}\n\n{tables}\n\n{END_MARKER}{rest.partition(END_MARKER)[2]}"
        )
    return int(
        any(bool(job.mutation) == (result.violation is None) for job, result in results.items())
    )


def _tables(results: Mapping[SearchJob, SearchResult]) -> str:
    lines = ["| explored | faults | states | steps | seconds | wrong |", "|---" * 6 + "|"]
    for search in SEARCHES:
        result, violation = results[search], results[search].violation or "nothing"
        if search.config.max_unattended is not None:
            violation += f"; {result.max_unattended_seconds:g} s alone at most"
        lines.append(
            f"| {search.title} | up to {search.max_faults} | {result.states:,} | {result.steps:,} "
            f"| {result.seconds:.0f} | {violation} |"
        )
    lines += ["", "| broken on purpose | found with | after states |", "|---|---|---|"]
    for mutation_search in MUTATION_SEARCHES:
        result = results[mutation_search]
        fault_count = ("no fault", "one fault")[len(result.states_by_fault_count) - 1]
        lines.append(
            f"| {mutation_search.title} | {fault_count if result.violation else '**not found**'} | "
            f"{result.states:,} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
