"""Layout of the weights: a suit's key by the places of its cards, and knots by pile size."""

from cardsharp.games.deadmansdraw.strategies.search.card_sets import RANKS, SUITS

KNOTS = (0, 8, 16, 48)  # sizes of the draw pile for which V is learned; others are interpolated
KNOT_STEPS = 32
TOP_VALUES = RANKS + 1
CARD_COUNTS = 51
FIXED_POINT_ONE = 1 << 21  # the value 1.0 of a sum

MOVER, OTHER, PILE = 1, 2, 3
"""Place of a card, as the base-4 digit of its suit's key; 0 is the discard pile."""
PLACE_DIGIT = tuple(1 << 2 * rank for rank in range(RANKS))
KEYS = 1 << 2 * RANKS
_SPREAD = tuple(
    sum(digit for rank, digit in enumerate(PLACE_DIGIT) if mask >> rank & 1)
    for mask in range(1 << RANKS)
)
"""Each set of a suit's cards as a key in which all are at place 1."""
PLAY_AREA_OFFSET = SUITS * KEYS  # added to a key whose suit lies in the play area


def knot_and_next_share(pile_count: int) -> tuple[int, int]:
    """Return the knot at or below a size of the draw pile, and the share of the next one.

    The share is in 32nds of the distance to the next knot.
    """
    if pile_count < 16:  # noqa: PLR2004 (KNOTS)
        return pile_count // 8, pile_count % 8 * 4
    return 2, min(pile_count - 16, KNOT_STEPS)


def suit_key(suit: int, mover_cards: int, other_cards: int, pile_cards: int) -> int:
    """Return the key of a suit. Each argument is the set of its six cards in that place."""
    return (
        suit * KEYS
        + MOVER * _SPREAD[mover_cards]
        + OTHER * _SPREAD[other_cards]
        + PILE * _SPREAD[pile_cards]
    )
