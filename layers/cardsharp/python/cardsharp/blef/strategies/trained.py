"""The file of the trained tables: a head in JSON, then for each table its rows.

First come the rows' numbers, ascending, then where each row begins, four bytes each; then the rows,
each of which is there once. A row is choices, each followed by its chance in 255ths, and ends where
these add up. The file is mapped into memory, so that only what is looked up is read.
"""

import json
import mmap
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from zlib import crc32

FORMAT = 2
WHOLE = 255
"""The unit of chances."""

FILE = Path(str(files("cardsharp.blef.strategies") / "tables" / "trained.bin"))

_NUMBER = 4

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

    made_by: str
    rounds: Mapping[Cards, tuple[Table, Table]]
    checksum: int
    body: memoryview

    def is_whole(self) -> bool:
        """Whether the rows are those that were written."""
        return crc32(self.body) == self.checksum


@cache
def trained() -> Tables:
    """The shipped tables, opened when they are first needed."""
    return read(FILE)


def read(file: Path) -> Tables:
    """The tables of a file.

    Raises:
        ValueError: it has another format.
    """
    with file.open("rb") as opened:
        mapped = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    end = bytes(mapped[:65536]).index(b"\n")
    head = json.loads(bytes(mapped[:end]))
    if head["format"] != FORMAT:
        raise ValueError(f"{file} has format {head['format']}, not {FORMAT}; train it again.")
    body = mapped[end + 1 :]
    rounds: dict[Cards, tuple[Table, Table]] = {}
    for entry in head["rounds"]:
        first, second = (_table(body, *place) for place in entry["tables"])
        rounds[entry["cards"][0], entry["cards"][1]] = (first, second)
    return Tables(head["made_by"], rounds, head["crc32"], body)


def _table(body: memoryview, at: int, number: int, size: int) -> Table:
    places = at + _NUMBER * number
    rows = places + _NUMBER * number
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
            written.append((len(body), len(table.numbers) // _NUMBER, len(table.rows)))
            body += table.numbers + table.places + table.rows
            body += bytes(-len(body) % _NUMBER)
        entries.append({"cards": cards, "tables": written})
    head = {
        "format": FORMAT,
        "made_by": made_by,
        "crc32": crc32(body),
        "rounds": entries,
    }
    line = json.dumps(head).encode()
    # Blanks, so that numbers of four bytes lie where such numbers may.
    line += b" " * (-(len(line) + 1) % _NUMBER) + b"\n"
    file.write_bytes(line + bytes(body))
