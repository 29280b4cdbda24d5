"""A player's bank: stacks of banked cards, one a suit.

The order matters twice: the server's autopick and the recorded opponents take "the first suit",
which is the suit that entered the bank first, and a suit whose last card leaves loses its place
(docs/spec/arena.md sections 4 and 7).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cardsharp.deadmansdraw.cards import Card


@dataclass(frozen=True, slots=True)
class Bank:
    """Immutable stacks in order of entry: `(suit, values in the order they were banked)`."""

    stacks: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def __iter__(self) -> Iterator[Card]:
        """The cards, suit by suit in order of entry, then in the order they were banked."""
        return (Card(suit, value) for suit, values in self.stacks for value in values)

    def __len__(self) -> int:
        """Number of cards."""
        return sum(len(values) for _, values in self.stacks)

    def __contains__(self, card: object) -> bool:
        return any(card == mine for mine in self)

    @property
    def suits(self) -> tuple[str, ...]:
        """The suits held, in order of entry."""
        return tuple(suit for suit, _ in self.stacks)

    @property
    def score(self) -> int:
        """Points: the sum of the highest card of each suit (docs/spec/arena.md section 5)."""
        return sum(max(values) for _, values in self.stacks)

    def tops(self) -> tuple[Card, ...]:
        """The highest card of each suit, in order of entry: what an effect may touch."""
        return tuple(Card(suit, max(values)) for suit, values in self.stacks)

    def top(self, suit: str) -> int:
        """Value of the highest card of `suit`, 0 where the suit is not held."""
        return max((max(values) for held, values in self.stacks if held == suit), default=0)

    def with_cards(self, cards: Iterable[Card]) -> "Bank":
        """This bank after `cards` were banked in their order."""
        stacks = dict(self.stacks)
        for suit, value in cards:
            stacks[suit] = (*stacks.get(suit, ()), value)
        return Bank(tuple(stacks.items()))

    def without(self, card: Card) -> "Bank":
        """This bank without `card`, and a suit left empty without a place; raises `KeyError`."""
        if card not in self:
            raise KeyError(card)
        stacks = dict(self.stacks)
        rest = list(stacks[card.suit])
        rest.remove(card.value)
        stacks[card.suit] = tuple(rest)
        return Bank(tuple((suit, values) for suit, values in stacks.items() if values))


def bank_of(cards: Iterable[Card]) -> Bank:
    """A bank into which `cards` were banked in their order."""
    return Bank().with_cards(cards)
