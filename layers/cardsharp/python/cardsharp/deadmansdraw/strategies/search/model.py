"""The learned numbers, and the integer sums that they are read as.

V is the log-odds of the player whose turn begins: what each suit adds, by where its cards are,
plus what the lead is worth with so many cards left. D is what drawing on adds to stopping.
Numbers are whole multiples of 2^-16, so that sums are exact and equal on every machine, whatever
their order. Twin: `research/deadmansdraw/native/model.c`.
"""

from array import array
from itertools import accumulate
from math import exp

from cardsharp.deadmansdraw.strategies.search.layout import (
    KEYS,
    KNOT_PARTS,
    KNOTS,
    LEFTS,
    LYING,
    MOVER,
    ONE,
    OTHER,
    PILE,
    TOPS,
    knot_of,
)
from cardsharp.deadmansdraw.strategies.search.network import Network
from cardsharp.deadmansdraw.strategies.search.sets import MERMAID, RANKS, SUITS

MOST_LEAD = 30  # points; a greater lead counts as so much

SIZES: dict[str, int] = {
    "table": len(KNOTS) * SUITS * TOPS**3,
    "place": len(KNOTS) * SUITS * RANKS * 3,
    "known": len(KNOTS) * SUITS,
    "slope": len(KNOTS),
    "base": len(KNOTS),
    "lead": LEFTS * (2 * MOST_LEAD + 1),
    "wanted": SUITS * TOPS**3,
    "unseen": SUITS * TOPS,
    "lying": SUITS * TOPS * TOPS,
    "size": 11,
    "left": LEFTS,
    "risk": 17,
    "hope": 12,
}
"""The parts of a model in their order, as in model.h, and how many numbers each has."""

STARTS: dict[str, int] = dict(zip(SIZES, accumulate(SIZES.values(), initial=0), strict=False))
NUMBERS = sum(SIZES.values())

MOST = 2048  # sums that are remembered of one number of cards left; about 15 MB of all
_MOST_ODDS, _MINUS_ONE = 30 * ONE, -1.0 / ONE
_LEAD_FIELD, _ON_FIELD = 56, 80
_VALUE_HALF, _VALUE_MASK = 1 << 55, (1 << 56) - 1
_LEAD_HALF, _LEAD_MASK = 1 << 23, (1 << 24) - 1


Sums = tuple[int, int, int]  # of all suits: to V, to the mover's lead in points, and to D


def chance_of(log_odds: int) -> float:
    """The chance that belongs to a sum, whose unit is `ONE`."""
    if not -_MOST_ODDS < log_odds < _MOST_ODDS:
        log_odds = _MOST_ODDS if log_odds > 0 else -_MOST_ODDS
    return 1.0 / (1.0 + exp(log_odds * _MINUS_ONE))


class Model:
    """A set of learned numbers with its memory of sums, and a network beside it or none."""

    def __init__(self, numbers: "array[int]", network: Network | None = None) -> None:
        if len(numbers) != NUMBERS:
            raise ValueError(f"A model has {NUMBERS} numbers, not {len(numbers)}.")
        self.numbers, self.network = numbers, network
        self.parts = tuple(SuitParts(self, left) for left in range(LEFTS + 10))
        self.frames = tuple(ValueFrame(self, left) for left in range(LEFTS + 10))

    def __deepcopy__(self, memo: object) -> "Model":
        """Itself: its numbers never change."""
        del memo
        return self

    def knots(self, part: str, at: int, left: int) -> int:
        """A number of a part that V has for each knot, interpolated; in units of `ONE`."""
        knot, share = knot_of(left)
        size = SIZES[part] // len(KNOTS)
        start = STARTS[part] + knot * size + at
        low, high = self.numbers[start], self.numbers[start + size]
        return low * (KNOT_PARTS - share) + high * share

    def at(self, part: str, at: int) -> int:
        """A number of a part without knots."""
        return self.numbers[STARTS[part] + at]

    def sums(self, keys: list[int], left: int) -> Sums:
        """The sums over the keys of all suits."""
        total = sum(map(self.parts[left].__getitem__, keys))
        value = (total + _VALUE_HALF & _VALUE_MASK) - _VALUE_HALF
        rest = total - value >> _LEAD_FIELD
        lead = (rest + _LEAD_HALF & _LEAD_MASK) - _LEAD_HALF
        return value, lead, rest - lead >> _ON_FIELD - _LEAD_FIELD

    def log_odds(self, sums: Sums, left: int, known: int) -> int:
        """V of the mover; `known` is the suit of the next card, -1 where it is not known."""
        value = sums[0] + self.frames[left][sums[1]]
        return value if known < 0 else value + self.knots("known", known, left)


class SuitParts(dict[int, int]):
    """By a suit's key, what it adds with `left` cards left; worked out when it is asked for.

    A process plays for days and there are 80,000 keys, so all are forgotten when there are `MOST`.
    V, the lead and D share one number, 56 and 24 bits apart, so that one addition serves all.
    """

    def __init__(self, model: Model, left: int) -> None:
        self.model = model
        self.left = left

    def __missing__(self, key: int) -> int:
        lies, rest = divmod(key, LYING)
        suit, places = divmod(rest, KEYS)
        tops, numbers, value = [0, 0, 0, 0], [0, 0, 0, 0], 0
        for rank in range(RANKS):
            place = places >> 2 * rank & 3
            tops[place] = rank + 1
            numbers[place] += 1
            if place:
                at = (suit * RANKS + rank) * 3 + place - 1
                value += self.model.knots("place", at, self.left)
        value += self.model.knots("table", table_index(suit, tops), self.left)
        lead = points(suit, tops[MOVER]) - points(suit, tops[OTHER])
        on = self._on(suit, tops, numbers[PILE], lies=bool(lies))
        found = value + (lead << _LEAD_FIELD) + (on << _ON_FIELD)
        if len(self) >= MOST:
            self.clear()
        self[key] = found
        return found

    def _on(self, suit: int, tops: list[int], unseen: int, *, lies: bool) -> int:
        model = self.model
        if lies:
            return model.at("lying", (suit * TOPS + tops[OTHER]) * TOPS + unseen)
        swapped = [0, tops[OTHER], tops[MOVER], tops[PILE]]
        return model.at("wanted", table_index(suit, swapped)) + model.at(
            "unseen", suit * TOPS + unseen
        )


class ValueFrame(dict[int, int]):
    """By the mover's lead, what V is with `left` cards left before the suits are counted."""

    def __init__(self, model: Model, left: int) -> None:
        self.model = model
        self.left = left

    def __missing__(self, lead: int) -> int:
        model, left = self.model, self.left
        row, column = min(left, LEFTS - 1), MOST_LEAD + max(-MOST_LEAD, min(lead, MOST_LEAD))
        table = model.at("lead", row * (2 * MOST_LEAD + 1) + column) * KNOT_PARTS
        found = model.knots("slope", 0, left) * lead + model.knots("base", 0, left) + table
        self[lead] = found
        return found


def table_index(suit: int, tops: list[int]) -> int:
    """The place in `table` and `wanted` of a suit with these tops (0: no card)."""
    return ((suit * TOPS + tops[MOVER]) * TOPS + tops[OTHER]) * TOPS + tops[PILE]


def points(suit: int, top: int) -> int:
    """What a stack whose top is the `top`-th card of its suit counts."""
    if not top:
        return 0
    return top + (3 if suit == MERMAID else 1)
