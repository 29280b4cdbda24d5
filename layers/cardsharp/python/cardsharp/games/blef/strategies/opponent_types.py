"""Opponent types: simple habits of players with certain cards, and how they explain a bet.

The habits are those of typical players who look at their cards. No player surely has one of them,
so each has a prior weight, and none excludes a bet completely.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
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
HABIT_WEIGHTS: Weights = tuple(habit.weight for habit in BETTING_HABITS)  # of an unknown player
_SLIP_RATE = 0.1  # share of decisions against the habit
_TEMPERATURE = 0.12  # of the softmax that picks a bet against the habit

MAX_CACHED_HANDS = 2048
"""Hands that a cache keeps. A decision looks at up to 120 hands of each opponent."""
_MAX_SOFTMAX_WEIGHTS = 8192


class _SoftmaxWeights(dict[float, float]):
    """Relative frequencies of bets against the habit, by the bet's probability."""

    def __missing__(self, chance: float) -> float:
        if len(self) >= _MAX_SOFTMAX_WEIGHTS:
            self.clear()
        self[chance] = weight = exp((chance - 1) / _TEMPERATURE)
        return weight


_softmax_weights = _SoftmaxWeights()


@dataclass(frozen=True, slots=True)
class PossibleOpponentHand:
    """A hand that the opponent may have, with each bet's probability and each habit's replies.

    `bets_likelier_than_higher` are in ascending order.
    """

    bet_probabilities: BetProbabilities
    bets_likelier_than_higher: bytes
    replies_by_habit: tuple[Replies, ...]

    def decision_likelihoods_by_habit(self, last_bet: int, action: int) -> list[float]:
        """Return the likelihood of this decision after `last_bet` by habit."""
        if action != CHECK:
            return self.bet_likelihoods_by_habit(last_bet, action)
        answers = (replies[last_bet] for replies in self.replies_by_habit)
        return [1 - _SLIP_RATE if reply == CHECK else _SLIP_RATE / 2 for reply in answers]

    def bet_likelihoods_by_habit(self, last_bet: int, bet: int) -> list[float]:
        """Return for each betting habit the likelihood of this bet above `last_bet`."""
        plausible = [*map(_softmax_weights.__getitem__, self.bet_probabilities[last_bet + 1 :])]
        slip = _SLIP_RATE * plausible[bet - last_bet - 1] / sum(plausible)
        return [
            slip + (1 - _SLIP_RATE) * (replies[last_bet] == bet)
            for replies in self.replies_by_habit
        ]


@lru_cache(maxsize=MAX_CACHED_HANDS)
def possible_opponent_hand(cards: int, hidden_card_count: int) -> PossibleOpponentHand:
    """Return the model of a hand: the probability of each bet, and the replies of each habit.

    The player holds `cards`; `hidden_card_count` other cards in play are unseen.
    """
    chances = bet_probabilities(cards, hidden_card_count)
    records = _find_bets_likelier_than_higher(chances)
    return PossibleOpponentHand(
        chances,
        records,
        tuple(_HabitReplies(habit, chances, records) for habit in BETTING_HABITS),
    )


def _find_bets_likelier_than_higher(chances: BetProbabilities) -> bytes:
    """Return the bets that are likelier than all higher ones, in ascending order."""
    records, top = bytearray(), -1.0
    for bet, chance in zip(_BETS_DESCENDING, chances[::-1], strict=True):
        if chance > top:
            records.append(bet)
            top = chance
    records.reverse()
    return bytes(records)


class _HabitReplies(dict[int, int]):
    """Replies of a habit to each last bet, computed on first access.

    `records` are the bets that are likelier than all higher ones. The likeliest bet above any last
    bet is the next of them.
    """

    __slots__ = ("_chances", "_habit", "_records")

    def __init__(self, habit: BettingHabit, chances: BetProbabilities, records: bytes) -> None:
        self._habit, self._chances, self._records = habit, chances, records

    def __missing__(self, last: int) -> int:
        self[last] = reply = self._choose_reply(last)
        return reply

    def _choose_reply(self, last_bet: int) -> int:
        chances, records = self._chances, self._records
        doubt, bold = self._habit.check_threshold, self._habit.bet_threshold
        if doubt is not None and last_bet != NO_BET and chances[last_bet] < doubt:
            return CHECK
        likeliest_index = bisect_right(records, last_bet)
        if likeliest_index == len(records):
            return CHECK
        likeliest_bet = records[likeliest_index]
        if bold is not None and chances[likeliest_bet] >= bold:
            return next(bet for bet in reversed(records) if chances[bet] >= bold)
        if last_bet != NO_BET and 1 - chances[last_bet] >= chances[likeliest_bet]:
            return CHECK
        return likeliest_bet
