"""Blef actions: the 88 bets and the check (docs/spec/blef.md sections 1 and 4).

An action is its id. The bets are numbered by seniority, so a higher id is a more senior bet.
Every bet says "at least": a pool that holds more than is claimed still holds the claim.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import permutations

from cardsharp.games.blef.cards import RANKS, SUITS, BlefCard

CHECK = 88  # the action that ends a round
LOST_MARKER = 89  # in histories only: this player lost the round
_RANK_NAMES = ("9", "10", "jack", "queen", "king", "ace")
_RANK_NAMES_PLURAL = ("9s", "10s", "jacks", "queens", "kings", "aces")
_STRAIGHTS = (
    ("Small straight", "9-K", range(5)),
    ("Big straight", "10-A", range(1, 6)),
    ("Great straight", "9-A", range(6)),
)
_FLUSH_SIZE = 5
_SIX = range(len(RANKS))


@dataclass(frozen=True, slots=True)
class Bet:
    """A claim about all cards in play together.

    It holds if there are at least so many cards of each of these values and colours, and all
    of these cards.
    """

    name: str
    rank_counts: tuple[tuple[int, int], ...] = ()
    suit_counts: tuple[tuple[int, int], ...] = ()
    cards: frozenset[BlefCard] = frozenset()

    @property
    def size(self) -> int:
        """Cards of the smallest pool in which the bet can hold."""
        counted = sum(count for _, count in (*self.rank_counts, *self.suit_counts))
        return counted + len(self.cards)

    def holds(self, cards: Collection[BlefCard]) -> bool:
        """Return True if the bet is true of these cards."""
        if len(cards) < self.size:
            return False
        values = Counter(card.value for card in cards)
        colours = Counter(card.suit for card in cards)
        return (
            all(values[value] >= count for value, count in self.rank_counts)
            and all(colours[colour] >= count for colour, count in self.suit_counts)
            and self.cards.issubset(cards)
        )


def _of_values() -> Iterator[Bet]:
    """The bets on values alone, up to the full houses, by seniority."""
    yield from (Bet(f"High card, {_RANK_NAMES[x]}", ((x, 1),)) for x in _SIX)
    yield from (Bet(f"Pair of {_RANK_NAMES_PLURAL[x]}", ((x, 2),)) for x in _SIX)
    for x in _SIX:
        for y in range(x):
            yield Bet(
                f"Two pair, {_RANK_NAMES_PLURAL[x]} and {_RANK_NAMES_PLURAL[y]}", ((x, 2), (y, 2))
            )
    for name, span, values in _STRAIGHTS:
        yield Bet(f"{name} ({span})", tuple((value, 1) for value in values))
    yield from (Bet(f"Three of a kind, {_RANK_NAMES_PLURAL[x]}", ((x, 3),)) for x in _SIX)
    for x, y in permutations(_SIX, 2):
        yield Bet(
            f"Full house, {_RANK_NAMES_PLURAL[x]} over {_RANK_NAMES_PLURAL[y]}", ((x, 3), (y, 2))
        )


def _above_full_houses() -> Iterator[Bet]:
    """The other bets, by seniority."""
    for colour, of in enumerate(SUITS):
        yield Bet(f"Flush, {of}", suit_counts=((colour, _FLUSH_SIZE),))
    yield from (Bet(f"Four of a kind, {_RANK_NAMES_PLURAL[x]}", ((x, 4),)) for x in _SIX)
    for name, span, values in _STRAIGHTS:
        for colour, of in enumerate(SUITS):
            cards = frozenset(BlefCard(value, colour) for value in values)
            yield Bet(f"{name} flush ({span}), {of}", cards=cards)


BETS: tuple[Bet, ...] = (*_of_values(), *_above_full_houses())  # the 88, by the action's id


def action_name(action: int) -> str:
    """The action in words, also where it is the mark of a lost round."""
    if action == CHECK:
        return "Check"
    return "Lost the round" if action == LOST_MARKER else BETS[action].name
