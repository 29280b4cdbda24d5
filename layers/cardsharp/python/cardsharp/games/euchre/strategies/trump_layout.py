"""Cards as bits, laid out for one trump suit, for thousands of simulated deals a second.

The 24 cards are ordered by suit, with trumps at the top, and higher cards on higher bits. So the
winner of a trick is the greatest of a few integers.
"""

from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from cardsharp.games.euchre.cards import (
    ACE,
    DECK,
    KING,
    SUITS,
    Card,
    Suit,
    rank_of,
    suit_of,
    trick_strength,
)

CardMask = int  # a set of cards of one layout
MAX_CACHED_RESULTS = 8_192
"""Results that each of two caches of a trump suit keeps, 15 MB for all suits together.

With 200,000 they took 370 MB after 20 games and were no faster: what a search needs again it needs
soon.
"""

_VALUE_BY_TRUMP = {17: 1000, 16: 900, 15: 750, 14: 600, 13: 500, 11: 450, 10: 400}
"""Value of a trump in thousandths of a trick, by its `strength`: right bower to nine."""

# extra value of a number of trumps, beyond the values of the cards
_LENGTH_BONUS = (0, 0, 0, 150, 450, 900)
_BARE_ACE_VALUE, _GUARDED_ACE_VALUE = 600, 450
_KING_VALUE = 120
_VOID_VALUE = 250


class TrumpLayout:
    """Layout of the cards for one trump suit, and the value of hands with it.

    `card` lists the cards from the lowest bit up, and `bit` maps them back. `suit` maps a bit to
    the mask of its suit; `sides` are the masks of the three other suits. `moves` returns the
    distinct cards, high ones first: the first of each of the `equivalent_groups` of legal and
    present cards. `spare` returns the best discard of a hand.
    """

    def __init__(self, trump: Suit) -> None:
        def place(card: Card) -> tuple[bool, Suit, int]:
            suit = suit_of(card, trump)
            return suit == trump, suit, trick_strength(card, trump, suit)

        self.trump = trump
        self.card = tuple(sorted(DECK, key=place))
        self.bit: dict[Card, CardMask] = {card: 1 << spot for spot, card in enumerate(self.card)}
        suits = {
            suit: self.to_mask(card for card in DECK if suit_of(card, trump) == suit)
            for suit in SUITS
        }
        self.trumps = suits[trump]
        self.sides = tuple(suits[suit] for suit in SUITS if suit != trump)
        self.suit: dict[CardMask, CardMask] = {
            bit: suits[suit_of(card, trump)] for card, bit in self.bit.items()
        }
        self.number: dict[CardMask, Card] = {bit: card for card, bit in self.bit.items()}
        self._masks_by_byte = tuple(
            tuple(
                self.to_mask(8 * byte_index + bit for bit in range(8) if byte >> bit & 1)
                for byte in range(256)
            )
            for byte_index in range(3)
        )
        remembered = lru_cache(MAX_CACHED_RESULTS)
        self.moves: Callable[[CardMask, CardMask], tuple[CardMask, ...]] = remembered(
            lambda legal, present: tuple(
                block[0] for block in self.equivalent_groups(legal, present)
            )
        )
        self.spare: Callable[[CardMask], CardMask] = remembered(
            lambda hand: self.best_discard(hand, hand)
        )
        self._trump_shift = len(DECK) - self.trumps.bit_count()
        self._trump_values = _compute_trump_values(self)
        self._discard_price = {bit: 64 * rank_of(card) + card for bit, card in self.number.items()}
        self._bare_discard_price = {
            bit: price - (160 if rank_of(self.number[bit]) != ACE else 0)
            for bit, price in self._discard_price.items()
        }

    def to_mask(self, cards: Iterable[Card]) -> CardMask:
        """Return the bit mask of cards in this layout."""
        return sum(self.bit[card] for card in cards)

    def mask_from_card_set(self, cards: int) -> CardMask:
        """Convert a set with a bit for each card's number to a mask of this layout."""
        low, middle, high = self._masks_by_byte
        return low[cards & 255] | middle[cards >> 8 & 255] | high[cards >> 16]

    def equivalent_groups(self, legal: CardMask, present: CardMask) -> list[tuple[CardMask, ...]]:
        """Return the legal cards in groups of neighbours, the highest first.

        Cards are neighbours if no `present` card (in a hand or in the trick) is between them.
        Neighbours win the same tricks, so a search needs only one of each group.
        """
        groups = []
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
            groups.append(tuple(block))
        return groups

    def expected_caller_tricks(self, hand: CardMask) -> int:
        """Return the expected tricks of a caller with these five cards, in thousandths."""
        worth, sides = self._trump_values[hand >> self._trump_shift]
        first, two, three = self.sides
        return worth + sides[hand & first] + sides[hand & two] + sides[hand & three]

    def best_discard(self, hand: CardMask, candidates: CardMask) -> CardMask:
        """Return the best discard of the candidates.

        Low cards go before high ones and trumps last. The only card of a side suit goes before
        other cards of its rank or up to two ranks higher, because it leaves a void to trump
        with.
        """
        trumps = hand & self.trumps
        discard, lowest = 0, 0
        for suit in self.sides:
            suit_cards = hand & suit & candidates
            low = suit_cards & -suit_cards
            if suit_cards:
                lonely = trumps and low == hand & suit
                price = self._bare_discard_price[low] if lonely else self._discard_price[low]
                if not discard or price < lowest:
                    discard, lowest = low, price
        return discard or trumps & candidates & -(trumps & candidates)


def _iter_subsets(mask: CardMask) -> Iterable[CardMask]:
    subset = mask
    while subset:
        yield subset
        subset = (subset - 1) & mask
    yield 0


def _compute_side_values(cards: TrumpLayout, void_value: int) -> dict[CardMask, int]:
    """Return the value of each exact holding in a side suit, for all three side suits."""
    worth = {holding: 0 for suit in cards.sides for holding in _iter_subsets(suit)}
    for holding in worth:
        highest = rank_of(cards.card[holding.bit_length() - 1]) if holding else None
        if highest == ACE:
            worth[holding] = _GUARDED_ACE_VALUE if holding & (holding - 1) else _BARE_ACE_VALUE
        elif highest == KING:
            worth[holding] = _KING_VALUE
    worth[0] = void_value
    return worth


def _compute_trump_values(cards: TrumpLayout) -> list[tuple[int, dict[CardMask, int]]]:
    """Return, by holding of trumps, its value and the values of the side suits with it."""
    side_values = _compute_side_values(cards, 0), _compute_side_values(cards, _VOID_VALUE)
    worth: list[tuple[int, dict[CardMask, int]]] = []
    values = list(_VALUE_BY_TRUMP.values())[::-1]
    for holding in range(1 << len(values)):
        trump_count = holding.bit_count()
        total = sum(value for spot, value in enumerate(values) if holding >> spot & 1)
        worth.append((total + _LENGTH_BONUS[min(trump_count, 5)], side_values[trump_count > 1]))
    return worth


@cache  # an entry for each suit
def trump_layout(trump: Suit) -> TrumpLayout:
    """Return the layout of a trump suit, which is built once."""
    return TrumpLayout(trump)
