"""The file of the trained tables: a head in JSON, then for each table its rows' numbers and rows.

The rows' numbers are ascending, four bytes each. A row is up to six choices, each followed by its
chance in 255ths. The file is mapped into memory, so that only what is looked up is read.
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

FORMAT = 1
WHOLE = 255
"""The unit of chances."""

ROW = 12
"""Bytes of a row."""

FILE = Path(str(files("cardsharp.blef.strategies") / "tables" / "trained.bin"))

_NUMBER = 4

Cards = tuple[int, int]
"""The cards of who begins and of the other."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one role in a round."""

    numbers: memoryview
    rows: memoryview

    def find(self, number: int) -> dict[int, int]:
        """By choice its chance in 255ths; nothing where there is no such row."""
        at = bisect_left(self.numbers, number)
        if at == len(self.numbers) or self.numbers[at] != number:
            return {}
        return self.row(at)

    def row(self, at: int) -> dict[int, int]:
        """The row in that place."""
        row = self.rows[at * ROW : (at + 1) * ROW]
        return {choice: parts for choice, parts in zip(row[::2], row[1::2], strict=True) if parts}


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


def _table(body: memoryview, at: int, number: int) -> Table:
    start = at + _NUMBER * number
    return Table(body[at:start].cast("I"), body[start : start + number * ROW])


def write(file: Path, made_by: str, rounds: Mapping[Cards, Sequence[Mapping[int, bytes]]]) -> None:
    """Write tables: for each round those of who begins and of the other, rows by number."""
    body, entries = bytearray(), []
    for cards, tables in sorted(rounds.items()):
        places = []
        for rows in tables:
            places.append((len(body), len(rows)))
            for number in sorted(rows):
                body += number.to_bytes(_NUMBER, "little")
            body += b"".join(rows[number] for number in sorted(rows))
        entries.append({"cards": cards, "tables": places})
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
