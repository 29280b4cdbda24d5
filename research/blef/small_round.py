"""A round of two players with few cards: hands, bets that can hold, and what a check is worth.

With up to four cards in play colours decide nothing, so a hand is the values of its cards. What
was said is a set of bets, because bets only rise: a number with a bit for each action. A round
is won or lost, and worth 1 or 0.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import COLOURS, VALUES

Row = list[float]
"""A number for each hand of one player."""

Values = tuple[int, ...]
"""The values of a hand's cards, ascending."""

Play = dict[int, Row]
"""By action, how likely each hand takes it; a hand with no action at all checks."""

Plan = dict[int, Play]
"""By what was said, how one player goes on."""

Profile = tuple[Plan, Plan]
"""The plans of who begins and of the other."""

STARTER, OTHER = 0, 1
SEATS = (STARTER, OTHER)
_MOST = 4
"""Cards in play with which no flush and no straight can hold."""


@dataclass(frozen=True, slots=True)
class SmallRound:
    """The round; by seat, bet and the other's hand, what each own hand wins by it.

    `fails` is for one's own check of the bet, `holds` for one's own bet that is checked. All
    worths count the deal's likeliness in.
    """

    cards: tuple[int, int]
    hands: tuple[Sequence[Values], Sequence[Values]]
    bets: tuple[int, ...]
    fails: tuple[dict[int, list[Row]], dict[int, list[Row]]]
    holds: tuple[dict[int, list[Row]], dict[int, list[Row]]]

    def raises(self, said: int) -> tuple[int, ...]:
        """The bets above what was said that can hold."""
        return tuple(bet for bet in self.bets if bet >= said.bit_length())

    def checked(self, seat: int, said: int, reach: Row) -> Row:
        """By hand, what a check wins where the other's hands have come here so likely."""
        return _weighted(self.fails[seat][said.bit_length() - 1], reach)

    def believed(self, seat: int, said: int, reach: Row) -> Row:
        """By hand, what is won where the other checks one's last bet."""
        return _weighted(self.holds[seat][said.bit_length() - 1], reach)

    def default(self, seat: int, said: int) -> Play:
        """What is played where nothing better is known: a check, at first the highest card."""
        hands = self.hands[seat]
        if said:
            return {CHECK: [1.0] * len(hands)}
        return {
            value: [float(hand[-1] == value) for hand in hands]
            for value in sorted({hand[-1] for hand in hands})
        }


def mover(said: int) -> int:
    """The seat that is to move."""
    return said.bit_count() % 2


@cache
def small_round(starter: int, other: int) -> SmallRound:
    """The round in which the players have so many cards.

    Raises:
        ValueError: there are too many, or somebody has none.
    """
    if min(starter, other) < 1 or starter + other > _MOST:
        raise ValueError(f"Only rounds of 2 to {_MOST} cards, one each at least, can be solved.")
    cards = (starter, other)
    hands = (_hands(starter), _hands(other))
    bets = tuple(n for n, bet in enumerate(BETS) if bet.values and bet.size <= sum(cards))
    deals = [[_ways(one, two) for two in hands[1]] for one in hands[0]]
    whole = sum(map(sum, deals))
    chances = [[ways / whole for ways in row] for row in deals]
    mirrored = [list(column) for column in zip(*chances, strict=True)]
    tables = [
        {bet: _table(bet, hands[seat], hands[1 - seat], given) for bet in bets}
        for seat, given in ((STARTER, mirrored), (OTHER, chances))
    ]
    fails, holds = ([{bet: t[bet][which] for bet in bets} for t in tables] for which in (0, 1))
    return SmallRound(cards, hands, bets, (fails[0], fails[1]), (holds[0], holds[1]))


def _hands(cards: int) -> list[Values]:
    return list(combinations_with_replacement(range(len(VALUES)), cards))


def _ways(one: Values, two: Values) -> int:
    """In how many ways these hands can be dealt, whatever the colours."""
    first, second = Counter(one), Counter(two)
    return prod(
        comb(len(COLOURS), first[value]) * comb(len(COLOURS) - first[value], second[value])
        for value in {*one, *two}
    )


def _table(
    bet: int, own: Sequence[Values], others: Sequence[Values], chances: Sequence[Row]
) -> tuple[list[Row], list[Row]]:
    """By the other's hand and one's own: how likely both are, where the bet fails, and holds."""
    fails, holds = [], []
    for other, row in zip(others, chances, strict=True):
        true = [_holds(bet, (*hand, *other)) for hand in own]
        fails.append([0.0 if yes else chance for yes, chance in zip(true, row, strict=True)])
        holds.append([chance if yes else 0.0 for yes, chance in zip(true, row, strict=True)])
    return fails, holds


def _holds(bet: int, pool: Iterable[int]) -> bool:
    counts = Counter(pool)
    return all(counts[value] >= count for value, count in BETS[bet].values)


def _weighted(rows: Sequence[Row], weights: Row) -> Row:
    """The sum of the rows, each with its weight."""
    total = [0.0] * len(rows[0])
    for weight, row in zip(weights, rows, strict=True):
        if weight:
            total = [a + weight * b for a, b in zip(total, row, strict=True)]
    return total
