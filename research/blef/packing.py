"""Making the shipped file of tables from what was learned, and opening it for compiled play."""

import ctypes
from array import array
from pathlib import Path

from cardsharp.blef.strategies.sight import Shape
from cardsharp.blef.strategies.trained import RoleTable, Rows, read
from cardsharp.errors import ConfigError
from research.blef.compiled import Cards, CTable, Learner, library, setup_of, table_of

SELDOM = 1e-5
"""What a hand comes to less often is not kept."""

ROW, _NUMBER = 24, 4
"""Bytes of a row as it is packed: twelve choices; and of its number."""


def packed(learner: Learner) -> tuple[Rows, Rows]:
    """The rows of the average play, of who begins and of the other.

    Left out is where a hand only checks, and what it seldom comes to.
    """
    first, second = (_rows(learner, role) for role in (0, 1))
    return first, second


def _rows(learner: Learner, role: int) -> Rows:
    setup = learner.setup
    most = (setup.bets + 1) ** 2 * setup.classes * setup.hands[role]
    numbers, rows = (ctypes.create_string_buffer(most * size) for size in (_NUMBER, ROW))
    many = library().pack(ctypes.byref(setup), role, learner.sums[role], SELDOM, numbers, rows)
    kept = memoryview(rows)[: many * ROW]
    every = [_trimmed(bytes(kept[at : at + ROW])) for at in range(0, len(kept), ROW)]
    return Rows(array("I", numbers.raw[: many * _NUMBER]), every)


def _trimmed(row: bytes) -> bytes:
    chances = row[1::2]
    return row[: 2 * chances.index(0)] if 0 in chances else row


def opened(cards: Cards, tables: tuple[RoleTable, RoleTable]) -> CTable:
    """A shipped table as the compiled players take it."""
    first, second = map(_rows_of, tables)
    return table_of(setup_of(Shape(cards)), (first, second))


def tables_in(file: Path) -> dict[Cards, CTable]:
    """The tables of a file, by the cards of who begins and of the other.

    Raises:
        ConfigError: they are not as they were written.
    """
    tables = read(file)
    if not tables.file.is_whole():
        raise ConfigError(f"{file} is damaged: its rows are not those that were written.")
    return {cards: opened(cards, found) for cards, found in tables.rounds.items()}


def _rows_of(table: RoleTable) -> Rows:
    numbers, rows = array("I"), list[bytes]()
    for last in range(table.parts):
        part = table.part(last)
        numbers.extend(table.apart * last + number for number in part.numbers)
        rows += part.rows
    return Rows(numbers, rows)


def table(learner: Learner) -> CTable:
    """What was learned so far as the compiled players take it."""
    return table_of(learner.setup, packed(learner))
