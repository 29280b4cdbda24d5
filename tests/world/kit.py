"""Every kind of fault at every I/O step, of every bot and at both homes of a match log.

python -m world.kit [--pairs N] [--seed S]

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
from support.blef_bot import BlefPlace
from support.games import HOSTED
from support.hosted_bot import places

from world.arena import BenchArena
from world.bench import Bench, played
from world.clock import StillClock
from world.faults import Kind, kinds_for
from world.lies import Lie, harm_by, pairs_of_lies, single_lies
from world.network import Place
from world.stores import Home, at_home, in_the_cloud

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- written by make faults-all -->\n", "<!-- end -->"

PLACES: Mapping[str, Callable[[Path, StillClock], Place]] = {
    BenchArena.game: BenchArena,
    BlefPlace.game: BlefPlace,
    **places(HOSTED.values()),
}
HOMES: Mapping[str, Callable[[], AbstractContextManager[Home]]] = {
    "SQLite": lambda: nullcontext(at_home),
    "DynamoDB and SQS": in_the_cloud,
}

NONE, AND = "-", "; "

Faults = Mapping[int, Kind | float]
Counts = Counter[tuple[Kind, str]]  # how often a kind of fault hit a step of that name
NEXT = 12  # the second fault of a pair befalls one of so many steps after the first


def run(game: str, folder: Path, faults: Faults, **settings: Any) -> Bench:  # noqa: ANN401
    """A match of a game's bot under faults, after it has ended or was given up."""
    return played(Bench(PLACES[game], folder, faults, **settings))


def singles(steps: list[str]) -> Iterator[tuple[int, Kind]]:
    """Every kind of fault at every step that can suffer it."""
    return ((at, kind) for at, step in enumerate(steps) for kind in kinds_for(step))


def pairs(steps: list[str], number: int, seed: int) -> Iterator[Faults]:
    """So many pairs of faults by chance, the second soon after the first."""
    rng = Random(seed)
    for _ in range(number):
        first = rng.randrange(len(steps) - 1)
        yield {first: rng.random(), first + rng.randint(1, NEXT): rng.random()}


def counted(steps: list[str]) -> Counts:
    """How often each kind hits each step, all singles together."""
    return Counter((kind, steps[at]) for at, kind in singles(steps))


def table(counts: Mapping[str, Counts]) -> str:
    """The kinds of faults that hit the same steps, a column a home: at which, and how often."""
    rows = defaultdict[tuple[str, ...], list[Kind]](list)
    for kind in Kind:
        rows[tuple(_cell(kind, each) for each in counts.values())].append(kind)
    lines = [f"| fault | {' | '.join(counts)} |", "|---" * (len(counts) + 1) + "|"]
    lines += [f"| {AND.join(kinds)} | {' | '.join(cells)} |" for cells, kinds in rows.items()]
    return "\n".join(lines) + "\n"


def _cell(kind: Kind, counts: Counts) -> str:
    found = sorted((step, number) for (one, step), number in counts.items() if one is kind)
    return ", ".join(f"{step} {number}" for step, number in found) or NONE


def write(summary: str, counts: Mapping[str, Counts]) -> None:
    """Put summary and table between the marks of the page."""
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{BEGIN}{summary}\n\n{table(counts)}{END}{after}")


def shown() -> dict[str, set[tuple[str, str]]]:
    """The faults and steps of the table as the page has it, of each home."""
    text = PAGE.read_text().split(BEGIN)[1].split(END, 1)[0]
    head, _, *rows = [line.strip("| ").split(" | ") for line in text.splitlines() if "|" in line]
    found: dict[str, set[tuple[str, str]]] = {home: set() for home in head[1:]}
    for kinds, *cells in rows:
        for home, cell in zip(head[1:], cells, strict=True):
            steps = [step.rpartition(" ")[0] for step in cell.split(", ")] if cell != NONE else []
            found[home] |= set(product(kinds.split(AND), steps))
    return found


T = TypeVar("T")
BATCH = 20  # matches that a process plays before it tells of them
_open = ExitStack()


@cache
def _place(game: str, home: str) -> Callable[[Faults], Bench]:
    """What plays there in this process; home and folder last as long as it does."""
    logging.disable()
    folder = Path(_open.enter_context(tempfile.TemporaryDirectory()))
    return partial(run, game, folder, home=_open.enter_context(HOMES[home]()))


def steps(game: str, home: str) -> list[str]:
    return _place(game, home)({}).plan.steps


def harmed(game: str, home: str, batch: Sequence[Faults]) -> list[str]:
    """A sentence for each match that its faults harmed."""
    found = []
    for bench in map(_place(game, home), batch):
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


def main(*, number: Annotated[int, Parameter("--pairs")] = 1000, seed: int = 1) -> int:
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
            counts[home] += counted(clean)
            where, judge = f"{game}, {home}", partial(harmed, game, home)
            play(f"{where}: single faults", [{at: kind} for at, kind in singles(clean)], judge)
            play(f"{where}: pairs", [*pairs(clean, number, seed)], judge)
        play("extreme values", [(lie,) for lie in single_lies()], harmed_by_lies)
        play("pairs of values", pairs_of_lies(number, seed), harmed_by_lies)
    said = f"{total['single faults']:,} single faults and {total['pairs']:,} pairs"
    say(f"{said} in {time.monotonic() - began:.0f} s, {total['harmed']} matches harmed")
    if not total["harmed"]:
        lied = f"{total['extreme values']} extreme values and {total['pairs of values']} pairs"
        said = f"{said} (seed {seed}), {lied} of them: no match harmed."
        write(said, counts)
    return 1 if total["harmed"] else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
