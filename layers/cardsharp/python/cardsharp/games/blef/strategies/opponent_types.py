"""Opponent types: simple habits of players with certain cards, and how they explain a bet.

The habits are those of typical players who look at their cards. No player surely has one of them,
so each has a prior weight, and none excludes a bet completely.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import exp

from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.strategies.bet_probabilities import (
    BetProbabilities,
    bet_probabilities,
)

NO_BET = -1  # the last bet of a round without a bet
_BETS_DESCENDING = range(len(BETS) - 1, NO_BET, -1)

Replies = Mapping[int, int]  # the reply to each last bet


@dataclass(frozen=True, slots=True)
class BettingHabit:
    """Way to play by the player's own cards.

    It checks bets less likely than `check_threshold`; with None it checks if the bet fails at least
    as likely as the best higher bet holds. It makes the highest bet at least as likely as
    `bet_threshold`, or else the likeliest.
    """

    weight: float
    check_threshold: float | None = None
    bet_threshold: float | None = None


BETTING_HABITS = (BettingHabit(0.5), BettingHabit(0.3, 0.2, 0.5), BettingHabit(0.2, 0.4, 0.5))
"""The habits of careful players, of bold players, and of bold players who doubt more bets."""

Weights = tuple[float, ...]  # probability of each habit
_BET_THRESHOLDS = {habit.bet_threshold for habit in BETTING_HABITS}

HABIT_WEIGHTS: Weights = tuple(habit.weight for habit in BETTING_HABITS)  # of an unknown player
_SLIP_RATE = 0.1  # share of decisions against the habit
_TEMPERATURE = 0.12  # of the softmax that picks a bet against the habit


@cache  # a few thousand entries: the probabilities come from counts of cards
def _compute_softmax_weight(chance: float) -> float:
    """Return the relative frequency of a bet of this probability against the habit."""
    return exp((chance - 1) / _TEMPERATURE)


@dataclass(frozen=True, slots=True)
class PossibleOpponentHand:
    """A hand that the opponent may have, with each bet's probability and each habit's replies."""

    bet_probabilities: BetProbabilities
    replies_by_habit: tuple[Replies, ...]

    def decision_likelihoods_by_habit(self, last_bet: int, action: int) -> list[float]:
        """Return the likelihood of this decision after `last_bet` by habit."""
        if action != CHECK:
            return self.bet_likelihoods_by_habit(last_bet, action)
        answers = (replies[last_bet] for replies in self.replies_by_habit)
        return [1 - _SLIP_RATE if reply == CHECK else _SLIP_RATE / 2 for reply in answers]

    def bet_likelihoods_by_habit(self, last_bet: int, bet: int) -> list[float]:
        """Return for each betting habit the likelihood of this bet above `last_bet`."""
        plausible = [*map(_compute_softmax_weight, self.bet_probabilities[last_bet + 1 :])]
        slip = _SLIP_RATE * plausible[bet - last_bet - 1] / sum(plausible)
        return [
            slip + (1 - _SLIP_RATE) * (replies[last_bet] == bet)
            for replies in self.replies_by_habit
        ]


@lru_cache(maxsize=8192)
def possible_opponent_hand(cards: int, hidden_card_count: int) -> PossibleOpponentHand:
    """Return the model of a hand: the probability of each bet, and the replies of each habit.

    The player holds `cards`; `hidden_card_count` other cards in play are unseen.
    """
    chances = bet_probabilities(cards, hidden_card_count)
    dared = {bold: _find_highest_bet(bold, chances) for bold in _BET_THRESHOLDS}
    return PossibleOpponentHand(
        chances,
        tuple(
            _HabitReplies(habit, chances, dared[habit.bet_threshold]) for habit in BETTING_HABITS
        ),
    )


def _find_highest_bet(bet_threshold: float | None, chances: BetProbabilities) -> int:
    """Return the highest bet that is at least as likely as `bet_threshold`, or `NO_BET`."""
    if bet_threshold is None:
        return NO_BET
    return next((bet for bet in _BETS_DESCENDING if chances[bet] >= bet_threshold), NO_BET)


class _HabitReplies(dict[int, int]):
    """Replies of a habit to each last bet, computed on first access."""

    __slots__ = ("_chances", "_check_threshold", "_threshold_bet")

    def __init__(self, habit: BettingHabit, chances: BetProbabilities, dared: int) -> None:
        self._check_threshold, self._chances, self._threshold_bet = (
            habit.check_threshold,
            chances,
            dared,
        )

    def __missing__(self, last: int) -> int:
        self[last] = reply = self._choose_reply(last)
        return reply

    def _choose_reply(self, last_bet: int) -> int:
        chances, doubt = self._chances, self._check_threshold
        if doubt is not None and last_bet != NO_BET and chances[last_bet] < doubt:
            return CHECK
        if last_bet < self._threshold_bet:
            return self._threshold_bet
        top = max(chances[last_bet + 1 :], default=0.0)
        if last_bet != NO_BET and 1 - chances[last_bet] >= top:
            return CHECK
        return len(BETS) - 1 - chances[::-1].index(top)  # of equally likely bets the highest
