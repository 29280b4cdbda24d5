"""Making the shipped file of tables from what was learned, and opening it for compiled play."""

import ctypes
from collections.abc import Sequence

from cardsharp.blef.strategies.sight import Shape
from cardsharp.blef.strategies.trained import ROW, WHOLE, Table
from research.blef.compiled import Cards, CTable, Learner, setup_of, table_of

LEAST = 0.015
"""What is chosen less often is not kept."""

_KEPT = ROW // 2

Rows = dict[int, bytes]


def packed(learner: Learner, seldom: float = 1e-9) -> tuple[Rows, Rows]:
    """The rows of the average play, of who begins and of the other.

    Left out is what is reached less often than `seldom`, as a part of all that was added up.
    """
    first, second = (_rows(sums, learner.width, seldom) for sums in learner.sums)
    return first, second


def _rows(sums: "ctypes.Array[ctypes.c_float]", width: int, seldom: float) -> Rows:
    numbers = memoryview(sums).cast("B").cast("f")
    totals = [sum(numbers[at : at + width]) for at in range(0, len(numbers), width)]
    least = seldom * sum(totals)
    return {
        number: row_of(numbers[number * width : (number + 1) * width])
        for number, total in enumerate(totals)
        if total > least
    }


def row_of(weights: Sequence[float]) -> bytes:
    """A row as it is kept: the likeliest choices, and what they take of the whole."""
    total = sum(weights)
    order = sorted(range(len(weights)), key=lambda choice: -weights[choice])
    likely = [choice for choice in order[:_KEPT] if weights[choice] >= LEAST * total]
    kept = likely or order[:_KEPT]
    whole = sum(weights[choice] for choice in kept)
    parts = [round(weights[choice] / whole * WHOLE) for choice in kept]
    parts[0] += WHOLE - sum(parts)
    pairs = [number for pair in zip(kept, parts, strict=True) for number in pair]
    return bytes(pairs).ljust(ROW, b"\0")


class Opened:
    """A shipped table as the compiled players take it."""

    def __init__(self, cards: Cards, tables: tuple[Table, Table]) -> None:
        shape = Shape(cards)
        self._setup, width = setup_of(shape), len(shape.bets) + 1
        self._weights = []
        for role, table in enumerate(tables):
            weights = (ctypes.c_float * (shape.rows(role) * width))()
            for at, number in enumerate(table.numbers):
                for choice, parts in table.row(at).items():
                    weights[number * width + choice] = parts
            self._weights.append(weights)
        self.table: CTable = table_of(self._setup, self._weights)
