"""Cards as numbers, and sets of cards as the bits of one: what the search works on."""

from collections.abc import Iterable
from functools import lru_cache

from cardsharp.deadmansdraw.cards import SERVER_DECK, SUIT_ORDER, Card, Suit

RANKS = 6
SUITS = len(SUIT_ORDER)
NO_CARD = -1
ANCHOR, HOOK, CANNON, KEY, CHEST, MAP, ORACLE, SWORD, KRAKEN, MERMAID = range(SUITS)

NUMBER: dict[Card, int] = {card: number for number, card in enumerate(SERVER_DECK)}
"""A card's number is 6 times its suit's place in the server's order, plus its rank."""

SUIT_OF: tuple[int, ...] = tuple(number // RANKS for number in range(len(SERVER_DECK)))
SUIT_BITS: tuple[int, ...] = tuple(0x3F << RANKS * suit for suit in range(SUITS))
SHIFTS: tuple[tuple[int, int], ...] = tuple((suit, RANKS * suit) for suit in range(SUITS))
"""Every suit with the place of its lowest bit."""

BITS: tuple[tuple[int, ...], ...] = tuple(
    tuple(rank for rank in range(RANKS) if mask >> rank & 1) for mask in range(1 << RANKS)
)
"""The ranks in each set of a suit's cards, ascending."""

MIDDLE: tuple[int, ...] = tuple(ranks[len(ranks) // 2] if ranks else NO_CARD for ranks in BITS)
"""The rank that stands for each set of a suit's cards: the middle one, the upper of two."""

EFFECTLESS = frozenset({ANCHOR, KEY, CHEST, MERMAID})  # they do nothing when they come to lie
_KEPT = 1 << 14

TREASURE = tuple(SUIT_BITS[SUIT_ORDER.index(suit)] for suit in (Suit.CHEST, Suit.KEY))


def bits_of(cards: Iterable[Card]) -> int:
    """The set of `cards`; raises `KeyError` if a card is not of the server's deck."""
    found = 0
    for card in cards:
        found |= 1 << NUMBER[card]
    return found


def numbers_in(cards: int) -> list[int]:
    """The numbers of the cards in a set, ascending."""
    found = []
    while cards:
        lowest = cards & -cards
        found.append(lowest.bit_length() - 1)
        cards ^= lowest
    return found


@lru_cache(maxsize=_KEPT)
def tops(bank: int) -> tuple[int, ...]:
    """The highest card of each suit, ascending."""
    return tuple(
        shift + (bank >> shift & 0x3F).bit_length() - 1
        for _, shift in SHIFTS
        if bank >> shift & 0x3F
    )


@lru_cache(maxsize=_KEPT)
def worth_of(bank: int) -> int:
    """The points of a bank: the values of its tops."""
    return sum(SERVER_DECK[card].value for card in tops(bank))


@lru_cache(maxsize=_KEPT)
def suits_of(cards: int) -> int:
    """All cards of the suits of `cards`."""
    return sum(SUIT_BITS[SUIT_OF[card]] for card in tops(cards))


def sword_targets(own: int, other: int) -> list[int]:
    """The tops of `other` whose suits `own` lacks."""
    return [card for card in tops(other) if not own & SUIT_BITS[SUIT_OF[card]]]


def holds_treasure(cards: int) -> bool:
    """Whether a Chest and a Key are among `cards`."""
    return bool(cards & TREASURE[0] and cards & TREASURE[1])


class SplitMix:
    """SplitMix64: the seeded picks of a simulated bonus, the same on any machine."""

    def __init__(self, state: int) -> None:
        self.state = state

    def below(self, number: int) -> int:
        """A number from 0 up to but not including `number`."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        return (mixed ^ (mixed >> 31)) * number >> 64
