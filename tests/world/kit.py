"""Every kind of fault at every I/O step, of every bot and at both homes of a match log."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random

from support.blef_bot import BlefPlace
from support.games import HOSTED
from support.hosted_bot import places

from world.arena import CountingArena
from world.bench import Bench, played
from world.clock import StillClock
from world.faults import Kind, kinds_for
from world.network import Place
from world.stores import Home, at_home, in_the_cloud

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- written by make faults-all -->\n", "<!-- end -->"

PLACES: Mapping[str, Callable[[Path, StillClock], Place]] = {
    CountingArena.game: CountingArena,
    BlefPlace.game: BlefPlace,
    **places(HOSTED.values()),
}
HOMES: Mapping[str, Callable[[], AbstractContextManager[Home]]] = {
    "SQLite": lambda: nullcontext(at_home),
    "DynamoDB and SQS": in_the_cloud,
}

NONE, AND = "-", "; "

Faults = Mapping[int, Kind | float]
Counts = Counter[tuple[Kind, str]]
"""How often a kind of fault hit a step of that name."""

NEXT = 12
"""The second fault of a pair befalls one of so many steps after the first."""


@dataclass(frozen=True)
class Kit:
    """Matches of one bot at one home, each under its own faults."""

    game: str
    home: Home
    folder: Path

    def run(self, faults: Faults) -> Bench:
        return played(Bench(PLACES[self.game], self.folder, faults, self.home))

    def steps(self) -> list[str]:
        return self.run({}).plan.steps


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
