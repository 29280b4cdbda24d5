"""File of the trained tables: a header in JSON, then the rows of each table.

The rows after each last bet are compressed as one part. A part begins with the number of its rows.
Then follow, four bytes each, the differences of their row numbers, then the number of choices of
each row, one byte each, then the rows. A row is a list of choices, each followed by its probability
in 255ths.

The file is mapped into memory, so that only the rows that are looked up are read.
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

from cardsharp.games.blef.strategies.mapped_file import (
    INTEGER_BYTES,
    MappedTableFile,
    decompress_section,
    map_round_tables,
    write_mapped_file,
)
from cardsharp.games.blef.strategies.table_lookup import TableShape

POLICY_TABLES_FORMAT = 3
POLICY_PROBABILITY_SCALE = 255  # the file stores probabilities in 255ths
DEFAULT_FILE = Path(str(files("cardsharp.games.blef.strategies") / "tables" / "trained.bin"))

CardCounts = tuple[int, int]  # cards of the player who begins, and of the other


@dataclass(frozen=True, slots=True)
class PolicyRows:
    """Rows of one role: their numbers in ascending order, and each row."""

    numbers: Sequence[int]
    rows: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class RolePolicy:
    """Rows of one role, in parts by the last bet."""

    last_bet_stride: int  # distance between the row numbers of consecutive last bets
    offsets: memoryview  # start of each part in the body, and the end of the last
    body: memoryview

    @property
    def part_count(self) -> int:
        """Number of parts of the policy, one for each last bet."""
        return len(self.offsets) - 1

    def rows_after_bet(self, last_bet_index: int) -> PolicyRows:
        """Return the rows after a last bet; their numbers count from 0."""
        raw = memoryview(
            decompress_section(
                self.body, self.offsets[last_bet_index], self.offsets[last_bet_index + 1]
            )
        )
        row_count = int.from_bytes(raw[:INTEGER_BYTES], "little")
        sizes = INTEGER_BYTES * (row_count + 1)
        ends = [2 * end for end in accumulate(raw[sizes : sizes + row_count], initial=0)]
        rows = bytes(raw[sizes + row_count :])
        return PolicyRows(
            list(accumulate(raw[INTEGER_BYTES:sizes].cast("I"))),
            [rows[at:end] for at, end in pairwise(ends)],
        )

    def find_row_choices(self, row_number: int) -> dict[int, int]:
        """Return the choices of a row with their chances in 255ths; empty without such a row."""
        last_bet_index, row_number = divmod(row_number, self.last_bet_stride)
        policy_rows = (
            self.rows_after_bet(last_bet_index)
            if last_bet_index < self.part_count
            else PolicyRows((), ())
        )
        at = bisect_left(policy_rows.numbers, row_number)
        if at == len(policy_rows.numbers) or policy_rows.numbers[at] != row_number:
            return {}
        row = policy_rows.rows[at]
        return dict(zip(row[::2], row[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class PolicyTables:
    """Trained tables by the cards of a round: of the player who begins, and of the other."""

    rounds: Mapping[CardCounts, tuple[RolePolicy, RolePolicy]]
    mapped_file: MappedTableFile


@cache
def load_policy_tables() -> PolicyTables:
    """Return the packaged tables, which are opened on first use."""
    return read_tables(DEFAULT_FILE)


def read_tables(file: Path) -> PolicyTables:
    """Return the tables of a file.

    Raises `ConfigError` if it cannot be read or has another format.
    """
    entries, mapped = map_round_tables(file, POLICY_TABLES_FORMAT)
    rounds: dict[CardCounts, tuple[RolePolicy, RolePolicy]] = {}
    for entry in entries:
        first_policy, second_policy = (
            RolePolicy(
                apart,
                mapped.body[at : at + INTEGER_BYTES * (part_count + 1)].cast("I"),
                mapped.body,
            )
            for at, part_count, apart in entry["tables"]
        )
        rounds[entry["cards"][0], entry["cards"][1]] = (first_policy, second_policy)
    return PolicyTables(rounds, mapped)


def write_tables(
    file: Path, producer: str, rounds: Mapping[CardCounts, Sequence[PolicyRows]]
) -> None:
    """Write tables: for each round those of the starting player and of the other."""
    body, entries = bytearray(), []
    for cards, tables in sorted(rounds.items()):
        shape, written = TableShape(cards), []
        for role, table in enumerate(tables):
            parts = _compress_blocks(table, shape.last_bet_stride(role), len(shape.bets) + 1)
            written.append((len(body), len(parts), shape.last_bet_stride(role)))
            starts = accumulate(
                map(len, parts), initial=len(body) + INTEGER_BYTES * (len(parts) + 1)
            )
            body += array("I", starts).tobytes() + b"".join(parts)
            body += bytes(-len(body) % INTEGER_BYTES)
        entries.append({"cards": cards, "tables": written})
    write_mapped_file(file, POLICY_TABLES_FORMAT, producer, entries, bytes(body))


def _compress_blocks(table: PolicyRows, stride: int, block_count: int) -> list[bytes]:
    ends = [
        bisect_left(table.numbers, stride * last_bet_index)
        for last_bet_index in range(block_count + 1)
    ]
    parts = []
    for last_bet_index, (at, end) in enumerate(pairwise(ends)):
        row_numbers, rows = table.numbers[at:end], table.rows[at:end]
        gaps = (
            current - previous
            for previous, current in pairwise((stride * last_bet_index, *row_numbers))
        )
        sizes = bytes(len(row) // 2 for row in rows)
        parts.append(compress(array("I", (end - at, *gaps)).tobytes() + sizes + b"".join(rows), 9))
    return parts
