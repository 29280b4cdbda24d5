"""Table view of a round: the row of a trained table for a position, and its choices.

Minor information is left out. With nine cards or fewer in play a flush is rare, so a hand is
reduced to the ranks of its cards, and a bet on suits is only ever checked. Of the bets, only the
last two count, and the class of the third last; with four cards in play each bet is its own class.
A full house is nearly always checked: once one was bet, only the last bet counts.

The compiled trainer uses the same view: cardsharp_tools/research/blef/native/table_lookup.c.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations_with_replacement

from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.cards import RANKS, SUITS

NO_BET = -1  # the last bet of a round without a bet
MAX_TABLE_CARDS = 9  # cards in play up to which this view is used
_MAX_EXACT_CARDS = 4  # cards in play up to which the third last bet is stored exactly
_PAIRS = 2
_RANK_INDEXES = range(len(RANKS))


@dataclass(frozen=True)
class TableShape:
    """The rows of a round's tables; `card_counts` are of the starting player and of the other."""

    card_counts: tuple[int, int]

    @cached_property
    def bets(self) -> tuple[int, ...]:
        """The bets that the tables include."""
        fits = (
            bet_index for bet_index, bet in enumerate(BETS) if bet.size <= sum(self.card_counts)
        )
        return tuple(bet_index for bet_index in fits if BETS[bet_index].rank_counts)

    @cached_property
    def full_house_index(self) -> int:
        """Number of bets below the first full house."""
        bets = map(BETS.__getitem__, self.bets)
        houses = (
            bet_index
            for bet_index, bet in enumerate(bets)
            if len(bet.rank_counts) == _PAIRS and bet.size > 2 * _PAIRS
        )
        return next(houses, len(self.bets))

    @cached_property
    def third_last_bet_class_count(self) -> int:
        """Number of classes of the third last bet."""
        return 1 + max(self.third_last_bet_class(bet) for bet in self.bets)

    def third_last_bet_class(self, bet: int) -> int:
        """Return the class of the third last bet, 0 if it has none."""
        if bet == NO_BET or bet not in self._index_by_bet:
            return 0
        return (
            self._index_by_bet[bet]
            if sum(self.card_counts) <= _MAX_EXACT_CARDS
            else _classify_bet(bet)
        )

    def row_index(self, role: int, values: Iterable[int], bets: Sequence[int]) -> int:
        """Return the row number for these ranks in hand after these last three bets."""
        hands = number_by_hand(self.card_counts[role])
        third_last_bet, previous, last_bet = bets
        if self._index_by_bet[last_bet] > self.full_house_index:
            third_last_bet = previous = NO_BET
        history_index = self._index_by_bet[
            previous
        ] * self.third_last_bet_class_count + self.third_last_bet_class(third_last_bet)
        row_offset = history_index * len(hands) + hands[tuple(sorted(values))]
        return self._index_by_bet[last_bet] * self.last_bet_stride(role) + row_offset

    def last_bet_stride(self, role: int) -> int:
        """Return the difference between row numbers of consecutive last bets."""
        return (
            (len(self.bets) + 1)
            * self.third_last_bet_class_count
            * len(number_by_hand(self.card_counts[role]))
        )

    @cached_property
    def _index_by_bet(self) -> dict[int, int]:
        return {bet: index for index, bet in enumerate((NO_BET, *self.bets))}

    def action_of_choice(self, choice: int) -> int:
        """Return the action of a choice: first the check, then the bets of the tables."""
        return CHECK if choice == 0 else self.bets[choice - 1]


def _classify_bet(bet: int) -> int:
    """Return a bet's class by its main rank; all straights share one class."""
    values = BETS[bet].rank_counts
    return 1 + (len(_RANK_INDEXES) if len(values) > _PAIRS else values[0][0])


@cache  # an entry for each hand size
def number_by_hand(card_count: int) -> dict[tuple[int, ...], int]:
    """Return the number of each hand of `card_count` cards in the tables' order.

    A hand is given by its ranks in ascending order.
    """
    every = combinations_with_replacement(_RANK_INDEXES, card_count)
    hands = (hand for hand in every if all(hand.count(v) <= len(SUITS) for v in _RANK_INDEXES))
    return {hand: number for number, hand in enumerate(hands)}
