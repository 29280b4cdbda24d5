"""How what is learned is laid out: a suit's key by where its cards are, and knots by cards left."""

from cardsharp.deadmansdraw.strategies.search.sets import RANKS, SUITS

KNOTS = (0, 8, 16, 48)  # cards left for which V is learned; in between it is interpolated
KNOT_PARTS = 32
TOPS = RANKS + 1
LEFTS = 51
ONE = 1 << 21  # 1.0 of a sum

MOVER, OTHER, PILE = 1, 2, 3
"""Where a card is, as the base-4 digit of its suit's key; 0 is the discard pile."""
PLACE_DIGIT = tuple(1 << 2 * rank for rank in range(RANKS))
KEYS = 1 << 2 * RANKS
_SPREAD = tuple(
    sum(digit for rank, digit in enumerate(PLACE_DIGIT) if mask >> rank & 1)
    for mask in range(1 << RANKS)
)
"""Each set of a suit's cards as a key in which all are in place 1."""
LYING = SUITS * KEYS  # added to a key whose suit lies in the play area


def knot_of(left: int) -> tuple[int, int]:
    """The knot below `left` cards, and how many of 32 parts lie between it and the next."""
    if left < 16:  # noqa: PLR2004 (KNOTS)
        return left // 8, left % 8 * 4
    return 2, min(left - 16, KNOT_PARTS)


def suit_key(suit: int, mover: int, other: int, pile: int) -> int:
    """The key of a suit whose cards are in these places, each a set of its own six."""
    return suit * KEYS + MOVER * _SPREAD[mover] + OTHER * _SPREAD[other] + PILE * _SPREAD[pile]
