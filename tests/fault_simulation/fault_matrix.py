"""Fault matrix: every kind of fault at every I/O step, of every bot and with each store.

python -m fault_simulation.fault_matrix [--pairs N] [--seed S]

This command plays matches with single faults, with pairs of faults, and with extreme
values in the arena's responses. If no match was harmed, it rewrites the table in
docs/reliability.md. Otherwise it lists the faults of every harmed match, and the exit
code is 1.
"""

import logging
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache, partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Annotated, Any, TypeVar

import cyclopts
from cyclopts import Parameter
from support.games import HOSTED
from support.simulated_blef_server import SimulatedBlefServer
from support.simulated_hosted_server import hosted_servers

from fault_simulation.extreme_values import ExtremeValue, harm_of, single_values, value_pairs
from fault_simulation.faults import FaultKind, faults_for
from fault_simulation.match_harness import MatchHarness, run_harness
from fault_simulation.simulated_arena import SimulatedArena
from fault_simulation.stores import StoreFactory, aws_stores, local_stores
from fault_simulation.transport import SimulatedServer
from fault_simulation.virtual_clock import VirtualClock

RELIABILITY_PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- written by make evidence-fault-matrix -->\n", "<!-- end -->"

SERVERS: Mapping[str, Callable[[Path, VirtualClock], SimulatedServer]] = {
    SimulatedArena.game: SimulatedArena,
    SimulatedBlefServer.game: SimulatedBlefServer,
    **hosted_servers(HOSTED.values()),
}
STORES: Mapping[str, Callable[[], AbstractContextManager[StoreFactory]]] = {
    "SQLite": lambda: nullcontext(local_stores),
    "DynamoDB and SQS": aws_stores,
}

EMPTY_CELL, SEPARATOR = "-", "; "

Faults = Mapping[int, FaultKind | float]
Counts = Counter[tuple[FaultKind, str]]  # how often a kind of fault hit a step of that name
MAX_PAIR_DISTANCE = 12  # the second fault of a pair befalls one of so many steps after the first


def run_match(game: str, folder: Path, faults: Faults, **settings: Any) -> MatchHarness:  # noqa: ANN401
    """Return the harness of a match under faults, after the match has finished or was given up."""
    return run_harness(MatchHarness(SERVERS[game], folder, faults, **settings))


def single_faults(steps: list[str]) -> Iterator[tuple[int, FaultKind]]:
    """Yield each kind of fault at each step that it can hit."""
    return ((index, kind) for index, step in enumerate(steps) for kind in faults_for(step))


def fault_pairs(steps: list[str], count: int, seed: int) -> Iterator[Faults]:
    """Yield that many random pairs of faults, the second soon after the first."""
    rng = Random(seed)
    for _ in range(count):
        first = rng.randrange(len(steps) - 1)
        yield {first: rng.random(), first + rng.randint(1, MAX_PAIR_DISTANCE): rng.random()}


def count_faults(steps: list[str]) -> Counts:
    """Count how often each kind of fault hits each step, over all single faults."""
    return Counter((kind, steps[index]) for index, kind in single_faults(steps))


def fault_table(counts: Mapping[str, Counts]) -> str:
    """Return a table with the steps that each kind of fault hits, and how often, by store.

    Kinds with the same steps share a row; each store has a column.
    """
    rows = defaultdict[tuple[str, ...], list[FaultKind]](list)
    for kind in FaultKind:
        rows[tuple(_cell(kind, store_counts) for store_counts in counts.values())].append(kind)
    lines = [f"| fault | {' | '.join(counts)} |", "|---" * (len(counts) + 1) + "|"]
    lines += [f"| {SEPARATOR.join(kinds)} | {' | '.join(cells)} |" for cells, kinds in rows.items()]
    return "\n".join(lines) + "\n"


def _cell(kind: FaultKind, counts: Counts) -> str:
    hits = sorted(
        (step, number) for (counted_kind, step), number in counts.items() if counted_kind is kind
    )
    return ", ".join(f"{step} {number}" for step, number in hits) or EMPTY_CELL


def write_page(summary: str, counts: Mapping[str, Counts]) -> None:
    """Write summary and table between the page's markers."""
    head, rest = RELIABILITY_PAGE.read_text().split(BEGIN)
    tail = rest.split(END, 1)[1]
    RELIABILITY_PAGE.write_text(f"{head}{BEGIN}{summary}\n\n{fault_table(counts)}{END}{tail}")


def recorded_totals() -> dict[str, set[tuple[str, str]]]:
    """Return the faults and steps of the page's table, by store."""
    text = RELIABILITY_PAGE.read_text().split(BEGIN)[1].split(END, 1)[0]
    head, _, *rows = [line.strip("| ").split(" | ") for line in text.splitlines() if "|" in line]
    totals: dict[str, set[tuple[str, str]]] = {store: set() for store in head[1:]}
    for kinds, *cells in rows:
        for store, cell in zip(head[1:], cells, strict=True):
            steps = (
                [step.rpartition(" ")[0] for step in cell.split(", ")] if cell != EMPTY_CELL else []
            )
            totals[store] |= set(product(kinds.split(SEPARATOR), steps))
    return totals


T = TypeVar("T")
BATCH = 20  # matches that a process plays before it tells of them
_open = ExitStack()


@cache
def _match_player(game: str, store: str) -> Callable[[Faults], MatchHarness]:
    """Return the function that plays a match of a game with given faults in this process.

    Its store and folder last as long as the process.
    """
    logging.disable()
    folder = Path(_open.enter_context(tempfile.TemporaryDirectory()))
    return partial(run_match, game, folder, store_factory=_open.enter_context(STORES[store]()))


def step_names(game: str, store: str) -> list[str]:
    return _match_player(game, store)({}).plan.steps


def broken_matches(game: str, store: str, batch: Sequence[Faults]) -> list[str]:
    """Return a sentence for each match that its faults harmed."""
    errors = []
    for harness in map(_match_player(game, store), batch):
        hits = (f"{kind} at {number} {step}" for _, number, step, kind in harness.plan.injected)
        errors += (
            [f"  {', '.join(hits)}: {'; '.join(harness.observed_violations)}"]
            if harness.observed_violations
            else []
        )
    return errors


def broken_by_extreme_values(batch: Sequence[tuple[ExtremeValue, ...]]) -> list[str]:
    """Return a sentence for each match that extreme values harmed."""
    logging.disable()
    errors = []
    for values in batch:
        with tempfile.TemporaryDirectory() as folder:
            harm = harm_of(values, Path(folder))
        errors += [f"  {' and '.join(map(str, values))}: {'; '.join(harm)}"] if harm else []
    return errors


def main(*, pair_count: Annotated[int, Parameter("--pairs")] = 1000, seed: int = 1) -> int:
    """Play, with so many pairs for each bot at each home, and write the table; 1 if harmed."""
    counts: dict[str, Counts] = {store: Counter() for store in STORES}
    began, total = time.monotonic(), Counter[str]()
    print_line = partial(print, flush=True)

    def play(title: str, runs: Sequence[T], check: Callable[[Sequence[T]], list[str]]) -> None:
        batches = [runs[start : start + BATCH] for start in range(0, len(runs), BATCH)]
        errors = [error for batch_errors in pool.map(check, batches) for error in batch_errors]
        total[title.rpartition(": ")[2]] += len(runs)
        total["harmed"] += len(errors)
        print_line(f"{title}: {len(runs)}, {len(errors)} harmed", *errors, sep="\n")

    with ProcessPoolExecutor() as pool:
        for store, game in product(STORES, SERVERS):
            steps = pool.submit(step_names, game, store).result()
            counts[store] += count_faults(steps)
            label, check = f"{game}, {store}", partial(broken_matches, game, store)
            play(
                f"{label}: single faults", [{at: kind} for at, kind in single_faults(steps)], check
            )
            play(f"{label}: pairs", [*fault_pairs(steps, pair_count, seed)], check)
        play("extreme values", [(value,) for value in single_values()], broken_by_extreme_values)
        play("pairs of values", value_pairs(pair_count, seed), broken_by_extreme_values)
    summary = f"{total['single faults']:,} single faults and {total['pairs']:,} pairs"
    print_line(f"{summary} in {time.monotonic() - began:.0f} s, {total['harmed']} matches harmed")
    if not total["harmed"]:
        value_summary = (
            f"{total['extreme values']} extreme values and {total['pairs of values']} pairs"
        )
        summary = f"{summary} (seed {seed}), {value_summary} of them: no match harmed."
        write_page(summary, counts)
    return 1 if total["harmed"] else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
