"""What is legal and harmless when no strategy answers."""

from cardsharp.euchre.actions import Action, Bid, Defend, Discard, Play
from cardsharp.euchre.cards import Card, Suit, rank_of, strength, suit_of
from cardsharp.euchre.view import View


def safe_choice(view: View) -> Action:
    """A pass, no lone defence, or the lowest of the cards."""
    first = view.choices[0]
    if isinstance(first, Bid | Defend):
        return first
    cards = {one.card: one for one in view.choices if isinstance(one, Discard | Play)}
    return cards[lowest(tuple(cards), view.table.trump)]


def lowest(cards: tuple[Card, ...], trump: Suit | None = None) -> Card:
    """The lowest card, trumps last where they are known."""

    def height(card: Card) -> tuple[int, int]:
        if trump is None or suit_of(card, trump) != trump:
            return rank_of(card), card
        return strength(card, trump, trump), card

    return min(cards, key=height)
