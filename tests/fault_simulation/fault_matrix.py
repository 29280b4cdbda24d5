"""Every kind of fault at every I/O step, of every bot and at both homes of a match log.

python -m fault_simulation.fault_matrix [--pairs N] [--seed S]

Plays them, and pairs of faults, and extreme values in what the arena says. When nothing was
harmed, the table in docs/reliability.md is written anew; else every harmed match is named by its
faults, and the exit code is 1.
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

NONE, AND = "-", "; "

Faults = Mapping[int, FaultKind | float]
Counts = Counter[tuple[FaultKind, str]]  # how often a kind of fault hit a step of that name
MAX_PAIR_DISTANCE = 12  # the second fault of a pair befalls one of so many steps after the first


def run_match(game: str, folder: Path, faults: Faults, **settings: Any) -> MatchHarness:  # noqa: ANN401
    """A match of a game's bot under faults, after it has ended or was given up."""
    return run_harness(MatchHarness(SERVERS[game], folder, faults, **settings))


def single_faults(steps: list[str]) -> Iterator[tuple[int, FaultKind]]:
    """Every kind of fault at every step that can suffer it."""
    return ((at, kind) for at, step in enumerate(steps) for kind in faults_for(step))


def fault_pairs(steps: list[str], count: int, seed: int) -> Iterator[Faults]:
    """So many pairs of faults by chance, the second soon after the first."""
    rng = Random(seed)
    for _ in range(count):
        first = rng.randrange(len(steps) - 1)
        yield {first: rng.random(), first + rng.randint(1, MAX_PAIR_DISTANCE): rng.random()}


def count_faults(steps: list[str]) -> Counts:
    """Count how often each kind of fault hits each step, over all single faults."""
    return Counter((kind, steps[at]) for at, kind in single_faults(steps))


def fault_table(counts: Mapping[str, Counts]) -> str:
    """The kinds of faults that hit the same steps, a column a home: at which, and how often."""
    rows = defaultdict[tuple[str, ...], list[FaultKind]](list)
    for kind in FaultKind:
        rows[tuple(_cell(kind, each) for each in counts.values())].append(kind)
    lines = [f"| fault | {' | '.join(counts)} |", "|---" * (len(counts) + 1) + "|"]
    lines += [f"| {AND.join(kinds)} | {' | '.join(cells)} |" for cells, kinds in rows.items()]
    return "\n".join(lines) + "\n"


def _cell(kind: FaultKind, counts: Counts) -> str:
    hits = sorted(
        (step, number) for (counted_kind, step), number in counts.items() if counted_kind is kind
    )
    return ", ".join(f"{step} {number}" for step, number in hits) or NONE


def write_page(summary: str, counts: Mapping[str, Counts]) -> None:
    """Put summary and table between the marks of the page."""
    head, rest = RELIABILITY_PAGE.read_text().split(BEGIN)
    tail = rest.split(END, 1)[1]
    RELIABILITY_PAGE.write_text(f"{head}{BEGIN}{summary}\n\n{fault_table(counts)}{END}{tail}")


def recorded_totals() -> dict[str, set[tuple[str, str]]]:
    """The faults and steps of the table as the page has it, of each home."""
    text = RELIABILITY_PAGE.read_text().split(BEGIN)[1].split(END, 1)[0]
    head, _, *rows = [line.strip("| ").split(" | ") for line in text.splitlines() if "|" in line]
    totals: dict[str, set[tuple[str, str]]] = {home: set() for home in head[1:]}
    for kinds, *cells in rows:
        for home, cell in zip(head[1:], cells, strict=True):
            steps = [step.rpartition(" ")[0] for step in cell.split(", ")] if cell != NONE else []
            totals[home] |= set(product(kinds.split(AND), steps))
    return totals


T = TypeVar("T")
BATCH = 20  # matches that a process plays before it tells of them
_open = ExitStack()


@cache
def _place(game: str, home: str) -> Callable[[Faults], MatchHarness]:
    """Return the function that plays a game's match with its faults in this process.

    Its store and folder last as long as the process.
    """
    logging.disable()
    folder = Path(_open.enter_context(tempfile.TemporaryDirectory()))
    return partial(run_match, game, folder, store_factory=_open.enter_context(STORES[home]()))


def step_names(game: str, store: str) -> list[str]:
    return _place(game, store)({}).plan.steps


def broken_matches(game: str, store: str, batch: Sequence[Faults]) -> list[str]:
    """A sentence for each match that its faults harmed."""
    errors = []
    for bench in map(_place(game, store), batch):
        hits = (f"{kind} at {number} {step}" for _, number, step, kind in bench.plan.injected)
        errors += (
            [f"  {', '.join(hits)}: {'; '.join(bench.observed_violations)}"]
            if bench.observed_violations
            else []
        )
    return errors


def broken_by_extreme_values(batch: Sequence[tuple[ExtremeValue, ...]]) -> list[str]:
    """A sentence for each match that extreme values harmed."""
    logging.disable()
    errors = []
    for lies in batch:
        with tempfile.TemporaryDirectory() as folder:
            harm = harm_of(lies, Path(folder))
        errors += [f"  {' and '.join(map(str, lies))}: {'; '.join(harm)}"] if harm else []
    return errors


def main(*, pair_count: Annotated[int, Parameter("--pairs")] = 1000, seed: int = 1) -> int:
    """Play, with so many pairs for each bot at each home, and write the table; 1 if harmed."""
    counts: dict[str, Counts] = {home: Counter() for home in STORES}
    began, total = time.monotonic(), Counter[str]()
    say = partial(print, flush=True)

    def play(title: str, runs: Sequence[T], judge: Callable[[Sequence[T]], list[str]]) -> None:
        batches = [runs[at : at + BATCH] for at in range(0, len(runs), BATCH)]
        bad = [error for batch_errors in pool.map(judge, batches) for error in batch_errors]
        total[title.rpartition(": ")[2]] += len(runs)
        total["harmed"] += len(bad)
        say(f"{title}: {len(runs)}, {len(bad)} harmed", *bad, sep="\n")

    with ProcessPoolExecutor() as pool:
        for home, game in product(STORES, SERVERS):
            clean = pool.submit(step_names, game, home).result()
            counts[home] += count_faults(clean)
            label, judge = f"{game}, {home}", partial(broken_matches, game, home)
            play(
                f"{label}: single faults", [{at: kind} for at, kind in single_faults(clean)], judge
            )
            play(f"{label}: pairs", [*fault_pairs(clean, pair_count, seed)], judge)
        play("extreme values", [(lie,) for lie in single_values()], broken_by_extreme_values)
        play("pairs of values", value_pairs(pair_count, seed), broken_by_extreme_values)
    summary = f"{total['single faults']:,} single faults and {total['pairs']:,} pairs"
    say(f"{summary} in {time.monotonic() - began:.0f} s, {total['harmed']} matches harmed")
    if not total["harmed"]:
        lied = f"{total['extreme values']} extreme values and {total['pairs of values']} pairs"
        summary = f"{summary} (seed {seed}), {lied} of them: no match harmed."
        write_page(summary, counts)
    return 1 if total["harmed"] else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
