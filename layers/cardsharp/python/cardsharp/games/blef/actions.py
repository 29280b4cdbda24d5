"""Blef actions: the 88 bets and the check (docs/spec/blef.md sections 1 and 4).

An action is its id. The bets are numbered by seniority, so a more senior bet has a higher id. Every
bet says "at least": it holds, too, if the cards in play contain more than it claims.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import permutations

from cardsharp.games.blef.cards import RANKS, SUITS, BlefCard

CHECK = 88  # the action that ends a round
LOST_MARKER = 89  # not an action: in histories it marks the player who lost the round
_RANK_NAMES = ("9", "10", "jack", "queen", "king", "ace")
_RANK_NAMES_PLURAL = ("9s", "10s", "jacks", "queens", "kings", "aces")
_STRAIGHTS = (
    ("Small straight", "9-K", range(5)),
    ("Big straight", "10-A", range(1, 6)),
    ("Great straight", "9-A", range(6)),
)
_FLUSH_SIZE = 5
_RANK_INDEXES = range(len(RANKS))


@dataclass(frozen=True, slots=True)
class Bet:
    """Claim about all cards in play together.

    It holds if there are at least as many cards of each rank and suit as it says, and all of its
    `cards`. `rank_counts` and `suit_counts` are pairs of an index and a number of cards.
    """

    name: str
    rank_counts: tuple[tuple[int, int], ...] = ()
    suit_counts: tuple[tuple[int, int], ...] = ()
    cards: frozenset[BlefCard] = frozenset()

    @property
    def size(self) -> int:
        """Number of cards in the smallest pool in which the bet can hold."""
        counted = sum(count for _, count in (*self.rank_counts, *self.suit_counts))
        return counted + len(self.cards)

    def holds(self, cards: Collection[BlefCard]) -> bool:
        """Return True if the bet holds for these cards."""
        if len(cards) < self.size:
            return False
        values = Counter(card.value for card in cards)
        colours = Counter(card.suit for card in cards)
        return (
            all(values[value] >= count for value, count in self.rank_counts)
            and all(colours[colour] >= count for colour, count in self.suit_counts)
            and self.cards.issubset(cards)
        )


def _iter_rank_bets() -> Iterator[Bet]:
    """Yield the bets on ranks alone up to the full houses, by seniority."""
    yield from (Bet(f"High card, {_RANK_NAMES[x]}", ((x, 1),)) for x in _RANK_INDEXES)
    yield from (Bet(f"Pair of {_RANK_NAMES_PLURAL[x]}", ((x, 2),)) for x in _RANK_INDEXES)
    for x in _RANK_INDEXES:
        for y in range(x):
            yield Bet(
                f"Two pair, {_RANK_NAMES_PLURAL[x]} and {_RANK_NAMES_PLURAL[y]}", ((x, 2), (y, 2))
            )
    for name, span, values in _STRAIGHTS:
        yield Bet(f"{name} ({span})", tuple((value, 1) for value in values))
    yield from (Bet(f"Three of a kind, {_RANK_NAMES_PLURAL[x]}", ((x, 3),)) for x in _RANK_INDEXES)
    for x, y in permutations(_RANK_INDEXES, 2):
        yield Bet(
            f"Full house, {_RANK_NAMES_PLURAL[x]} over {_RANK_NAMES_PLURAL[y]}", ((x, 3), (y, 2))
        )


def _iter_bets_above_full_house() -> Iterator[Bet]:
    """Yield the bets above the full houses, by seniority."""
    for colour, of in enumerate(SUITS):
        yield Bet(f"Flush, {of}", suit_counts=((colour, _FLUSH_SIZE),))
    yield from (Bet(f"Four of a kind, {_RANK_NAMES_PLURAL[x]}", ((x, 4),)) for x in _RANK_INDEXES)
    for name, span, values in _STRAIGHTS:
        for colour, of in enumerate(SUITS):
            cards = frozenset(BlefCard(value, colour) for value in values)
            yield Bet(f"{name} flush ({span}), {of}", cards=cards)


# all 88 bets; the index is the id of the action
BETS: tuple[Bet, ...] = (*_iter_rank_bets(), *_iter_bets_above_full_house())


def action_name(action: int) -> str:
    """Return the name of an action in words, also of the marker of a lost round."""
    if action == CHECK:
        return "Check"
    return "Lost the round" if action == LOST_MARKER else BETS[action].name
