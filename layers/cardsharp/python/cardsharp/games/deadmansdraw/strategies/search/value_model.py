"""Learned weights of the value model, and the integer sums in which they are used.

V is the log-odds of the player whose turn begins: a term for each suit by the places of its cards,
plus the value of the lead at that size of the draw pile. D is the log-odds that drawing on adds to
stopping. Weights are integer multiples of 2^-16, so that sums are exact and equal on every machine,
in any order. The compiled twin is `native/model.c`.
"""

from array import array
from itertools import accumulate
from math import exp

from cardsharp.games.deadmansdraw.strategies.search.card_sets import MERMAID, RANKS, SUITS
from cardsharp.games.deadmansdraw.strategies.search.network import ValueNetwork
from cardsharp.games.deadmansdraw.strategies.search.weight_layout import (
    CARD_COUNTS,
    FIXED_POINT_ONE,
    KEYS,
    KNOT_STEPS,
    KNOTS,
    MOVER,
    OTHER,
    PILE,
    PLAY_AREA_OFFSET,
    TOP_VALUES,
    knot_and_next_share,
)

MAX_LEAD = 30  # points; a greater lead counts as this

PART_SIZES: dict[str, int] = {
    "table": len(KNOTS) * SUITS * TOP_VALUES**3,
    "place": len(KNOTS) * SUITS * RANKS * 3,
    "known": len(KNOTS) * SUITS,
    "slope": len(KNOTS),
    "base": len(KNOTS),
    "lead": CARD_COUNTS * (2 * MAX_LEAD + 1),
    "wanted": SUITS * TOP_VALUES**3,
    "unseen": SUITS * TOP_VALUES,
    "lying": SUITS * TOP_VALUES * TOP_VALUES,
    "size": 11,
    "left": CARD_COUNTS,
    "risk": 17,
    "hope": 12,
}
"""Parts of a model in the order of model.h, with the number of weights of each."""

PART_OFFSETS: dict[str, int] = dict(
    zip(PART_SIZES, accumulate(PART_SIZES.values(), initial=0), strict=False)
)
WEIGHT_COUNT = sum(PART_SIZES.values())

MAX_CACHED_TERMS = 2048  # cached terms for each size of the draw pile; about 15 MB in all
_MAX_LOG_ODDS, _MINUS_ONE = 30 * FIXED_POINT_ONE, -1.0 / FIXED_POINT_ONE
_LEAD_SHIFT, _CONTINUATION_SHIFT = 56, 80
_VALUE_HALF, _VALUE_MASK = 1 << 55, (1 << 56) - 1
_LEAD_HALF, _LEAD_MASK = 1 << 23, (1 << 24) - 1


Sums = tuple[int, int, int]  # sums over all suits: V, the mover's lead in points, and D


def win_probability(log_odds: int) -> float:
    """Return the probability of log-odds in units of `FIXED_POINT_ONE`."""
    if not -_MAX_LOG_ODDS < log_odds < _MAX_LOG_ODDS:
        log_odds = _MAX_LOG_ODDS if log_odds > 0 else -_MAX_LOG_ODDS
    return 1.0 / (1.0 + exp(log_odds * _MINUS_ONE))


class ValueModel:
    """Trained weights of the value function with cached sums, and an optional network."""

    def __init__(self, weights: "array[int]", network: ValueNetwork | None = None) -> None:
        if len(weights) != WEIGHT_COUNT:
            raise ValueError(f"A model has {WEIGHT_COUNT} numbers, not {len(weights)}.")
        self.numbers, self.network = weights, network
        self.parts = tuple(SuitTermCache(self, count) for count in range(CARD_COUNTS + 10))
        self.frames = tuple(LeadTerms(self, count) for count in range(CARD_COUNTS + 10))

    def __deepcopy__(self, memo: object) -> "ValueModel":
        """Return the model itself, because its weights never change."""
        del memo
        return self

    def interpolate(self, part: str, index: int, pile_count: int) -> int:
        """Return an interpolated weight of a part with knots, in units of `FIXED_POINT_ONE`."""
        knot, share = knot_and_next_share(pile_count)
        knot_size = PART_SIZES[part] // len(KNOTS)
        start = PART_OFFSETS[part] + knot * knot_size + index
        low, high = self.numbers[start], self.numbers[start + knot_size]
        return low * (KNOT_STEPS - share) + high * share

    def weight(self, part: str, index: int) -> int:
        """Return the weight at an index of a part of the model without knots."""
        return self.numbers[PART_OFFSETS[part] + index]

    def sum_suit_terms(self, keys: list[int], pile_count: int) -> Sums:
        """Return the sums over the keys of all suits."""
        # One integer holds three sums (see `SuitTermCache`). Each field is signed, so half its
        # range is added before it is masked. Otherwise a negative sum would borrow from the field
        # above it.
        total = sum(map(self.parts[pile_count].__getitem__, keys))
        value = (total + _VALUE_HALF & _VALUE_MASK) - _VALUE_HALF
        rest = total - value >> _LEAD_SHIFT
        lead = (rest + _LEAD_HALF & _LEAD_MASK) - _LEAD_HALF
        return value, lead, rest - lead >> _CONTINUATION_SHIFT - _LEAD_SHIFT

    def log_odds(self, sums: Sums, pile_count: int, next_suit: int) -> int:
        """Return the log odds V of the mover.

        `next_suit` is the next card's suit, -1 if it is not known.
        """
        value = sums[0] + self.frames[pile_count][sums[1]]
        return value if next_suit < 0 else value + self.interpolate("known", next_suit, pile_count)


class SuitTermCache(dict[int, int]):
    """Term of each suit's key for a draw pile of `pile_count` cards, computed on first use.

    There are 80,000 keys and a process plays for days, so the cache is cleared at
    `MAX_CACHED_TERMS`
    entries. V, the lead and D share one integer, at bits 0, 56 and 80, so that one addition
    serves all three.
    """

    def __init__(self, model: ValueModel, pile_count: int) -> None:
        self.model = model
        self.pile_count = pile_count

    def __missing__(self, key: int) -> int:
        lies, rest = divmod(key, PLAY_AREA_OFFSET)
        suit, places = divmod(rest, KEYS)
        tops, counts, value = [0, 0, 0, 0], [0, 0, 0, 0], 0
        for rank in range(RANKS):
            place = places >> 2 * rank & 3
            tops[place] = rank + 1
            counts[place] += 1
            if place:
                at = (suit * RANKS + rank) * 3 + place - 1
                value += self.model.interpolate("place", at, self.pile_count)
        value += self.model.interpolate("table", table_index(suit, tops), self.pile_count)
        lead = stack_points(suit, tops[MOVER]) - stack_points(suit, tops[OTHER])
        on = self._continuation_weight(suit, tops, counts[PILE], lies=bool(lies))
        packed = value + (lead << _LEAD_SHIFT) + (on << _CONTINUATION_SHIFT)
        if len(self) >= MAX_CACHED_TERMS:
            self.clear()
        self[key] = packed
        return packed

    def _continuation_weight(self, suit: int, tops: list[int], unseen: int, *, lies: bool) -> int:
        model = self.model
        if lies:
            return model.weight("lying", (suit * TOP_VALUES + tops[OTHER]) * TOP_VALUES + unseen)
        swapped = [0, tops[OTHER], tops[MOVER], tops[PILE]]
        return model.weight("wanted", table_index(suit, swapped)) + model.weight(
            "unseen", suit * TOP_VALUES + unseen
        )


class LeadTerms(dict[int, int]):
    """Term of each lead of the mover for a draw pile of `pile_count` cards.

    It is the part of V that does not belong to a suit. It is computed on first use.
    """

    def __init__(self, model: ValueModel, pile_count: int) -> None:
        self.model = model
        self.pile_count = pile_count

    def __missing__(self, lead: int) -> int:
        model, pile_count = self.model, self.pile_count
        row, column = (
            min(pile_count, CARD_COUNTS - 1),
            MAX_LEAD + max(-MAX_LEAD, min(lead, MAX_LEAD)),
        )
        table = model.weight("lead", row * (2 * MAX_LEAD + 1) + column) * KNOT_STEPS
        value = (
            model.interpolate("slope", 0, pile_count) * lead
            + model.interpolate("base", 0, pile_count)
            + table
        )
        self[lead] = value
        return value


def table_index(suit: int, tops: list[int]) -> int:
    """Return the place in `table` and `wanted` of a suit with these tops (0: no card)."""
    return ((suit * TOP_VALUES + tops[MOVER]) * TOP_VALUES + tops[OTHER]) * TOP_VALUES + tops[PILE]


def stack_points(suit: int, top: int) -> int:
    """Return the points of a stack whose top is the `top`-th card of its suit."""
    if not top:
        return 0
    return top + (3 if suit == MERMAID else 1)
