"""`make explore`: all interleavings of the real code in small matches, and rules that are broken.

Exit status 1 where something is wrong, with the way to it in plain words, or where a broken rule is
not found. `--document` writes the tables into docs/reliability.md, `--jobs 8` does so many at once.
"""

import argparse
import logging
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

from explore.mutants import MUTANTS, Mutant
from explore.process import no_threads
from explore.search import Found, explore
from explore.world import ONE_WORKER, TWO_CARDS, WATCHED, Setting, World

DOCUMENT = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- written by make explore -->", "<!-- end of make explore -->"
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Search:
    """What is explored as it is, and with up to how many faults."""

    words: str
    setting: Setting
    faults: int = 1


SEARCHES = (
    Search("one worker at a time and an onlooker, two cards", ONE_WORKER),
    Search("one worker at a time and an onlooker, one card", replace(ONE_WORKER, cards=1), 2),
    Search("two workers and an onlooker, one card", replace(TWO_CARDS, cards=1)),
    Search(
        "the same, the workers' clocks an hour before and behind",
        Setting(cards=1, skews=(HOUR, -HOUR)),
    ),
    Search("two workers and an onlooker, two cards", TWO_CARDS),
    Search("two workers and a poller, one card", WATCHED),
)


JOBS = (*SEARCHES, *MUTANTS)


@dataclass(frozen=True)
class Result:
    """What came of a search, or of a broken rule."""

    found: Found
    seconds: float
    """Of a processor."""

    alone: float
    """For how many seconds at most nobody attended the match."""


def run(number: int) -> Result:
    """One of all searches and broken rules, in a process of its own."""
    job = JOBS[number]
    logging.disable(logging.CRITICAL)
    began = time.process_time()
    with no_threads():
        if isinstance(job, Search):
            world = World(job.setting)
            found = explore(world, job.faults)
        else:
            with job.planted():
                world = World(job.setting)
                found = explore(world, 1)
    return Result(found, time.process_time() - began, world.longest / 2)


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
