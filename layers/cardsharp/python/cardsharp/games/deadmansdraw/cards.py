"""Cards of Dead Man's Draw, the two decks, and the bank of a player.

The competition's rule book has 9 suits and 54 cards. The server on which the competition was played
has a tenth suit, the Mermaid, and 60 cards (docs/spec/arena.md section 7). This module has both
decks.

A bank has one stack of banked cards for each suit. The order of the stacks matters: the server's
autopick and the recorded opponents take "the first suit", the one that entered the bank first. A
suit whose last card leaves loses its place (docs/spec/arena.md sections 4 and 7).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
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
    """Card of a suit and a value.

    `suit` is a `Suit` if it is known. A suit of a newer server stays a plain string, and the card
    plays as one without an effect.
    """

    suit: str
    value: int

    def __str__(self) -> str:
        return f"{self.suit}{self.value}"


SUIT_ORDER: tuple[Suit, ...] = tuple(Suit)  # suits in the order in which the server lists them


def values_of(suit: Suit) -> range:
    """Return the six values of a suit: 2 to 7, and 4 to 9 for the Mermaid."""
    return range(4, 10) if suit is Suit.MERMAID else range(2, 8)


def _build_deck(suits: tuple[Suit, ...]) -> tuple[Card, ...]:
    return tuple(Card(suit, value) for suit in suits for value in values_of(suit))


SERVER_DECK: tuple[Card, ...] = _build_deck(SUIT_ORDER)  # 60 cards: ten suits, values ascending
RULEBOOK_DECK: tuple[Card, ...] = _build_deck(tuple(s for s in Suit if s is not Suit.MERMAID))
"""The 54 cards of the rule book: nine suits, values ascending."""

_CARD_ORDER = {card: index for index, card in enumerate(SERVER_DECK)}


def deck_sort_key(card: Card) -> tuple[int, str, int]:
    """Return the sort key of a card: its place in the server's deck, unknown cards last."""
    return _CARD_ORDER.get(card, len(_CARD_ORDER)), card.suit, card.value


def lowest_of_each_suit(deck: tuple[Card, ...]) -> tuple[Card, ...]:
    """Return the discard pile at the start: the lowest card of each suit, in deck order."""
    return tuple(min(cards) for _, cards in groupby(deck, key=lambda card: card.suit))


def anchored_count(area: Sequence[Card]) -> int:
    """Return how many cards of a play area survive a bust: those before the first Anchor."""
    suits = [card.suit for card in area]
    return suits.index(Suit.ANCHOR) if Suit.ANCHOR in suits else 0


def cards_without(deck: tuple[Card, ...], removed: tuple[Card, ...]) -> tuple[Card, ...]:
    """Return `deck` in order, without the cards in `removed`."""
    removed_cards = set(removed)
    return tuple(card for card in deck if card not in removed_cards)


@dataclass(frozen=True, slots=True)
class Bank:
    """Immutable stacks in order of entry: each a suit, and its values in the order of banking."""

    stacks: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def __iter__(self) -> Iterator[Card]:
        """Yield the cards, suit by suit in order of entry, then in the order they were banked."""
        return (Card(suit, value) for suit, values in self.stacks for value in values)

    def __len__(self) -> int:
        """Return the number of cards."""
        return sum(len(values) for _, values in self.stacks)

    def __contains__(self, card: object) -> bool:
        return isinstance(card, Card) and any(
            card.suit == suit and card.value in values for suit, values in self.stacks
        )

    @property
    def suits(self) -> tuple[str, ...]:
        """Suits in the bank, in order of entry."""
        return tuple(suit for suit, _ in self.stacks)

    @property
    def score(self) -> int:
        """Points: the sum of the highest card of each suit (docs/spec/arena.md section 5)."""
        return sum(max(values) for _, values in self.stacks)

    def top_cards(self) -> tuple[Card, ...]:
        """Return the highest card of each suit, in order of entry: the targets of effects."""
        return tuple(Card(suit, max(values)) for suit, values in self.stacks)

    def top_value(self, suit: str) -> int:
        """Return the value of the highest card of `suit`, 0 if the bank has none."""
        return max(
            (max(values) for stack_suit, values in self.stacks if stack_suit == suit), default=0
        )

    def with_cards(self, cards: Iterable[Card]) -> "Bank":
        """Return this bank after `cards` were banked in their order."""
        stacks = dict(self.stacks)
        for suit, value in cards:
            stacks[suit] = (*stacks.get(suit, ()), value)
        return Bank(tuple(stacks.items()))

    def without(self, card: Card) -> "Bank":
        """Return this bank without `card`. A suit without cards loses its place.

        Raises `KeyError` if the bank does not have the card.
        """
        stacks = dict(self.stacks)
        rest = list(stacks.get(card.suit, ()))
        if card.value not in rest:
            raise KeyError(card)
        rest.remove(card.value)
        stacks[card.suit] = tuple(rest)
        return Bank(tuple((suit, values) for suit, values in stacks.items() if values))


def bank_from_cards(cards: Iterable[Card]) -> Bank:
    """Return a bank into which `cards` were banked in their order."""
    return Bank().with_cards(cards)
