"""The file of the trained tables: a head in JSON, then for each table its rows.

First come the rows' numbers, ascending, then where each row begins, four bytes each; then the rows,
each of which is there once. A row is choices, each followed by its chance in 255ths, and ends where
these add up. The file is mapped into memory, so that only what is looked up is read.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from cardsharp.blef.strategies.mapped import NUMBER, Mapped, read_mapped, write_mapped

FORMAT = 2
WHOLE = 255
"""The unit of chances."""

FILE = Path(str(files("cardsharp.blef.strategies") / "tables" / "trained.bin"))

Cards = tuple[int, int]
"""The cards of who begins and of the other."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one role: their numbers, where each begins, and all that differ."""

    numbers: memoryview
    places: memoryview
    rows: memoryview

    def find(self, number: int) -> dict[int, int]:
        """By choice its chance in 255ths; nothing where there is no such row."""
        at = bisect_left(self.numbers, number)
        if at == len(self.numbers) or self.numbers[at] != number:
            return {}
        row: dict[int, int] = {}
        place, left = self.places[at], WHOLE
        while left > 0:
            choice, parts = self.rows[place : place + 2]
            row[choice] = parts
            place, left = place + 2, left - parts
        return row


@dataclass(frozen=True, slots=True)
class Tables:
    """All trained tables, by the cards of a round: of who begins and of the other."""

    rounds: Mapping[Cards, tuple[Table, Table]]
    file: Mapped


@cache
def trained() -> Tables:
    """The shipped tables, opened when they are first needed."""
    return read(FILE)


def read(file: Path) -> Tables:
    """The tables of a file.

    Raises:
        ValueError: it has another format.
    """
    entries, mapped = read_mapped(file, FORMAT)
    rounds: dict[Cards, tuple[Table, Table]] = {}
    for entry in entries:
        first, second = (_table(mapped.body, *place) for place in entry["tables"])
        rounds[entry["cards"][0], entry["cards"][1]] = (first, second)
    return Tables(rounds, mapped)


def _table(body: memoryview, at: int, number: int, size: int) -> Table:
    places = at + NUMBER * number
    rows = places + NUMBER * number
    return Table(body[at:places].cast("I"), body[places:rows].cast("I"), body[rows : rows + size])


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one role to be written, as in the file."""

    numbers: bytes
    places: bytes
    rows: bytes


def write(file: Path, made_by: str, rounds: Mapping[Cards, Sequence[Rows]]) -> None:
    """Write tables: for each round those of who begins and of the other."""
    body, entries = bytearray(), []
    for cards, tables in sorted(rounds.items()):
        written = []
        for table in tables:
            written.append((len(body), len(table.numbers) // NUMBER, len(table.rows)))
            body += table.numbers + table.places + table.rows
            body += bytes(-len(body) % NUMBER)
        entries.append({"cards": cards, "tables": written})
    write_mapped(file, FORMAT, made_by, entries, bytes(body))
