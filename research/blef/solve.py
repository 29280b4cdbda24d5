"""The equilibrium of a round of two with few cards, by CFR+ (Tammelin, arXiv:1407.5042).

A hand that has no regrets checks. Any choice would do there by the theory, and this one keeps the
tree small: what nobody reaches is never visited, and nothing is lost by that, for there all
regrets are zero. So three cards are solved in a minute without anything compiled.

With up to four cards in play colours decide nothing, so a hand is the values of its cards. What was
said is a set of bets, because bets only rise: a number with a bit for each action. A round is won
or lost, and worth 1 or 0.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod
from typing import NamedTuple

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import COLOURS, VALUES
from cardsharp.blef.strategies.equilibrium import Mixture

Row = list[float]  # a number for each hand of one player
Values = tuple[int, ...]  # the values of a hand's cards, ascending
Play = dict[int, Row]
"""By action, how likely each hand takes it; a hand with no action at all checks."""

Plan = dict[int, Play]  # by what was said, how one player goes on
Profile = tuple[Plan, Plan]  # the plans of who begins and of the other
Plays = Callable[[int, Values], Mixture]  # how whoever is to move goes on after what was said
STARTER, OTHER = 0, 1
SEATS = (STARTER, OTHER)
_MOST = 4  # cards in play with which no flush and no straight can hold


class Won(NamedTuple):
    """By the other's hand and one's own: how likely both are, where a bet fails, and holds."""

    fails: list[Row]
    holds: list[Row]


@dataclass(frozen=True, slots=True)
class SmallRound:
    """The round; by seat and bet, what is won by a check of it, and by a bet that is checked."""

    cards: tuple[int, int]
    hands: tuple[Sequence[Values], Sequence[Values]]
    bets: tuple[int, ...]
    won: tuple[dict[int, Won], dict[int, Won]]

    def raises(self, said: int) -> tuple[int, ...]:
        """The bets above what was said that can hold."""
        return tuple(bet for bet in self.bets if bet >= said.bit_length())

    def checked(self, seat: int, said: int, reach: Row) -> Row:
        """By hand, what a check wins where the other's hands have come here so likely."""
        return _weighted(self.won[seat][said.bit_length() - 1].fails, reach)

    def believed(self, seat: int, said: int, reach: Row) -> Row:
        """By hand, what is won where the other checks one's last bet."""
        return _weighted(self.won[seat][said.bit_length() - 1].holds, reach)

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
    """The round of so many cards each; raises `ValueError` for too many, or none of somebody's."""
    if min(starter, other) < 1 or starter + other > _MOST:
        raise ValueError(f"Only rounds of 2 to {_MOST} cards, one each at least, can be solved.")
    cards = (starter, other)
    hands = (_hands(starter), _hands(other))
    bets = tuple(n for n, bet in enumerate(BETS) if bet.values and bet.size <= sum(cards))
    deals = [[_ways(one, two) for two in hands[1]] for one in hands[0]]
    whole = sum(map(sum, deals))
    chances = [[ways / whole for ways in row] for row in deals]
    mirrored = [list(column) for column in zip(*chances, strict=True)]
    first, second = (
        {bet: _won(bet, hands[seat], hands[1 - seat], given) for bet in bets}
        for seat, given in ((STARTER, mirrored), (OTHER, chances))
    )
    return SmallRound(cards, hands, bets, (first, second))


def _hands(cards: int) -> list[Values]:
    return list(combinations_with_replacement(range(len(VALUES)), cards))


def _ways(one: Values, two: Values) -> int:
    """In how many ways these hands can be dealt, whatever the colours."""
    first, second = Counter(one), Counter(two)
    return prod(
        comb(len(COLOURS), first[value]) * comb(len(COLOURS) - first[value], second[value])
        for value in {*one, *two}
    )


def _won(bet: int, own: Sequence[Values], others: Sequence[Values], chances: Sequence[Row]) -> Won:
    fails, holds = [], []
    for other, row in zip(others, chances, strict=True):
        true = [_holds(bet, (*hand, *other)) for hand in own]
        fails.append([0.0 if yes else chance for yes, chance in zip(true, row, strict=True)])
        holds.append([chance if yes else 0.0 for yes, chance in zip(true, row, strict=True)])
    return Won(fails, holds)


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


class Solver:
    """Improves a profile step by step; `average` is what nears the equilibrium."""

    def __init__(self, small: SmallRound) -> None:
        self.small = small
        self.iterations = 0
        self._regrets: tuple[dict[int, Play], dict[int, Play]] = ({}, {})
        self._sums: Profile = ({}, {})
        self._seat = STARTER

    def average(self, said: int, hand: Values) -> Mixture:
        """How a hand goes on by the average of all profiles so far, later ones counting more.

        Where nothing is known it checks, and opens with its highest card.
        """
        at = self.small.hands[mover(said)].index(hand)
        sums = self._sums[mover(said)].get(said, {})
        often = {action: row[at] for action, row in sums.items() if row[at]}
        if not often:
            return ((CHECK if said else hand[-1], 1.0),)
        return tuple((action, weight / sum(often.values())) for action, weight in often.items())

    def iterate(self, times: int) -> None:
        """Improve so many times: first who begins learns, then the other."""
        for _ in range(times):
            self.iterations += 1
            for self._seat in SEATS:
                everything = [1.0] * len(self.small.hands[1 - self._seat])
                (self._own if self._seat == STARTER else self._others)(0, everything)

    def _own(self, said: int, reach: Row) -> Row:
        """What the learner's hands are worth here; `reach` is of the other's hands."""
        seat = self._seat
        options = {bet: self._others(said | 1 << bet, reach) for bet in self.small.raises(said)}
        if said:
            options[CHECK] = self.small.checked(seat, said, reach)
        worth = [0.0] * len(self.small.hands[seat])
        for action, chances in self._play(seat, said).items():
            values = options[action]
            worth = [w + p * v for w, p, v in zip(worth, chances, values, strict=True)]
        old = self._regrets[seat].get(said)
        self._regrets[seat][said] = {
            action: _added(old[action] if old else [0.0] * len(worth), values, worth)
            for action, values in options.items()
        }
        return worth

    def _others(self, said: int, reach: Row) -> Row:
        """The same where the other is to move, whose play here counts into the average."""
        seat, moves = self._seat, Play()
        sums = self._sums[1 - seat].setdefault(said, {})
        for action, chances in self._play(1 - seat, said).items():
            left = [r * p for r, p in zip(reach, chances, strict=True)]
            if any(left):
                moves[action] = left
                before = sums.get(action) or [0.0] * len(left)
                sums[action] = [s + self.iterations * r for s, r in zip(before, left, strict=True)]
        return _against(self.small, seat, said, moves, self._own)

    def _play(self, seat: int, said: int) -> Play:
        """How a seat plays now: each action as often as it is regretted."""
        default, regrets = self.small.default(seat, said), self._regrets[seat].get(said)
        return default if regrets is None else _matched(regrets, default)


def _added(regrets: Row, values: Row, worth: Row) -> Row:
    """The regrets with those of this iteration; in CFR+ they never fall below zero."""
    return [max(0.0, r + v - w) for r, v, w in zip(regrets, values, worth, strict=True)]


def _matched(regrets: Play, default: Play) -> Play:
    """The regrets made chances; a hand without regrets plays the default."""
    totals = [sum(column) for column in zip(*regrets.values(), strict=True)]
    nothing = [0.0] * len(totals)
    play = {
        action: [
            regret / total if total > 0 else given
            for regret, total, given in zip(row, totals, default.get(action, nothing), strict=True)
        ]
        for action, row in regrets.items()
    }
    return {action: row for action, row in play.items() if any(row)}


def _against(
    small: SmallRound, seat: int, said: int, moves: Play, own: Callable[[int, Row], Row]
) -> Row:
    """By hand of a seat, what is won where the other moves so; `own` is what follows a bet."""
    worth = [0.0] * len(small.hands[seat])
    for action, left in moves.items():
        checks = action == CHECK
        values = small.believed(seat, said, left) if checks else own(said | 1 << action, left)
        worth = [w + v for w, v in zip(worth, values, strict=True)]
    return worth


def best_response(small: SmallRound, plays: Plays, seat: int) -> float:
    """What the best answer of a seat to how the other plays wins, exactly."""

    def own(said: int, reach: Row) -> Row:
        """By hand, what the best action is worth."""
        options = [others(said | 1 << bet, reach) for bet in small.raises(said)]
        if said:
            options.append(small.checked(seat, said, reach))
        return [max(column) for column in zip(*options, strict=True)]

    def others(said: int, reach: Row) -> Row:
        """By hand, what is won against the other."""
        return _against(small, seat, said, _moves(small, plays, said, reach), own)

    return sum((own if seat == STARTER else others)(0, [1.0] * len(small.hands[1 - seat])))


def _moves(small: SmallRound, plays: Plays, said: int, reach: Row) -> Play:
    """What is done, and how likely each hand comes there."""
    moves: Play = {}
    for at, (hand, likely) in enumerate(zip(small.hands[mover(said)], reach, strict=True)):
        for action, often in plays(said, hand) if likely else ():
            moves.setdefault(action, [0.0] * len(reach))[at] += likely * often
    return moves


def exploitability(small: SmallRound, plays: Plays) -> float:
    """What a best answer wins above an equal share, mean of both seats; 0 in equilibrium."""
    return (sum(best_response(small, plays, seat) for seat in SEATS) - 1) / 2
