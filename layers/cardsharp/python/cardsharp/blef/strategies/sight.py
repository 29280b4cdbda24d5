"""What a player of trained tables sees of a round: the row of a table, and the choices there.

What tells little is left out. With nine cards or fewer in play a flush is rare, so a hand is the
values of its cards, and a bet on colours is only ever checked. Of what was said there count the
last bet and the one before it.
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

MOST_CARDS = 9
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

    def row(self, role: int, values: Iterable[int], before: int, last: int) -> int:
        """The number of the row for these values in hand after two bets."""
        hands = hands_of(self.cards[role])
        place = self._place(before) * (len(self.bets) + 1) + self._place(last)
        return place * len(hands) + hands[tuple(sorted(values))]

    def _place(self, bet: int) -> int:
        return 0 if bet == OPENING else self.bets.index(bet) + 1

    def action(self, choice: int) -> int:
        """What a choice stands for: the check comes first, then the bets that the tables know."""
        return CHECK if choice == 0 else self.bets[choice - 1]


@cache
def hands_of(cards: int) -> dict[tuple[int, ...], int]:
    """All hands of so many cards by their values, ascending, and the number of each."""
    every = combinations_with_replacement(_SIX, cards)
    hands = (hand for hand in every if all(hand.count(v) <= len(COLOURS) for v in _SIX))
    return {hand: number for number, hand in enumerate(hands)}
