"""Solver of small rounds of two players: their equilibrium, by CFR+ (arXiv:1407.5042).

The method is that of Tammelin. A hand without regrets checks. In theory it may play anything there,
and this choice keeps the tree small: a history that no player reaches is never visited. Nothing is
lost by that, because all regrets are zero there. So rounds of three cards are solved in a minute
without compiled code.

With up to four cards in play suits decide nothing, so a hand is the ranks of its cards. A history
is the set of its bets, because bets only rise: an integer with a bit for each action. A round is
won or lost, and worth 1 or 0.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod
from typing import NamedTuple

from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.cards import RANKS, SUITS
from cardsharp.games.blef.strategies.equilibrium import MixedStrategy

Row = list[float]  # a number for each hand of one player
Values = tuple[int, ...]  # the ranks of a hand's cards, ascending
ActionProbabilities = dict[int, Row]
"""Probability of each action for each hand. A hand without any action checks."""

SeatStrategy = dict[int, ActionProbabilities]  # a player's action probabilities by history
# the strategies of the player who begins, and of the other
StrategyProfile = tuple[SeatStrategy, SeatStrategy]
StrategyFunction = Callable[[int, Values], MixedStrategy]
"""Strategy of both players: the mixed strategy for a history and a hand."""
STARTER, OTHER = 0, 1
SEATS = (STARTER, OTHER)
_MAX_CARDS = 4  # cards in play up to which no flush and no straight can hold


class PayoffMatrices(NamedTuple):
    """Payoffs of a bet by the hands (opponent's, player's).

    An entry is the probability of the hands where the bet is false or true, else 0.
    """

    if_false: list[Row]
    if_true: list[Row]


@dataclass(frozen=True, slots=True)
class SmallRound:
    """Round of few cards with all hands, and the payoffs of checks by seat and bet."""

    cards: tuple[int, int]
    hands: tuple[Sequence[Values], Sequence[Values]]
    bets: tuple[int, ...]
    payoffs: tuple[dict[int, PayoffMatrices], dict[int, PayoffMatrices]]

    def legal_raises(self, history: int) -> tuple[int, ...]:
        """Return the bets above the last one that can be true."""
        return tuple(bet for bet in self.bets if bet >= history.bit_length())

    def check_values(self, seat: int, history: int, reach_probabilities: Row) -> Row:
        """Return by hand the value of a check, given the opponent's reach probabilities."""
        return _sum_weighted_rows(
            self.payoffs[seat][history.bit_length() - 1].if_false, reach_probabilities
        )

    def values_if_checked(self, seat: int, history: int, reach_probabilities: Row) -> Row:
        """Return by hand the value if the opponent checks the last bet."""
        return _sum_weighted_rows(
            self.payoffs[seat][history.bit_length() - 1].if_true, reach_probabilities
        )

    def always_check_strategy(self, seat: int, history: int) -> ActionProbabilities:
        """Return the play of an untrained seat: check, or open with the highest card."""
        hands = self.hands[seat]
        if history:
            return {CHECK: [1.0] * len(hands)}
        return {
            value: [float(hand[-1] == value) for hand in hands]
            for value in sorted({hand[-1] for hand in hands})
        }


def seat_to_move(history: int) -> int:
    """Return the seat to move."""
    return history.bit_count() % 2


@cache
def build_small_round(starter: int, other: int) -> SmallRound:
    """Return the round with these numbers of cards; raise `ValueError` for other sizes.

    Raises `ValueError` for more cards than can be solved, or for a player without cards.
    """
    if min(starter, other) < 1 or starter + other > _MAX_CARDS:
        raise ValueError(
            f"Only rounds of 2 to {_MAX_CARDS} cards, one each at least, can be solved."
        )
    cards = (starter, other)
    hands = (_list_hands(starter), _list_hands(other))
    bets = tuple(n for n, bet in enumerate(BETS) if bet.rank_counts and bet.size <= sum(cards))
    deals = [
        [_count_deals(first_hand, second_hand) for second_hand in hands[1]]
        for first_hand in hands[0]
    ]
    total_ways = sum(map(sum, deals))
    chances = [[ways / total_ways for ways in row] for row in deals]
    mirrored = [list(column) for column in zip(*chances, strict=True)]
    starter_values, other_values = (
        {
            bet: _build_payoff_matrices(bet, hands[seat], hands[1 - seat], seat_chances)
            for bet in bets
        }
        for seat, seat_chances in ((STARTER, mirrored), (OTHER, chances))
    )
    return SmallRound(cards, hands, bets, (starter_values, other_values))


def _list_hands(cards: int) -> list[Values]:
    return list(combinations_with_replacement(range(len(RANKS)), cards))


def _count_deals(first_hand: Values, second_hand: Values) -> int:
    """Return the number of ways in which all suits allow to deal these two hands."""
    first_counts, second_counts = Counter(first_hand), Counter(second_hand)
    return prod(
        comb(len(SUITS), first_counts[value])
        * comb(len(SUITS) - first_counts[value], second_counts[value])
        for value in {*first_hand, *second_hand}
    )


def _build_payoff_matrices(
    bet: int, hands: Sequence[Values], other_hands: Sequence[Values], chances: Sequence[Row]
) -> PayoffMatrices:
    fails, holds = [], []
    for other_hand, row in zip(other_hands, chances, strict=True):
        true = [_is_bet_true(bet, (*hand, *other_hand)) for hand in hands]
        fails.append([0.0 if yes else chance for yes, chance in zip(true, row, strict=True)])
        holds.append([chance if yes else 0.0 for yes, chance in zip(true, row, strict=True)])
    return PayoffMatrices(fails, holds)


def _is_bet_true(bet: int, pool: Iterable[int]) -> bool:
    counts = Counter(pool)
    return all(counts[value] >= count for value, count in BETS[bet].rank_counts)


def _sum_weighted_rows(rows: Sequence[Row], weights: Row) -> Row:
    """Return the weighted sum of the rows."""
    total = [0.0] * len(rows[0])
    for weight, row in zip(weights, rows, strict=True):
        if weight:
            total = [a + weight * b for a, b in zip(total, row, strict=True)]
    return total


class CfrSolver:
    """CFR+ solver; `average_strategy` converges to the equilibrium."""

    def __init__(self, small_round: SmallRound) -> None:
        self.small_round = small_round
        self.iterations = 0
        self._regrets: tuple[dict[int, ActionProbabilities], dict[int, ActionProbabilities]] = (
            {},
            {},
        )
        self._strategy_sums: StrategyProfile = ({}, {})
        self._learner_seat = STARTER

    def average_strategy(self, history: int, hand: Values) -> MixedStrategy:
        """Return a hand's mean strategy over all iterations; later ones count more.

        Without training a hand checks, and opens with its highest card.
        """
        at = self.small_round.hands[seat_to_move(history)].index(hand)
        sums = self._strategy_sums[seat_to_move(history)].get(history, {})
        often = {action: row[at] for action, row in sums.items() if row[at]}
        if not often:
            return ((CHECK if history else hand[-1], 1.0),)
        return tuple((action, weight / sum(often.values())) for action, weight in often.items())

    def iterate(self, iterations: int) -> None:
        """Run iterations; in each, first the starter learns, then the other player."""
        for _ in range(iterations):
            self.iterations += 1
            for self._learner_seat in SEATS:
                everything = [1.0] * len(self.small_round.hands[1 - self._learner_seat])
                (
                    self._evaluate_learner_move
                    if self._learner_seat == STARTER
                    else self._evaluate_opponent_move
                )(0, everything)

    def _evaluate_learner_move(self, history: int, reach: Row) -> Row:
        """Return the value of each hand of the learner at a move of the learner.

        `reach` has the reach probability of each of the opponent's hands.
        """
        seat = self._learner_seat
        options = {
            bet: self._evaluate_opponent_move(history | 1 << bet, reach)
            for bet in self.small_round.legal_raises(history)
        }
        if history:
            options[CHECK] = self.small_round.check_values(seat, history, reach)
        worth = [0.0] * len(self.small_round.hands[seat])
        for action, chances in self._compute_current_strategy(seat, history).items():
            values = options[action]
            # Regret of an action: its value less that of the current strategy. Probabilities follow
            # the positive regrets; the average of the strategies, not the last one, converges to
            # the equilibrium. Alternating updates and the floor at 0 (CFR+) make that fast.
            worth = [w + p * v for w, p, v in zip(worth, chances, values, strict=True)]
        old_regrets = self._regrets[seat].get(history)
        self._regrets[seat][history] = {
            action: _add_regrets(
                old_regrets[action] if old_regrets else [0.0] * len(worth), values, worth
            )
            for action, values in options.items()
        }
        return worth

    def _evaluate_opponent_move(self, history: int, reach: Row) -> Row:
        """Return the value of each hand of the learner at a move of the opponent.

        The opponent's strategy at this move is added to its average, with the iteration as
        weight.
        """
        seat, moves = self._learner_seat, ActionProbabilities()
        sums = self._strategy_sums[1 - seat].setdefault(history, {})
        for action, chances in self._compute_current_strategy(1 - seat, history).items():
            action_reach = [r * p for r, p in zip(reach, chances, strict=True)]
            if any(action_reach):
                moves[action] = action_reach
                previous_sums = sums.get(action) or [0.0] * len(action_reach)
                sums[action] = [
                    s + self.iterations * r
                    for s, r in zip(previous_sums, action_reach, strict=True)
                ]
        return _evaluate_replies(
            self.small_round, seat, history, moves, self._evaluate_learner_move
        )

    def _compute_current_strategy(self, seat: int, history: int) -> ActionProbabilities:
        """Return a seat's current strategy by regret matching.

        Each action has a probability in proportion to its positive regret.
        """
        default, regrets = (
            self.small_round.always_check_strategy(seat, history),
            self._regrets[seat].get(history),
        )
        return default if regrets is None else _match_regrets(regrets, default)


def _add_regrets(regrets: Row, values: Row, state_values: Row) -> Row:
    """Return the regrets plus those of this iteration.

    In CFR+ a regret never falls below zero.
    """
    return [max(0.0, r + v - w) for r, v, w in zip(regrets, values, state_values, strict=True)]


def _match_regrets(
    regrets: ActionProbabilities, default: ActionProbabilities
) -> ActionProbabilities:
    """Convert regrets to probabilities; a hand without regrets plays the default."""
    totals = [sum(column) for column in zip(*regrets.values(), strict=True)]
    nothing = [0.0] * len(totals)
    play = {
        action: [
            regret / total if total > 0 else default_probability
            for regret, total, default_probability in zip(
                row, totals, default.get(action, nothing), strict=True
            )
        ]
        for action, row in regrets.items()
    }
    return {action: row for action, row in play.items() if any(row)}


def _evaluate_replies(
    small: SmallRound,
    seat: int,
    history: int,
    moves: ActionProbabilities,
    continuation: Callable[[int, Row], Row],
) -> Row:
    """Return the value of each hand after the opponent's moves.

    `continuation` returns the values after a bet.
    """
    worth = [0.0] * len(small.hands[seat])
    for action, action_reach in moves.items():
        checks = action == CHECK
        values = (
            small.values_if_checked(seat, history, action_reach)
            if checks
            else continuation(history | 1 << action, action_reach)
        )
        worth = [w + v for w, v in zip(worth, values, strict=True)]
    return worth


def best_response_value(small_round: SmallRound, opponent: StrategyFunction, seat: int) -> float:
    """Return the exact value of a seat's best response to an opponent."""

    def seat_values(history: int, reach: Row) -> Row:
        """Return, by hand, the value of the best action."""
        options = [
            opponent_values(history | 1 << bet, reach) for bet in small_round.legal_raises(history)
        ]
        if history:
            options.append(small_round.check_values(seat, history, reach))
        return [max(column) for column in zip(*options, strict=True)]

    def opponent_values(history: int, reach: Row) -> Row:
        """Return, by hand, the value won against the opponent."""
        return _evaluate_replies(
            small_round,
            seat,
            history,
            _compute_reach_by_action(small_round, opponent, history, reach),
            seat_values,
        )

    return sum(
        (seat_values if seat == STARTER else opponent_values)(
            0, [1.0] * len(small_round.hands[1 - seat])
        )
    )


def _compute_reach_by_action(
    small: SmallRound, plays: StrategyFunction, history: int, reach: Row
) -> ActionProbabilities:
    """Return the reach probability of each hand after each action."""
    moves: ActionProbabilities = {}
    for at, (hand, likely) in enumerate(
        zip(small.hands[seat_to_move(history)], reach, strict=True)
    ):
        for action, often in plays(history, hand) if likely else ():
            moves.setdefault(action, [0.0] * len(reach))[at] += likely * often
    return moves


def exploitability(small_round: SmallRound, strategy: StrategyFunction) -> float:
    """Return a best response's gain over an equal share, mean of both seats; 0 in equilibrium."""
    return (sum(best_response_value(small_round, strategy, seat) for seat in SEATS) - 1) / 2
