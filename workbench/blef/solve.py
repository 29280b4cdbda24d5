"""The round of one card against one, solved: its equilibrium, and what a strategy lacks to it.

With a card each, twelve bets can hold: the high cards and the pairs. Colours play no part, so a
hand is its value, and what was said is a set of bets, a number with a bit for each: bets only
rise. A round is won or lost, and worth 1 or 0. Solved by CFR+ (Tammelin, arXiv:1407.5042).

    python -m workbench.blef.solve --iterations 300 --strategy greedy
"""

from collections.abc import Callable, Sequence
from random import Random

import cyclopts

from cardsharp.blef.actions import CHECK
from cardsharp.blef.cards import COLOURS, DECK, VALUES, Card
from cardsharp.blef.position import Position
from cardsharp.blef.rules import max_cards
from cardsharp.blef.state import Move
from cardsharp.blef.strategies import Strategy, build

HANDS = len(VALUES)
BETS = 2 * HANDS
NODES = 2**BETS
_SAME, _OTHER = len(COLOURS) - 1, len(COLOURS)
_DEALS = len(DECK) * (len(DECK) - 1) / len(COLOURS)

Row = list[float]
"""A number for each hand."""

Profile = list[list[Row]]
"""By node, of the check and then of each higher bet: how likely each hand makes it."""


def starts(node: int) -> bool:
    """Whether who began the round is to move."""
    return node.bit_count() % 2 == 0


def raises(node: int) -> range:
    """The bets above what was said."""
    return range(node.bit_length(), BETS)


def checked(node: int, reach: Row) -> Row:
    """By the checker's hand, what a check wins against the other's hands, so likely to be here."""
    bet = node.bit_length() - 1
    value = bet % HANDS
    total = sum(reach)
    won = [_OTHER * total - reach[hand] for hand in range(HANDS)]
    if bet >= HANDS:
        won[value] -= _SAME * reach[value]
    else:
        won = [won[hand] - _OTHER * reach[value] for hand in range(HANDS)]
        won[value] = 0.0
    return [gain / _DEALS for gain in won]


def believed(node: int, reach: Row) -> Row:
    """By the bettor's hand, what it wins if the other checks: a bet asks the same of both hands."""
    total = sum(reach)
    lost = checked(node, reach)
    return [(_OTHER * total - reach[hand]) / _DEALS - lost[hand] for hand in range(HANDS)]


def reaches(profile: Profile, *, starter: bool) -> list[Row]:
    """By node, how likely each hand of one player makes the player's moves that lead there."""
    rows: list[Row] = [[1.0] * HANDS] * NODES
    for node in range(NODES):
        row, acts = rows[node], profile[node]
        for place, bet in enumerate(raises(node), 1):
            moved = acts[place]
            rows[node | 1 << bet] = (
                [a * b for a, b in zip(row, moved, strict=True)] if starts(node) == starter else row
            )
    return rows


Choose = Callable[[int, list[Row]], Row]
"""What a node is worth by hand, given what each of its actions is worth."""


def value(profile: Profile, choose: Choose, *, starter: bool) -> float:
    """What a player wins who chooses so, against the other's part of the profile."""
    reach = reaches(profile, starter=not starter)
    worth: list[Row] = [[0.0] * HANDS] * NODES
    for node in range(NODES - 1, -1, -1):
        after = [worth[node | 1 << bet] for bet in raises(node)]
        if starts(node) == starter:
            check = checked(node, reach[node]) if node else [-1.0] * HANDS
            worth[node] = choose(node, [check, *after])
        else:
            worth[node] = _answered(node, reach[node], profile[node][0], after)
    return sum(worth[0])


def _answered(node: int, reach: Row, checks: Row, after: list[Row]) -> Row:
    """What a node of the other's is worth: its raises, and its check of our bet."""
    worth = [sum(column) for column in zip(*after, strict=True)] if after else [0.0] * HANDS
    if not node:
        return worth
    by_check = believed(node, [a * b for a, b in zip(reach, checks, strict=True)])
    return [a + b for a, b in zip(worth, by_check, strict=True)]


def best_response(profile: Profile, *, starter: bool) -> float:
    """What the best answer to the other's part of a profile wins, exactly."""

    def best(_node: int, options: list[Row]) -> Row:
        return [max(column) for column in zip(*options, strict=True)]

    return value(profile, best, starter=starter)


def exploitability(profile: Profile) -> float:
    """What a best answer wins above an equal share, mean of both seats; 0 in equilibrium."""
    return (best_response(profile, starter=True) + best_response(profile, starter=False) - 1) / 2


class Solver:
    """CFR+ with alternating updates; `average` is the profile that nears the equilibrium."""

    def __init__(self) -> None:
        sizes = [1 + len(raises(node)) for node in range(NODES)]
        self._regrets: Profile = [[[0.0] * HANDS for _ in range(size)] for size in sizes]
        self._sums: Profile = [[[0.0] * HANDS for _ in range(size)] for size in sizes]
        self.current = [_normal(rows, node) for node, rows in enumerate(self._regrets)]
        self.iterations = 0

    @property
    def average(self) -> Profile:
        """The average of all profiles so far, later ones counting more."""
        return [_normal(rows, node) for node, rows in enumerate(self._sums)]

    def iterate(self, times: int) -> None:
        """Improve the profile so many times."""
        for _ in range(times):
            self.iterations += 1
            for starter in (True, False):
                value(self.current, self._learn, starter=starter)
                self._add(starter=starter)

    def _learn(self, node: int, options: list[Row]) -> Row:
        """Note the regrets at a node; what it is worth as played now."""
        acts, regrets = self.current[node], self._regrets[node]
        worth = [0.0] * HANDS
        for moved, option in zip(acts, options, strict=True):
            worth = [w + p * v for w, p, v in zip(worth, moved, option, strict=True)]
        for place, option in enumerate(options):
            row = regrets[place]
            regrets[place] = [
                max(0.0, r + v - w) for r, v, w in zip(row, option, worth, strict=True)
            ]
        return worth

    def _add(self, *, starter: bool) -> None:
        """Take over what was learnt for one player, and count it into the average."""
        for node in range(NODES):
            if starts(node) == starter:
                self.current[node] = _normal(self._regrets[node], node)
        reach = reaches(self.current, starter=starter)
        for node in range(NODES):
            if starts(node) == starter:
                row = [self.iterations * r for r in reach[node]]
                self._sums[node] = [
                    [s + r * p for s, r, p in zip(summed, row, moved, strict=True)]
                    for summed, moved in zip(self._sums[node], self.current[node], strict=True)
                ]


def _normal(rows: Sequence[Row], node: int) -> list[Row]:
    """Weights made chances, all actions alike where there are none; nobody opens with a check."""
    first = 0 if node else 1
    totals = [sum(column) for column in zip(*rows[first:], strict=True)]
    even = 1 / (len(rows) - first)
    chances = [[w / t if t > 0 else even for w, t in zip(row, totals, strict=True)] for row in rows]
    return chances if node else [[0.0] * HANDS, *chances[1:]]


def profile_of(player: Strategy) -> Profile:
    """A strategy as a profile, asked wherever it can come to; its cards are clubs.

    A bet that cannot hold counts as the highest that can, which wins no more.
    """
    profile = [[[0.0] * HANDS for _ in range(1 + len(raises(node)))] for node in range(NODES)]
    for starter in (True, False):
        for hand in range(HANDS):
            reached = {0}
            for node in range(NODES):
                if node not in reached:
                    continue
                places = range(1, 1 + len(raises(node)))
                if starts(node) == starter:
                    place = _place(player, node, hand)
                    profile[node][place][hand] = 1.0
                    places = range(max(1, place), 1 + place)
                reached |= {node | 1 << raises(node)[one - 1] for one in places}
    return profile


def _place(player: Strategy, node: int, hand: int) -> int:
    """What the strategy does, as the place of the action in a profile."""
    said = [bet for bet in range(BETS) if node >> bet & 1]
    me = len(said) % 2
    cards = (Card(hand, 0),)
    hands = (cards, ()) if me == 0 else ((), cards)
    moves = tuple(Move(number % 2, bet) for number, bet in enumerate(said))
    position = Position(me, 1, max_cards(2), (1, 1), hands, me, moves)
    action = player.decide(position).action
    if action == CHECK or not raises(node):
        return 0
    return 1 + min(action, BETS - 1) - raises(node).start


def main(*, iterations: int = 300, strategy: str | None = None) -> None:
    """Print the value and the exploitability of the solution, or of a strategy."""
    if strategy is not None:
        lacks = exploitability(profile_of(build(strategy, Random(1))))
        print(f"{strategy}: exploitability {lacks:.4f}")  # noqa: T201 - a command
        return
    solver = Solver()
    solver.iterate(iterations)
    best = best_response(solver.average, starter=True)
    lacks = exploitability(solver.average)
    print(f"value for the starter at most {best:.4f}, exploitability {lacks:.5f}")  # noqa: T201


if __name__ == "__main__":
    cyclopts.run(main)
