"""The file of the trained tables: a head in JSON, then for each table its rows.

The rows after each last bet are compressed by themselves. First comes how many there are, then by
how much each one's number is above the one before, four bytes each, then how many choices each has;
then the rows. A row is choices, each followed by its chance in 255ths.
The file is mapped into memory, so that only what is looked up is read.
"""

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise
from pathlib import Path
from zlib import compress

from cardsharp.blef.strategies.mapped import NUMBER, Mapped, read_mapped, unpack, write_mapped
from cardsharp.blef.strategies.sight import Shape

FORMAT = 3
WHOLE = 255  # the unit of chances
FILE = Path(str(files("cardsharp.blef.strategies") / "tables" / "trained.bin"))

Cards = tuple[int, int]  # the cards of who begins and of the other


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one role: their numbers, ascending, and each row."""

    numbers: Sequence[int]
    rows: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class RoleTable:
    """The rows of one role, in parts by the last bet."""

    apart: int  # how far the numbers of one last bet are from those of the next
    begins: memoryview  # where each part begins in the body, and the end
    body: memoryview

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self.begins) - 1

    def part(self, last: int) -> Rows:
        """The rows after a last bet; their numbers begin there with 0."""
        raw = memoryview(unpack(self.body, self.begins[last], self.begins[last + 1]))
        number = int.from_bytes(raw[:NUMBER], "little")
        sizes = NUMBER * (number + 1)
        ends = [2 * end for end in accumulate(raw[sizes : sizes + number], initial=0)]
        rows = bytes(raw[sizes + number :])
        return Rows(
            list(accumulate(raw[NUMBER:sizes].cast("I"))),
            [rows[at:end] for at, end in pairwise(ends)],
        )

    def find(self, number: int) -> dict[int, int]:
        """By choice its chance in 255ths; nothing where there is no such row."""
        last, number = divmod(number, self.apart)
        found = self.part(last) if last < self.parts else Rows((), ())
        at = bisect_left(found.numbers, number)
        if at == len(found.numbers) or found.numbers[at] != number:
            return {}
        row = found.rows[at]
        return dict(zip(row[::2], row[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class TrainedTables:
    """All trained tables, by the cards of a round: of who begins and of the other."""

    rounds: Mapping[Cards, tuple[RoleTable, RoleTable]]
    file: Mapped


@cache
def trained() -> TrainedTables:
    """The shipped tables, opened when they are first needed."""
    return read(FILE)


def read(file: Path) -> TrainedTables:
    """The tables of a file; raises `ConfigError` if it cannot be read, or has another format."""
    entries, mapped = read_mapped(file, FORMAT)
    rounds: dict[Cards, tuple[RoleTable, RoleTable]] = {}
    for entry in entries:
        first, second = (
            RoleTable(apart, mapped.body[at : at + NUMBER * (parts + 1)].cast("I"), mapped.body)
            for at, parts, apart in entry["tables"]
        )
        rounds[entry["cards"][0], entry["cards"][1]] = (first, second)
    return TrainedTables(rounds, mapped)


def write(file: Path, made_by: str, rounds: Mapping[Cards, Sequence[Rows]]) -> None:
    """Write tables: for each round those of who begins and of the other."""
    body, entries = bytearray(), []
    for cards, tables in sorted(rounds.items()):
        shape, written = Shape(cards), []
        for role, table in enumerate(tables):
            parts = _parts(table, shape.apart(role), len(shape.bets) + 1)
            written.append((len(body), len(parts), shape.apart(role)))
            starts = accumulate(map(len, parts), initial=len(body) + NUMBER * (len(parts) + 1))
            body += array("I", starts).tobytes() + b"".join(parts)
            body += bytes(-len(body) % NUMBER)
        entries.append({"cards": cards, "tables": written})
    write_mapped(file, FORMAT, made_by, entries, bytes(body))


def _parts(table: Rows, apart: int, number: int) -> list[bytes]:
    ends = [bisect_left(table.numbers, apart * last) for last in range(number + 1)]
    parts = []
    for last, (at, end) in enumerate(pairwise(ends)):
        numbers, rows = table.numbers[at:end], table.rows[at:end]
        gaps = (one - before for before, one in pairwise((apart * last, *numbers)))
        sizes = bytes(len(row) // 2 for row in rows)
        parts.append(compress(array("I", (end - at, *gaps)).tobytes() + sizes + b"".join(rows), 9))
    return parts
