"""Cards as integers, and sets of cards as bit sets: the data of the search."""

from collections.abc import Iterable
from functools import lru_cache

from cardsharp.games.deadmansdraw.cards import SERVER_DECK, SUIT_ORDER, Card, Suit

RANKS = 6
SUITS = len(SUIT_ORDER)
NO_CARD = -1
ANCHOR, HOOK, CANNON, KEY, CHEST, MAP, ORACLE, SWORD, KRAKEN, MERMAID = range(SUITS)

CARD_NUMBER: dict[Card, int] = {card: number for number, card in enumerate(SERVER_DECK)}
"""Number of each card: 6 times the suit's place in the server's order, plus its rank."""

SUIT_OF: tuple[int, ...] = tuple(number // RANKS for number in range(len(SERVER_DECK)))
SUIT_BITS: tuple[int, ...] = tuple(0x3F << RANKS * suit for suit in range(SUITS))
SUIT_SHIFTS: tuple[tuple[int, int], ...] = tuple((suit, RANKS * suit) for suit in range(SUITS))
"""Each suit with the place of its lowest bit."""

CARD_BITS: tuple[tuple[int, ...], ...] = tuple(
    tuple(rank for rank in range(RANKS) if mask >> rank & 1) for mask in range(1 << RANKS)
)
"""Ranks in each set of a suit's cards, ascending."""

MIDDLE_CARD: tuple[int, ...] = tuple(
    ranks[len(ranks) // 2] if ranks else NO_CARD for ranks in CARD_BITS
)
"""Rank that represents each set of a suit's cards: the middle one, of two the upper one."""

SUITS_WITHOUT_EFFECT = frozenset({ANCHOR, KEY, CHEST, MERMAID})  # no effect when placed
_CACHE_SIZE = 1 << 14

TREASURE_BITS = tuple(SUIT_BITS[SUIT_ORDER.index(suit)] for suit in (Suit.CHEST, Suit.KEY))


def card_set(cards: Iterable[Card]) -> int:
    """Return the set of `cards`; raise `KeyError` if one is not in the server's deck."""
    bits = 0
    for card in cards:
        bits |= 1 << CARD_NUMBER[card]
    return bits


def card_numbers_in(cards: int) -> list[int]:
    """Return the numbers of the cards in a set, ascending."""
    numbers = []
    while cards:
        lowest = cards & -cards
        numbers.append(lowest.bit_length() - 1)
        cards ^= lowest
    return numbers


@lru_cache(maxsize=_CACHE_SIZE)
def top_cards(bank: int) -> tuple[int, ...]:
    """Return the highest card of each suit, ascending."""
    return tuple(
        shift + (bank >> shift & 0x3F).bit_length() - 1
        for _, shift in SUIT_SHIFTS
        if bank >> shift & 0x3F
    )


@lru_cache(maxsize=_CACHE_SIZE)
def bank_points(bank: int) -> int:
    """Return the points of a bank: the values of its tops."""
    return sum(SERVER_DECK[card].value for card in top_cards(bank))


@lru_cache(maxsize=_CACHE_SIZE)
def cards_of_same_suits(cards: int) -> int:
    """Return all cards of the suits of `cards`."""
    return sum(SUIT_BITS[SUIT_OF[card]] for card in top_cards(cards))


def sword_targets(own_bank: int, opponent_bank: int) -> list[int]:
    """Return the tops of `opponent_bank` whose suits are missing in `own_bank`."""
    return [card for card in top_cards(opponent_bank) if not own_bank & SUIT_BITS[SUIT_OF[card]]]


def holds_chest_and_key(cards: int) -> bool:
    """Return True if both a Chest and a Key are among `cards`."""
    return bool(cards & TREASURE_BITS[0] and cards & TREASURE_BITS[1])


class SplitMix64:
    """Random generator SplitMix64, which picks the same simulated bonus on any machine."""

    def __init__(self, state: int) -> None:
        self.state = state

    def below(self, limit: int) -> int:
        """Return a number from 0 up to but not including `limit`."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        return (mixed ^ (mixed >> 31)) * limit >> 64
