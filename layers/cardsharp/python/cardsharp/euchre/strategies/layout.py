"""Cards as bits, laid out for one trump suit: what makes thousands of deals a second possible.

The 24 cards lie suit by suit, trumps on top and higher cards on higher bits, so that the winner of
a trick is the greatest of a few integers.
"""

from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from cardsharp.euchre.cards import ACE, DECK, KING, SUITS, Card, Suit, rank_of, strength, suit_of

Mask = int  # a set of cards of one layout
_MOST_KNOWN = 200_000  # remembered answers, some 40 MB
_TRUMP_WORTH = {17: 1000, 16: 900, 15: 750, 14: 600, 13: 500, 11: 450, 10: 400}
"""Thousandths of a trick to expect of a trump by its `strength`, right bower to nine."""

_LENGTH = (0, 0, 0, 150, 450, 900)  # what a number of trumps adds beyond each card's own worth
_BARE_ACE, _GUARDED_ACE = 600, 450
_KING = 120
_VOID = 250


class Layout:
    """Where each card lies for one trump suit, and what a hand is worth with it.

    `card` lists the cards from the lowest bit up, `bit` is the reverse. `suit` is the whole suit
    of a bit, `sides` are the three that are not trumps. `moves` are the cards that differ, high
    ones first: of each of the `blocks` of legal and present cards the first. `spare` is the card
    of a hand that is missed least.
    """

    def __init__(self, trump: Suit) -> None:
        def place(card: Card) -> tuple[bool, Suit, int]:
            suit = suit_of(card, trump)
            return suit == trump, suit, strength(card, trump, suit)

        self.trump = trump
        self.card = tuple(sorted(DECK, key=place))
        self.bit: dict[Card, Mask] = {card: 1 << spot for spot, card in enumerate(self.card)}
        suits = {
            suit: self.mask(card for card in DECK if suit_of(card, trump) == suit) for suit in SUITS
        }
        self.trumps = suits[trump]
        self.sides = tuple(suits[suit] for suit in SUITS if suit != trump)
        self.suit: dict[Mask, Mask] = {
            bit: suits[suit_of(card, trump)] for card, bit in self.bit.items()
        }
        self.number: dict[Mask, Card] = {bit: card for card, bit in self.bit.items()}
        self._from = tuple(
            tuple(
                self.mask(8 * part + bit for bit in range(8) if byte >> bit & 1)
                for byte in range(256)
            )
            for part in range(3)
        )
        remembered = lru_cache(_MOST_KNOWN)
        self.moves: Callable[[Mask, Mask], tuple[Mask, ...]] = remembered(
            lambda legal, present: tuple(block[0] for block in self.blocks(legal, present))
        )
        self.spare: Callable[[Mask], Mask] = remembered(lambda hand: self.missed_first(hand, hand))
        self._shift = len(DECK) - self.trumps.bit_count()
        self._trump_worth = _trump_worth(self)
        self._price = {bit: 64 * rank_of(card) + card for bit, card in self.number.items()}
        self._bare_price = {
            bit: price - (160 if rank_of(self.number[bit]) != ACE else 0)
            for bit, price in self._price.items()
        }

    def mask(self, cards: Iterable[Card]) -> Mask:
        """The cards as a set."""
        return sum(self.bit[card] for card in cards)

    def of(self, cards: int) -> Mask:
        """The same for a set with a bit for each card's own number."""
        low, middle, high = self._from
        return low[cards & 255] | middle[cards >> 8 & 255] | high[cards >> 16]

    def blocks(self, legal: Mask, present: Mask) -> list[tuple[Mask, ...]]:
        """The legal cards in groups of neighbours, high ones first in each and among them.

        Cards are neighbours when nothing that is `present` (held, or in the trick) lies between.
        """
        found = []
        while legal:
            bit = 1 << (legal.bit_length() - 1)
            block = [bit]
            legal ^= bit
            below = present & (bit - 1) & self.suit[bit]
            while below:
                bit = 1 << (below.bit_length() - 1)
                if not bit & legal:
                    break
                block.append(bit)
                legal ^= bit
                below ^= bit
            found.append(tuple(block))
        return found

    def worth(self, hand: Mask) -> int:
        """Thousandths of tricks that a caller may expect of five cards with these trumps."""
        worth, sides = self._trump_worth[hand >> self._shift]
        one, two, three = self.sides
        return worth + sides[hand & one] + sides[hand & two] + sides[hand & three]

    def missed_first(self, hand: Mask, offered: Mask) -> Mask:
        """The card of those offered that a hand misses least.

        Low cards go before high ones and trumps last; the only card of a side suit goes before
        others of its rank or two higher, for it leaves a void to trump with.
        """
        trumps = hand & self.trumps
        found, lowest = 0, 0
        for suit in self.sides:
            held = hand & suit & offered
            low = held & -held
            if held:
                lonely = trumps and low == hand & suit
                price = self._bare_price[low] if lonely else self._price[low]
                if not found or price < lowest:
                    found, lowest = low, price
        return found or trumps & offered & -(trumps & offered)


def _subsets(mask: Mask) -> Iterable[Mask]:
    part = mask
    while part:
        yield part
        part = (part - 1) & mask
    yield 0


def _side_worth(cards: Layout, void: int) -> dict[Mask, int]:
    """What holding exactly these cards of a side suit is worth, for all three suits at once."""
    worth = {held: 0 for suit in cards.sides for held in _subsets(suit)}
    for held in worth:
        highest = rank_of(cards.card[held.bit_length() - 1]) if held else None
        if highest == ACE:
            worth[held] = _GUARDED_ACE if held & (held - 1) else _BARE_ACE
        elif highest == KING:
            worth[held] = _KING
    worth[0] = void
    return worth


def _trump_worth(cards: Layout) -> list[tuple[int, dict[Mask, int]]]:
    """By the trumps held: their worth, and what side suits are worth beside them."""
    beside = _side_worth(cards, 0), _side_worth(cards, _VOID)
    worth: list[tuple[int, dict[Mask, int]]] = []
    values = list(_TRUMP_WORTH.values())[::-1]
    for held in range(1 << len(values)):
        number = held.bit_count()
        total = sum(value for spot, value in enumerate(values) if held >> spot & 1)
        worth.append((total + _LENGTH[min(number, 5)], beside[number > 1]))
    return worth


@cache
def layout(trump: Suit) -> Layout:
    """The layout of a trump suit, made once."""
    return Layout(trump)
