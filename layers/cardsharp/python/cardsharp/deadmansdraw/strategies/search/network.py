"""A small network beside a model: what its tables, one suit at a time, cannot join.

What it says is added to V where a turn begins, and to D where one goes on. The sums of all hidden
units lie in one number, each in a lane of its own: a row is added by one addition, and the sum of
the products with the weights of the output is the middle lane of one multiplication, or of two by
halves, which are faster. Weights are whole, so that sums are equal on every machine. Twin:
`research/deadmansdraw/native/network.c`, which also learns them.
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cardsharp.deadmansdraw.strategies.search.layout import (
    KEYS,
    KNOT_PARTS,
    KNOTS,
    LEFTS,
    LYING,
    MOVER,
    OTHER,
    PILE,
    TOPS,
    knot_of,
)
from cardsharp.deadmansdraw.strategies.search.sets import RANKS, SUITS

HIDDEN = 32
PARTS = 2  # a turn that begins, and one that goes on
ROWS = RANKS * 3 + 6 * TOPS
"""Of a suit: its cards by place; tops of both banks, how many are unseen and how many gone, how
much the best unseen one would bring either."""
ODDS_SHIFT = 17  # a step of log-odds is a sixteenth


class Field(NamedTuple):
    """Rows of weights of one kind; 1.0 is 2 to the power `bits`."""

    rows: int
    bits: int


FIELDS = {
    "suit": Field(2 * SUITS * ROWS, 12),
    "known": Field(SUITS * RANKS, 12),
    "left": Field(LEFTS, 12),
    "lead": Field(1, 8),  # by 16 points
    "odds": Field(1, 7),  # by 32 steps
    "out": Field(len(KNOTS), 10),
}
"""A part of a network in its order, as in network.h."""
NUMBERS = PARTS * HIDDEN * sum(field.rows for field in FIELDS.values())

LANE, SIGN = 42, 20
"""Bits of a lane, and the bit that says that a hidden sum, moved up by it, is above 0."""
_ONES = sum(1 << LANE * unit for unit in range(HIDDEN))
_UP = _ONES << SIGN
_HALFWAY = LANE * HIDDEN // 2
_FIRST = (1 << _HALFWAY) - 1
_MIDDLE = _HALFWAY - LANE
_MASK, _SIGN_OF_LANE = (1 << LANE) - 1, 1 << LANE - 1
_SIGNS = (_ONES & _FIRST) * _SIGN_OF_LANE
_UNIT = 6  # bits from a sum of products, 12 and 10 and those of 32 parts, to `ONE`

MOST = 16384  # suits' sums that are remembered of each part; about 5 MB


class Network:
    """Learned weights, by part, field, row and hidden unit."""

    def __init__(self, numbers: "array[int]") -> None:
        if len(numbers) != NUMBERS:
            raise ValueError(f"A network has {NUMBERS} weights, not {len(numbers)}.")
        self.numbers = numbers
        begins, goes_on = (rows_in(numbers, part) for part in range(PARTS))
        self.begins, self.goes_on = Output(begins, apart=False), Output(goes_on, apart=True)


def rows_in(numbers: "array[int]", part: int) -> dict[str, list[Sequence[int]]]:
    """The rows of weights of a part, by field."""
    rows, start = dict[str, list[Sequence[int]]](), part * (NUMBERS // PARTS)
    for name, field in FIELDS.items():
        ends = range(start, start + field.rows * HIDDEN, HIDDEN)
        rows[name] = [numbers[at : at + HIDDEN] for at in ends]
        start = ends.stop
    return rows


class Output:
    """What is added to the log-odds of turns that begin, or of those that go on.

    `apart`: suits that lie in the play area have rows of their own.
    """

    def __init__(self, rows: dict[str, list[Sequence[int]]], *, apart: bool) -> None:
        self.suits = SuitSums([*map(_laned, rows["suit"])], apart=apart)
        lefts = [min(left, LEFTS - 1) for left in range(LEFTS + 10)]
        self._left = [_laned(rows["left"][left]) + _UP for left in lefts]
        self._known = [*map(_laned, rows["known"])]
        self._lead, self._odds = _laned(rows["lead"][0]), _laned(rows["odds"][0])
        self._out = [_between(rows["out"], left) for left in lefts]

    def adds(self, keys: list[int], left: int, lead: int, log_odds: int, known: int) -> int:
        """What is added to these log-odds, in units of `ONE`; `known` is the next card."""
        hidden = sum(map(self.suits.__getitem__, keys), self._left[left])
        hidden += lead * self._lead + (log_odds >> ODDS_SHIFT) * self._odds
        if known >= 0:
            hidden += self._known[known]
        above = hidden >> SIGN & _ONES
        hidden &= (above << SIGN) - above
        first, last = self._out[left]
        products = (hidden & _FIRST) * first + (hidden >> _HALFWAY) * last + _SIGNS
        return (products >> _MIDDLE & _MASK) - _SIGN_OF_LANE >> _UNIT


class SuitSums(dict[int, int]):
    """By a suit's key, the sum of its rows; all are forgotten when there are `MOST`."""

    def __init__(self, rows: list[int], *, apart: bool) -> None:
        self._rows, self._apart = rows, apart

    def __missing__(self, key: int) -> int:
        lies, rest = divmod(key, LYING)
        suit, places = divmod(rest, KEYS)
        start = (lies * self._apart * SUITS + suit) * ROWS
        found = sum(self._rows[start + row] for row in rows_of(places))
        if len(self) >= MOST:
            self.clear()
        self[key] = found
        return found


def _between(knots: list[Sequence[int]], left: int) -> tuple[int, int]:
    """The weights of the output in 32nds, by halves, the last unit of each first."""
    knot, share = knot_of(left)
    pairs = zip(knots[knot], knots[knot + 1], strict=True)
    out = [low * (KNOT_PARTS - share) + high * share for low, high in pairs]
    half = HIDDEN // 2
    return _laned(out[:half][::-1]), _laned(out[half:][::-1])


def rows_of(places: int) -> Iterator[int]:
    """The rows that a suit with its cards in these places adds up."""
    tops, numbers = [0, 0, 0, 0], [0, 0, 0, 0]
    for rank in range(RANKS):
        place = places >> 2 * rank & 3
        tops[place] = rank + 1
        numbers[place] += 1
        if place:
            yield rank * 3 + place - 1
    rises = (max(0, tops[PILE] - tops[bank]) for bank in (MOVER, OTHER))
    groups = (tops[MOVER], tops[OTHER], numbers[PILE], numbers[0], *rises)
    for at, group in enumerate(groups):
        yield RANKS * 3 + TOPS * at + group


def _laned(units: Sequence[int]) -> int:
    return sum(unit << LANE * at for at, unit in enumerate(units))
