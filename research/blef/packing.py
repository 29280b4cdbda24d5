"""Making the shipped file of tables from what was learned, and opening it for compiled play."""

import ctypes
from array import array
from collections.abc import Iterable

from cardsharp.blef.strategies.sight import Shape
from cardsharp.blef.strategies.trained import Rows, Table
from research.blef.compiled import Cards, CTable, Learner, library, setup_of, table_of

SELDOM = 1e-4
"""What a hand comes to less often is not kept; with few cards in play less is left out."""

_SELDOM_OF_FEW, _FEW = 1e-5, 6

ROW, _NUMBER = 24, 4
"""Bytes of a row as it is packed: twelve choices; and of its number."""


def packed(learner: Learner, seldom: float | None = None) -> tuple[Rows, Rows]:
    """The rows of the average play, of who begins and of the other.

    Left out is where a hand only checks, and what it comes to less often than `seldom`, as a part
    of what it was dealt.
    """
    if seldom is None:
        seldom = _SELDOM_OF_FEW if sum(learner.setup.cards) <= _FEW else SELDOM
    first, second = (_rows(learner, role, seldom) for role in (0, 1))
    return first, second


def _rows(learner: Learner, role: int, seldom: float) -> Rows:
    setup = learner.setup
    most = (setup.bets + 1) ** 2 * setup.hands[role]
    numbers, rows = (ctypes.create_string_buffer(most * size) for size in (_NUMBER, ROW))
    many = library().pack(ctypes.byref(setup), role, learner.sums[role], seldom, numbers, rows)
    kept = rows.raw[: many * ROW]
    every = (kept[at : at + ROW] for at in range(0, len(kept), ROW))
    return rows_of(numbers.raw[: many * _NUMBER], every)


def rows_of(numbers: bytes, every: Iterable[bytes]) -> Rows:
    """These rows, each as long as it has to be, and what is the same once."""
    places, rows = array("I"), bytearray()
    known: dict[bytes, int] = {}
    for row in every:
        if row not in known:
            known[row] = len(rows)
            rows += _trimmed(row)
        places.append(known[row])
    return Rows(numbers, places.tobytes(), bytes(rows))


def _trimmed(row: bytes) -> bytes:
    chances = row[1::2]
    return row[: 2 * chances.index(0)] if 0 in chances else row


def opened(cards: Cards, tables: tuple[Table, Table]) -> CTable:
    """A shipped table as the compiled players take it."""
    first, second = (
        Rows(bytes(table.numbers), bytes(table.places), bytes(table.rows)) for table in tables
    )
    return table_of(setup_of(Shape(cards)), (first, second))


def table(learner: Learner) -> CTable:
    """What was learned so far as the compiled players take it."""
    return table_of(learner.setup, packed(learner))
