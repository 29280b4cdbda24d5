"""Small network beside a value model, for relations between suits that its tables cannot hold.

Its output is added to V when a turn begins, and to D when one continues. All hidden units share one
large integer, each in its own lane of bits, so one addition adds a row of weights to all of them.
The dot product with the output weights is the middle lane of a multiplication; eight
multiplications of eight units each are faster than one. Weights are integers, so that sums are
equal on every machine. The compiled twin is `native/network.c`; `network_learning.c` of the lab
learns them.
"""

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from cardsharp.games.deadmansdraw.strategies.search.card_sets import RANKS, SUITS
from cardsharp.games.deadmansdraw.strategies.search.weight_layout import (
    CARD_COUNTS,
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

HIDDEN_UNITS = 64
OUTPUT_COUNT = 2  # the turn begins, or it continues
ROWS_PER_SUIT = RANKS * 3 + 6 * TOP_VALUES
"""Rows of one suit.

They are its cards by place, the tops of both banks, the numbers of unseen and of discarded cards,
and what the best unseen card would bring to either bank.
"""
ODDS_SHIFT = 17  # a step of log-odds is a sixteenth
RISK_STEPS = 17  # shares of busting cards in the draw pile, in sixteenths
PLAY_AREA_SIZES = SUITS + 1
MAX_STEPS = 8 * 16  # log-odds of stopping and busting are clipped at 8, in sixteenths


class WeightField(NamedTuple):
    """Rows of weights of one kind; the weight 1.0 is 2 to the power `fraction_bits`."""

    rows: int
    fraction_bits: int


WEIGHT_FIELDS = {
    "suit": WeightField(2 * SUITS * ROWS_PER_SUIT, 12),
    "known": WeightField(SUITS * RANKS, 12),
    "left": WeightField(CARD_COUNTS, 12),
    "risk": WeightField(RISK_STEPS, 12),
    "size": WeightField(PLAY_AREA_SIZES, 12),
    "rescued": WeightField(PLAY_AREA_SIZES + 1, 12),  # no Anchor, or the number of cards it saves
    "lead": WeightField(1, 8),  # in steps of 16 points
    "odds": WeightField(1, 7),  # in 32 steps
    "stop": WeightField(1, 7),
    "bust": WeightField(1, 7),
    "out": WeightField(len(KNOTS), 10),
}
"""Fields of one part of a network, in the order of network.h."""
WEIGHT_COUNT = OUTPUT_COUNT * HIDDEN_UNITS * sum(field.rows for field in WEIGHT_FIELDS.values())

LANE, SIGN = 43, 20
"""Bits of a lane, and the bit that says that a hidden sum, shifted up by it, is above 0."""
_LANE_ONES = sum(1 << LANE * unit for unit in range(HIDDEN_UNITS))
_SIGN_BIAS = _LANE_ONES << SIGN
_GROUP_UNITS = 8
_GROUP_SHIFT = LANE * _GROUP_UNITS
_GROUP_MASK = (1 << _GROUP_SHIFT) - 1
_SUM_SHIFT = _GROUP_SHIFT - LANE
_LANE_MASK, _LANE_SIGN = (1 << LANE) - 1, 1 << LANE - 1
_GROUP_SIGNS = (_LANE_ONES & _GROUP_MASK) * _LANE_SIGN
_PRODUCT_SHIFT = 6  # shift of a sum of products (12 + 10 + 5 bits) to `FIXED_POINT_ONE` (21 bits)

MAX_CACHED_SUMS = 16384  # cached sums of each part; about 8 MB


class ContinuedTurn(NamedTuple):
    """Inputs of a network for a turn that may go on, beside its keys.

    `risk` is the share of busting cards in sixteenths, `size` the number of cards in the play area,
    and `rescued` one more than the number that an Anchor saves, 0 without one. `stop` and `bust`
    are the steps of log-odds after stopping and after a bust.
    """

    risk: int
    size: int
    rescued: int
    stop: int
    bust: int


class ValueNetwork:
    """Learned weights, by part, field, row and hidden unit."""

    def __init__(self, weights: "array[int]") -> None:
        if len(weights) != WEIGHT_COUNT:
            raise ValueError(f"A network has {WEIGHT_COUNT} weights, not {len(weights)}.")
        self.numbers = weights

    # Only plain Python needs them, and packing them takes tens of milliseconds.
    @cached_property
    def begins(self) -> "CorrectionNetwork":
        """Network for turns that begin."""
        return CorrectionNetwork(weight_rows_by_field(self.numbers, 0), apart=False)

    @cached_property
    def goes_on(self) -> "CorrectionNetwork":
        """Network for turns that continue."""
        return CorrectionNetwork(weight_rows_by_field(self.numbers, 1), apart=True)


def weight_rows_by_field(
    weights: "array[int]", output_index: int
) -> dict[str, list[Sequence[int]]]:
    """Return the rows of weights of a part, by field."""
    rows, start = dict[str, list[Sequence[int]]](), output_index * (WEIGHT_COUNT // OUTPUT_COUNT)
    for name, field in WEIGHT_FIELDS.items():
        ends = range(start, start + field.rows * HIDDEN_UNITS, HIDDEN_UNITS)
        rows[name] = [weights[at : at + HIDDEN_UNITS] for at in ends]
        start = ends.stop
    return rows


class CorrectionNetwork:
    """Network that corrects the log-odds of turns that begin, or of those that continue.

    With `apart`, suits that lie in the play area have rows of their own.
    """

    def __init__(self, rows: dict[str, list[Sequence[int]]], *, apart: bool) -> None:
        self.suits = SuitActivations([*map(_pack_lanes, rows["suit"])], apart=apart)
        pile_counts = [min(count, CARD_COUNTS - 1) for count in range(CARD_COUNTS + 10)]
        self._rows_by_pile_count = [
            _pack_lanes(rows["left"][count]) + _SIGN_BIAS for count in pile_counts
        ]
        self._rows_by_next_card = [*map(_pack_lanes, rows["known"])]
        self._lead_row, self._odds_row, self._stop_row, self._bust_row = (
            _pack_lanes(rows[name][0]) for name in ("lead", "odds", "stop", "bust")
        )
        self._risk_rows, self._size_rows, self._rescued_rows = (
            [*map(_pack_lanes, rows[name])] for name in ("risk", "size", "rescued")
        )
        self._output_weights = [
            _interpolate_output_weights(rows["out"], count) for count in pile_counts
        ]

    def new_turn_correction(
        self, keys: list[int], pile_count: int, lead: int, log_odds: int, next_card: int
    ) -> int:
        """Return the correction to the log-odds of a turn that begins, in `FIXED_POINT_ONE`.

        `next_card` is the next card, negative if it is not known.
        """
        hidden = sum(map(self.suits.__getitem__, keys), self._rows_by_pile_count[pile_count])
        hidden += lead * self._lead_row + (log_odds >> ODDS_SHIFT) * self._odds_row
        if next_card >= 0:
            hidden += self._rows_by_next_card[next_card]
        return self._output(hidden, pile_count)

    def continuation_correction(
        self, keys: list[int], pile_count: int, lead: int, log_odds: int, turn: ContinuedTurn
    ) -> int:
        """Return the correction to the log-odds of a turn that goes on, in `FIXED_POINT_ONE`."""
        risk, size, rescued, stop, bust = turn
        hidden = sum(map(self.suits.__getitem__, keys), self._rows_by_pile_count[pile_count])
        hidden += lead * self._lead_row + (log_odds >> ODDS_SHIFT) * self._odds_row
        hidden += self._risk_rows[risk] + self._size_rows[size] + self._rescued_rows[rescued]
        hidden += stop * self._stop_row + bust * self._bust_row
        return self._output(hidden, pile_count)

    def _output(self, hidden: int, pile_count: int) -> int:
        """Return the output of the hidden sums."""
        # ReLU of all 64 units at once: `above` has a bit for each lane whose sum is positive. The
        # next line turns it into a mask of that lane's bits, which sets negative sums to 0.
        above = hidden >> SIGN & _LANE_ONES
        hidden &= (above << SIGN) - above
        products = _GROUP_SIGNS
        for group_weights in self._output_weights[pile_count]:
            products += (hidden & _GROUP_MASK) * group_weights
            hidden >>= _GROUP_SHIFT
        return (products >> _SUM_SHIFT & _LANE_MASK) - _LANE_SIGN >> _PRODUCT_SHIFT


class SuitActivations(dict[int, int]):
    """Sums of the rows of each suit's key; the cache is cleared at `MAX_CACHED_SUMS` entries."""

    def __init__(self, rows: list[int], *, apart: bool) -> None:
        self._rows, self._has_play_area_rows = rows, apart

    def __missing__(self, key: int) -> int:
        lies, rest = divmod(key, PLAY_AREA_OFFSET)
        suit, places = divmod(rest, KEYS)
        start = (lies * self._has_play_area_rows * SUITS + suit) * ROWS_PER_SUIT
        total = sum(self._rows[start + row] for row in active_weight_rows(places))
        if len(self) >= MAX_CACHED_SUMS:
            self.clear()
        self[key] = total
        return total


def _interpolate_output_weights(knots: list[Sequence[int]], pile_count: int) -> tuple[int, ...]:
    """Return the output weights at a pile count, in 32nds and packed in groups of units.

    The weights between two knots are interpolated. The units of each group are reversed.
    """
    knot, share = knot_and_next_share(pile_count)
    pairs = zip(knots[knot], knots[knot + 1], strict=True)
    out = [low * (KNOT_STEPS - share) + high * share for low, high in pairs]
    starts = range(0, HIDDEN_UNITS, _GROUP_UNITS)
    return tuple(_pack_lanes(out[start : start + _GROUP_UNITS][::-1]) for start in starts)


def log_odds_steps(log_odds: int) -> int:
    """Return log-odds as clipped steps, for `ContinuedTurn`."""
    return max(-MAX_STEPS, min(log_odds >> ODDS_SHIFT, MAX_STEPS))


def active_weight_rows(places: int) -> Iterator[int]:
    """Yield the rows that are active for a suit whose cards are in these places."""
    tops, counts = [0, 0, 0, 0], [0, 0, 0, 0]
    for rank in range(RANKS):
        place = places >> 2 * rank & 3
        tops[place] = rank + 1
        counts[place] += 1
        if place:
            yield rank * 3 + place - 1
    rises = (max(0, tops[PILE] - tops[bank]) for bank in (MOVER, OTHER))
    groups = (tops[MOVER], tops[OTHER], counts[PILE], counts[0], *rises)
    for at, group in enumerate(groups):
        yield RANKS * 3 + TOP_VALUES * at + group


def _pack_lanes(units: Sequence[int]) -> int:
    return sum(unit << LANE * at for at, unit in enumerate(units))
