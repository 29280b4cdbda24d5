"""Deck of Blef: 24 cards of six ranks in four suits (docs/spec/blef.md section 1)."""

from collections.abc import Iterable
from typing import NamedTuple

RANKS = ("9", "10", "J", "Q", "K", "A")  # the ranks in ascending order; a card has the index
# the suits in ascending order; a card has the index
SUITS = ("clubs", "diamonds", "hearts", "spades")


class BlefCard(NamedTuple):
    """Card of Blef. Both fields are indices, as in the API."""

    value: int
    suit: int

    def __str__(self) -> str:
        return f"{RANKS[self.value]} of {SUITS[self.suit]}"


Hand = tuple[BlefCard, ...]  # cards of one player, in the order of `sort_hand`
DECK: Hand = tuple(BlefCard(value, colour) for value in range(6) for colour in range(4))
"""All 24 cards in ascending order."""


def sort_hand(cards: Iterable[BlefCard]) -> Hand:
    """Return the cards in the order in which a hand is shown: the highest first."""
    return tuple(sorted(cards, reverse=True))
