"""What a player of trained tables sees of a round: the row of a table, and the choices there.

What tells little is left out. With six cards or fewer in play a flush is all but out of reach, so
a hand is the values of its cards, and a bet on colours is only ever checked. Of what was said
there counts the last bet, and how many cards it claims beyond the bet before it.
The compiled trainer sees the same: research/blef/native/sight.c.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations_with_replacement

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import COLOURS, VALUES

OPENING = -1
"""The last bet where there is none."""

RELATIONS = 5
"""Classes of what a bet adds to the one before it; class 0 is for a bet with none before."""

MOST_CARDS = 6
"""In play, for which hands may be seen so."""

_SIX = range(len(VALUES))


@dataclass(frozen=True)
class Shape:
    """The rows of a round's tables; `cards` are those of who begins and of the other."""

    cards: tuple[int, int]

    @cached_property
    def bets(self) -> tuple[int, ...]:
        """The bets that the tables know."""
        fits = (number for number, bet in enumerate(BETS) if bet.size <= sum(self.cards))
        return tuple(number for number in fits if BETS[number].values)

    def rows(self, role: int) -> int:
        """How many rows a role's table can have."""
        return (len(BETS) + 1) * len(hands_of(self.cards[role])) * RELATIONS

    def row(self, role: int, values: Iterable[int], before: int, last: int) -> int:
        """The number of the row for these values in hand after two bets."""
        hands = hands_of(self.cards[role])
        place = (last + 1) * len(hands) + hands.index(tuple(sorted(values)))
        return place * RELATIONS + relation(before, last)

    def action(self, choice: int) -> int:
        """What a choice stands for: the check comes first, then the bets that the tables know."""
        return CHECK if choice == 0 else self.bets[choice - 1]


@cache
def hands_of(cards: int) -> tuple[tuple[int, ...], ...]:
    """All hands of so many cards by their values, ascending."""
    every = combinations_with_replacement(_SIX, cards)
    return tuple(hand for hand in every if all(hand.count(v) <= len(COLOURS) for v in _SIX))


@cache
def relation(before: int, last: int) -> int:
    """The class of how many cards a bet on values claims beyond those of the bet before it."""
    if OPENING in (before, last):
        return 0
    claimed = dict(BETS[before].values)
    more = sum(max(0, needed - claimed.get(value, 0)) for value, needed in BETS[last].values)
    return max(1, min(more, RELATIONS - 1))
