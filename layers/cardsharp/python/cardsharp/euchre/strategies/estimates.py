"""Rules of thumb: what a hand is worth as the caller's, and what to lay aside."""

from collections.abc import Iterable

from cardsharp.euchre.cards import ACE, SUITS, Card, Suit, rank_of, strength, suit_of
from cardsharp.euchre.strategies.layout import layout


def tricks(hand: Iterable[Card], trump: Suit) -> float:
    """How many tricks a caller may expect from five cards with that trump suit."""
    cards = layout(trump)
    return cards.worth(cards.mask(hand)) / 1000


def discard_first(hand: Iterable[Card], trump: Suit) -> list[Card]:
    """The cards of a hand, those that are missed least first.

    Low cards go before high ones and trumps last; the only card of a side suit goes before others
    of its rank or two higher, for it leaves a void to trump with.
    """
    held = list(hand)
    lengths = {suit: sum(suit_of(card, trump) == suit for card in held) for suit in SUITS}
    trumps = lengths[trump]

    def price(card: Card) -> tuple[float, int]:
        suit = suit_of(card, trump)
        if suit == trump:
            return 20.0 + strength(card, trump, trump), card
        rank = rank_of(card)
        lonely = lengths[suit] == 1 and trumps > 0 and rank != ACE
        return rank - (2.5 if lonely else 0.0), card

    return sorted(held, key=price)
