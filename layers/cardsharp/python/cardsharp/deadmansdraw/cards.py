"""The cards of Dead Man's Draw, and the two decks it is played with.

The competition's rule book speaks of 9 suits and 54 cards; the server that was really played on
has a tenth, the Mermaid, and 60 cards (docs/spec/arena.md section 7). Both are here.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class Suit(StrEnum):
    """The ten suits, in the server's order (docs/spec/arena.md section 8)."""

    ANCHOR = "Anchor"
    HOOK = "Hook"
    CANNON = "Cannon"
    KEY = "Key"
    CHEST = "Chest"
    MAP = "Map"
    ORACLE = "Oracle"
    SWORD = "Sword"
    KRAKEN = "Kraken"
    MERMAID = "Mermaid"


class Card(NamedTuple):
    """One card.

    `suit` is a `Suit` where it is known; a suit that a newer server invents is kept as the plain
    string it came as and plays as a card without an effect.
    """

    suit: str
    value: int

    def __str__(self) -> str:
        return f"{self.suit}{self.value}"


SUIT_ORDER: tuple[Suit, ...] = tuple(Suit)  # suits in the order in which the server lists them


def values_of(suit: Suit) -> range:
    """The six values of a suit: 2 to 7, and 4 to 9 for the Mermaid."""
    return range(4, 10) if suit is Suit.MERMAID else range(2, 8)


def _deck(suits: tuple[Suit, ...]) -> tuple[Card, ...]:
    return tuple(Card(suit, value) for suit in suits for value in values_of(suit))


SERVER_DECK: tuple[Card, ...] = _deck(SUIT_ORDER)  # 60 cards: ten suits, values ascending
RULEBOOK_DECK: tuple[Card, ...] = _deck(tuple(s for s in Suit if s is not Suit.MERMAID))
"""The 54 cards of the rule book: nine suits, values ascending."""

_ORDER = {card: index for index, card in enumerate(SERVER_DECK)}


def deck_order(card: Card) -> tuple[int, str, int]:
    """What cards are sorted by: their places in the server's deck, strange cards behind."""
    return _ORDER.get(card, len(_ORDER)), card.suit, card.value


def lowest_of_each_suit(deck: tuple[Card, ...]) -> tuple[Card, ...]:
    """The discard pile that a match starts with: the lowest card of each suit, in deck order."""
    lowest: dict[str, int] = {}
    for card in deck:
        lowest[card.suit] = min(card.value, lowest.get(card.suit, card.value))
    return tuple(Card(suit, lowest[suit]) for suit in SUIT_ORDER if suit in lowest)


def saved_by_anchor(area: Sequence[Card]) -> int:
    """How many cards of a play area a bust leaves to its player: those before the first Anchor."""
    suits = [card.suit for card in area]
    return suits.index(Suit.ANCHOR) if Suit.ANCHOR in suits else 0


def without(deck: tuple[Card, ...], removed: tuple[Card, ...]) -> tuple[Card, ...]:
    """`deck` in order, without the cards in `removed`."""
    gone = set(removed)
    return tuple(card for card in deck if card not in gone)
