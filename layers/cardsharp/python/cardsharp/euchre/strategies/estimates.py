"""Rules of thumb: what a hand is worth as the caller's, and what to lay aside."""

from collections.abc import Iterable

from cardsharp.euchre.cards import ACE, KING, SUITS, Card, Suit, rank_of, strength, suit_of

_TRUMP_WORTH = {17: 1.0, 16: 0.9, 15: 0.75, 14: 0.6, 13: 0.5, 11: 0.45, 10: 0.4}
"""Tricks to expect of a trump by its `strength`, from the right bower to the nine."""

_LENGTH = (0.0, 0.0, 0.0, 0.15, 0.45, 0.9)
"""What a number of trumps adds beyond each card's own worth."""

_BARE_ACE, _GUARDED_ACE = 0.6, 0.45
_KING = 0.12
_VOID = 0.25


def tricks(hand: Iterable[Card], trump: Suit) -> float:
    """How many tricks a caller may expect from five cards with that trump suit."""
    suits: dict[Suit, list[Card]] = {suit: [] for suit in SUITS}
    for card in hand:
        suits[suit_of(card, trump)].append(card)
    trumps = suits.pop(trump)
    worth = sum(_TRUMP_WORTH[strength(card, trump, trump)] for card in trumps)
    worth += _LENGTH[len(trumps)]
    for cards in suits.values():
        ranks = {rank_of(card) for card in cards}
        if ACE in ranks:
            worth += _BARE_ACE if len(cards) == 1 else _GUARDED_ACE
        elif KING in ranks:
            worth += _KING
        elif not cards and len(trumps) > 1:
            worth += _VOID
    return worth


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
