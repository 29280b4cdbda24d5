"""`make explore`: all interleavings of the real code in small matches, and rules that are broken.

Exit status 1 where something is wrong, with the way to it in plain words, or where a broken rule is
not found. `--document` writes the tables into docs/reliability.md, `--jobs 8` does so many at once.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from world.explore.jobs import JOBS, SEARCHES, Result, Search, run
from world.explore.mutants import MUTANTS, Mutant

DOCUMENT = Path(__file__).parents[3] / "docs" / "reliability.md"
BEGIN, END = "<!-- written by make explore -->", "<!-- end of make explore -->"


def main(jobs: int | None = None, *, document: bool = False) -> int:
    """All searches and all broken rules; 1 if anything is not as it should be."""
    results: dict[Search | Mutant, Result] = {}
    with ProcessPoolExecutor(jobs or os.cpu_count(), get_context("spawn")) as pool:
        running = {pool.submit(run, number): job for number, job in enumerate(JOBS)}
        for future in as_completed(running):
            job = running[future]
            results[job] = future.result()
            _say(job, results[job])
    tables = _tables(results)
    print(tables)  # noqa: T201
    if document:
        before, _, rest = DOCUMENT.read_text().partition(BEGIN)
        DOCUMENT.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{rest.partition(END)[2]}")
    missed = [job for job in MUTANTS if results[job].found.wrong is None]
    broken = [job for job in SEARCHES if results[job].found.wrong is not None]
    return 1 if missed or broken else 0


def _say(job: Search | Mutant, result: Result) -> None:
    found = result.found
    name = job.words if isinstance(job, Search) else f"broken on purpose: {job.rule}"
    print(f"{name}: {found.states:,} states, {found.wrong or 'nothing wrong'}", flush=True)  # noqa: T201
    if found.wrong is not None:
        print(*(f"    {line}" for line in found.trace), sep="\n", flush=True)  # noqa: T201


def _tables(results: dict[Search | Mutant, Result]) -> str:
    lines = [
        "| explored | faults | states | steps | seconds | wrong |",
        "|---|---|---|---|---|---|",
    ]
    for search in SEARCHES:
        result = results[search]
        found, wrong = result.found, result.found.wrong or "nothing"
        if search.setting.bound is not None:
            wrong += f"; {result.alone:g} s alone at most"
        lines.append(
            f"| {search.words} | up to {search.faults} | {found.states:,} | {found.steps:,} "
            f"| {result.seconds:.0f} | {wrong} |"
        )
    lines += ["", "| broken on purpose | found with | after states |", "|---|---|---|"]
    for mutant in MUTANTS:
        found = results[mutant].found
        how = (
            ("no fault", "one fault")[len(found.by_faults) - 1] if found.wrong else "**not found**"
        )
        lines.append(f"| {mutant.rule} | {how} | {found.states:,} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make explore", description=__doc__)
    parser.add_argument("--document", action="store_true", help="write docs/reliability.md")
    parser.add_argument("--jobs", type=int, help="how many at once; as many as processors")
    given = parser.parse_args()
    raise SystemExit(main(given.jobs, document=given.document))
