"""The 24 cards of Blef: six values in four colours (docs/spec/blef.md section 1)."""

from collections.abc import Iterable
from typing import NamedTuple

RANKS = ("9", "10", "J", "Q", "K", "A")  # the values in their order; a card holds the index
SUITS = ("clubs", "diamonds", "hearts", "spades")  # in order; a card holds the index


class BlefCard(NamedTuple):
    """One card; both fields are indices, as in the API."""

    value: int
    suit: int

    def __str__(self) -> str:
        return f"{RANKS[self.value]} of {SUITS[self.suit]}"


Hand = tuple[BlefCard, ...]  # cards of one player, in the order of `sort_hand`
DECK: Hand = tuple(BlefCard(value, colour) for value in range(6) for colour in range(4))
"""Every card once, ascending."""


def sort_hand(cards: Iterable[BlefCard]) -> Hand:
    """The cards as a hand is always shown: highest value first, then highest colour."""
    return tuple(sorted(cards, reverse=True))
