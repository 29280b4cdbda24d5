"""What a player of trained tables sees of a round: the row of a table, and the choices there.

What tells little is left out. With nine cards or fewer in play a flush is rare, so a hand is the
values of its cards, and a bet on colours is only ever checked. Of what was said there count the
last two bets, and of the one before these its class; with four cards in play each bet is a class
of its own. A full house is nearly always checked: once one was bet, only the last bet counts.
The compiled trainer sees the same: research/blef/native/sight.c.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations_with_replacement

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import COLOURS, VALUES

OPENING = -1  # the last bet where there is none
MOST_CARDS = 9  # in play, for which hands may be seen so
_FEW = 4  # cards in play with which all is known of the bet before the last two
_PAIRS = 2
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

    @cached_property
    def high(self) -> int:
        """How many bets come before the first full house."""
        bets = map(BETS.__getitem__, self.bets)
        houses = (
            place
            for place, bet in enumerate(bets)
            if len(bet.values) == _PAIRS and bet.size > 2 * _PAIRS
        )
        return next(houses, len(self.bets))

    @cached_property
    def classes(self) -> int:
        """Of how many classes the bet before the last two may be."""
        return 1 + max(self.class_of(bet) for bet in self.bets)

    def class_of(self, bet: int) -> int:
        """What is known of a bet after two more, 0 where that is nothing."""
        if bet == OPENING or bet not in self._places:
            return 0
        return self._places[bet] if sum(self.cards) <= _FEW else _class_of(bet)

    def row(self, role: int, values: Iterable[int], bets: Sequence[int]) -> int:
        """The number of the row for these values in hand after these last three bets."""
        hands = hands_of(self.cards[role])
        third, before, last = bets
        if self._places[last] > self.high:
            third = before = OPENING
        place = self._places[before] * self.classes + self.class_of(third)
        number = place * len(hands) + hands[tuple(sorted(values))]
        return self._places[last] * self.apart(role) + number

    def apart(self, role: int) -> int:
        """How far the numbers of one last bet are from those of the next."""
        return (len(self.bets) + 1) * self.classes * len(hands_of(self.cards[role]))

    @cached_property
    def _places(self) -> dict[int, int]:
        return {bet: place for place, bet in enumerate((OPENING, *self.bets))}

    def action(self, choice: int) -> int:
        """What a choice stands for: the check comes first, then the bets that the tables know."""
        return CHECK if choice == 0 else self.bets[choice - 1]


def _class_of(bet: int) -> int:
    """The value that a bet claims most of; straights are a class of their own."""
    values = BETS[bet].values
    return 1 + (len(_SIX) if len(values) > _PAIRS else values[0][0])


@cache
def hands_of(cards: int) -> dict[tuple[int, ...], int]:
    """All hands of so many cards by their values, ascending, and the number of each."""
    every = combinations_with_replacement(_SIX, cards)
    hands = (hand for hand in every if all(hand.count(v) <= len(COLOURS) for v in _SIX))
    return {hand: number for number, hand in enumerate(hands)}
