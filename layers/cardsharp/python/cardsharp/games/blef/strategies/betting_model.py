"""Model of a player's betting, learned from decisions whose cards were revealed later.

The model assumes no habits. It learns how often a last bet is checked, by that bet's
probability given the player's cards and without them, and by the probability of the best higher
bet. It also learns the weight of each feature of a higher bet: its probability by these cards
(separately for opening bets) and without cards, whether a lower or a higher bet is as likely,
how far it is above the last bet, and how many of its cards the last bet claims too.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate
from math import exp
from operator import mul
from random import Random

from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.strategies.bet_probabilities import (
    BetProbabilities,
    bet_probabilities,
    missing_card_bits,
)
from cardsharp.games.blef.strategies.large_round_policy import OVERLAP_CLASSES, bet_overlap_class
from cardsharp.games.blef.strategies.opponent_types import NO_BET, opponent_type_of

# upper ends of the probability levels
_MARKS = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 0.9999)
_MIDDLES = [(low + high) / 2 for low, high in zip((0, *_MARKS), (*_MARKS, 1), strict=True)]
_STEPS = (2, 4, 7, 13, 25)
_STEP_OF = tuple(bisect_right(_STEPS, step) for step in range(1, len(BETS) + 1))
_EDGES = 4
_TOP = len(BETS) - 1

_PROBABILITY_SCALE, _DOUBTED = 0.15, 5.0
"""Initial values of a model.

A bet is made e times as often if its probability is higher by `_PROBABILITY_SCALE`. The log odds of
a check fall by `_DOUBTED` per unit of the last bet's probability.
"""

_NEIGHBOUR_RATE = 0.4  # share of an update that the two neighbouring levels receive
_NEAR = (1.0, 0.6, 0.3)  # shares of a check's update, by the distance of a level
_FAR = 0.1  # the share of all levels that are farther away
_BY_HEIGHT, _BY_REST = 0.5, 1.0
"""Learning rates of a check: for bets that look the same to all players, and for the rest."""

_FLAT = (0.0,) * len(_MIDDLES)


def _levels(chances: BetProbabilities) -> Sequence[int]:
    return [bisect_right(_MARKS, chance) for chance in chances]


@cache
def _bare(cards: int) -> Sequence[int]:
    """Return the level of each bet for a player who sees none of `cards` cards in play."""
    return _levels(bet_probabilities(0, cards))


class BetFeatures:
    """Features of each bet for a hand, with a number of cards in play.

    `levels` are the probability levels of the bets. `looks` is twice the level, plus 1 if no higher
    bet is as likely. `bare` has the levels for an observer without cards.
    """

    def __init__(self, bet_probabilities: BetProbabilities, card_count: int) -> None:
        self.cards, self.bare, self.levels = (
            card_count,
            _bare(card_count),
            _levels(bet_probabilities),
        )
        self.looks = [2 * level for level in self.levels]
        top = -1.0
        for bet in range(_TOP, NO_BET, -1):
            if bet_probabilities[bet] > top:
                top = bet_probabilities[bet]
                self.looks[bet] += 1
        self._chances = bet_probabilities
        self._firsts: dict[int, Sequence[int]] = {}

    def bets_likelier_than_lower(self, last_bet: int) -> Sequence[int]:
        """Return the bets above `last_bet` that are likelier than all bets in between."""
        bets = self._firsts.get(last_bet)
        if bets is None:
            bets, top, highest = [], -1.0, max(self._chances[last_bet + 1 :])
            for bet in range(last_bet + 1, len(BETS)):
                if self._chances[bet] > top:
                    bets.append(bet)
                    top = self._chances[bet]
                    if top == highest:
                        break
            self._firsts[last_bet] = bets
        return bets

    def likeliest_bet_level(self, last_bet: int) -> int:
        """Return the level of the likeliest bet above `last_bet`."""
        return self.levels[self.bets_likelier_than_lower(last_bet)[-1]]


@lru_cache(maxsize=8192)
def bet_features(cards: int, hidden: int) -> BetFeatures:
    """Return the features for a player with these cards who does not see `hidden` others."""
    return BetFeatures(
        opponent_type_of(cards, hidden).bet_probabilities, cards.bit_count() + hidden
    )


@lru_cache(maxsize=8192)
def bet_features_if_true(pool: int, hidden: int, last_bet: int) -> BetFeatures:
    """Return the features for a player who believes the last bet, if it can be true."""
    missing = 0 if last_bet == NO_BET else missing_card_bits(last_bet, pool)
    unclaimed = hidden - missing.bit_count()
    return bet_features(pool, hidden) if unclaimed < 0 else bet_features(pool | missing, unclaimed)


@cache
def _bonds(last_bet: int) -> tuple[int, ...]:
    return tuple(bet_overlap_class(last_bet, bet) for bet in range(last_bet + 1, len(BETS)))


@dataclass(frozen=True, slots=True)
class BettingModel:
    """Log weights of the features of a bet, and log odds of a check by level.

    `best_alternative_log_odds` are by the level of the likeliest higher bet. `opening_weights`
    are added to `probability_weights` where there is no last bet.
    """

    probability_weights: Sequence[float] = tuple(
        (middle - 1) / _PROBABILITY_SCALE for middle in _MIDDLES
    )
    record_weights: Sequence[float] = (0.0,) * _EDGES
    raise_size_weights: Sequence[float] = (0.0,) * (len(_STEPS) + 1)
    overlap_weights: Sequence[float] = (0.0,) * OVERLAP_CLASSES
    check_log_odds: Sequence[float] = tuple(_DOUBTED * (0.3 - middle) for middle in _MIDDLES)
    prior_level_weights: Sequence[float] = _FLAT
    prior_check_log_odds: Sequence[float] = _FLAT
    best_alternative_log_odds: Sequence[float] = _FLAT
    opening_weights: Sequence[float] = _FLAT

    def updated(
        self, features: BetFeatures, last_bet: int, action: int, learning_rate: float
    ) -> "BettingModel":
        """Return the model updated by a decision; a well predicted one changes it less."""
        # One step of gradient ascent on the log likelihood. The gradient of each log weight is how
        # often its feature occurred less how often it was expected, so a well predicted decision
        # hardly changes anything.
        probabilities = PreparedBettingModel(self)
        model = self
        if last_bet != NO_BET:
            deviation = (action == CHECK) - probabilities.check_probability(features, last_bet)
            model = self._with_check_deviation(features, last_bet, deviation)
        if action == CHECK:
            return model
        weights = probabilities.bet_weights(features, last_bet)
        total = sum(weights)
        deviations = [
            (bet == action) - weight / total for bet, weight in enumerate(weights, last_bet + 1)
        ]
        return model._with_bet_deviations(features, last_bet, deviations, learning_rate)  # noqa: SLF001 - its own

    def _with_check_deviation(
        self, features: BetFeatures, last_bet: int, deviation: float
    ) -> "BettingModel":
        """Return the model with its log odds of a check moved by this deviation."""
        return replace(
            self,
            check_log_odds=_around(self.check_log_odds, features.levels[last_bet], deviation),
            prior_check_log_odds=_around(
                self.prior_check_log_odds, features.bare[last_bet], _BY_HEIGHT * deviation
            ),
            best_alternative_log_odds=_around(
                self.best_alternative_log_odds,
                features.likeliest_bet_level(last_bet),
                _BY_REST * deviation,
            ),
        )

    def _with_bet_deviations(
        self, features: BetFeatures, last_bet: int, deviations: Sequence[float], rate: float
    ) -> "BettingModel":
        """Return the model with the weights of bets moved by the deviation of each higher bet."""

        def moved(weights: Sequence[float], indexes: Sequence[int]) -> Sequence[float]:
            return _moved(weights, _summed(deviations, indexes, weights), rate)

        begin, firsts = last_bet + 1, {*features.bets_likelier_than_lower(last_bet)}
        edges = [2 * (bet in firsts) + (features.looks[bet] & 1) for bet in range(begin, len(BETS))]
        levels = _summed(deviations, features.levels[begin:], self.probability_weights)
        triples = zip((0.0, *levels), levels, (*levels[1:], 0.0), strict=False)
        spread = [centre + _NEIGHBOUR_RATE * (lower + upper) for lower, centre, upper in triples]
        opening = self.opening_weights
        return replace(
            self,
            probability_weights=_moved(self.probability_weights, spread, rate),
            record_weights=moved(self.record_weights, edges),
            raise_size_weights=moved(self.raise_size_weights, _STEP_OF),
            overlap_weights=moved(self.overlap_weights, _bonds(last_bet)),
            prior_level_weights=moved(self.prior_level_weights, features.bare[begin:]),
            opening_weights=opening if last_bet != NO_BET else _moved(opening, spread, rate),
        )


def _around(log_odds: Sequence[float], at: int, by: float) -> list[float]:
    """Return the levels with `by` added at `at`, and less of it the farther away a level is."""
    far = (abs(level - at) for level in range(len(log_odds)))
    factors = (_NEAR[n] if n < len(_NEAR) else _FAR for n in far)
    return [value + by * factor for value, factor in zip(log_odds, factors, strict=True)]


def _summed(offs: Sequence[float], indexes: Sequence[int], weights: Sequence[float]) -> list[float]:
    """Return the sum of the deviations at each index of the old weights."""
    totals = [0.0] * len(weights)
    for off, index in zip(offs, indexes, strict=False):
        totals[index] += off
    return totals


def _moved(weights: Sequence[float], by: Sequence[float], rate: float) -> list[float]:
    return [value + rate * more for value, more in zip(weights, by, strict=True)]


class PreparedBettingModel:
    """Betting model prepared for evaluation, with weights instead of logarithms."""

    def __init__(self, model: BettingModel) -> None:
        self._model = model
        self._heights = [exp(height) for height in model.prior_level_weights]
        edges = [exp(edge) for edge in model.record_weights]
        opened = [
            weight + more
            for weight, more in zip(model.probability_weights, model.opening_weights, strict=True)
        ]
        self._by_looks = [
            _by_looks(edges, levels) for levels in (model.probability_weights, opened)
        ]
        self._steps = [exp(step) for step in model.raise_size_weights]
        self._bonds = [exp(bond_) for bond_ in model.overlap_weights]
        self._near: dict[tuple[int, int], list[float]] = {}
        self._appeals: tuple[dict[BetFeatures, list[float]], ...] = ({}, {})

    def check_probability(self, features: BetFeatures, last_bet: int) -> float:
        """Return the probability of a check."""
        if last_bet in {NO_BET, _TOP}:
            return float(last_bet == _TOP)
        model = self._model
        by_last = (
            model.check_log_odds[features.levels[last_bet]]
            + model.prior_check_log_odds[features.bare[last_bet]]
        )
        return 1 / (
            1
            + exp(
                -by_last - model.best_alternative_log_odds[features.likeliest_bet_level(last_bet)]
            )
        )

    def bet_weights(self, features: BetFeatures, last_bet: int) -> list[float]:
        """Return the relative frequency of each bet above the last one, up to a factor."""
        begin, looks, key = last_bet + 1, features.looks, (last_bet, features.cards)
        near = self._near.get(key)
        if near is None:
            opened = features.bare[begin:]
            near = self._near[key] = [
                self._steps[step] * self._bonds[shared] * self._heights[height]
                for step, shared, height in zip(_STEP_OF, _bonds(last_bet), opened, strict=False)
            ]
        opens = last_bet == NO_BET
        likings, firsts = self._by_looks[opens]
        appeals = self._appeals[opens].get(features)
        if appeals is None:
            appeals = self._appeals[opens][features] = [*map(likings.__getitem__, looks)]
        weights = [*map(mul, appeals[begin:], near)]
        for bet in features.bets_likelier_than_lower(last_bet):
            weights[bet - begin] = firsts[looks[bet]] * near[bet - begin]
        return weights

    def action_probability(self, features: BetFeatures, last_bet: int, action: int) -> float:
        """Return the probability of the action."""
        check = self.check_probability(features, last_bet)
        if action == CHECK:
            return check
        weights = self.bet_weights(features, last_bet)
        return (1 - check) * weights[action - last_bet - 1] / sum(weights)


def _by_looks(edges: Sequence[float], levels: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the weights of bets by look: of ordinary bets, and of bets likelier than all lower."""
    weights = [exp(level) for level in levels]
    likings, firsts = (
        [weight * edge for weight in weights for edge in two] for two in (edges[:2], edges[2:])
    )
    return likings, firsts


class SampledRepliesByLastBet(dict[int, int]):
    """Replies of a player with certain cards to each last bet, sampled on first access.

    One random number decides all checks: a player who doubts a bet doubts any less likely one.
    """

    def __init__(
        self,
        probabilities: PreparedBettingModel,
        features_of: Callable[[int], BetFeatures],
        rng: Random,
    ) -> None:
        super().__init__()
        self._ask, self._doubt = (probabilities, features_of, rng), rng.random()

    def __missing__(self, last: int) -> int:
        probabilities, features_of, rng = self._ask
        reply, traits = CHECK, features_of(last)
        if self._doubt >= probabilities.check_probability(traits, last):
            # The same as `rng.choices`, but faster: without its checks of the arguments.
            sums = [*accumulate(probabilities.bet_weights(traits, last))]
            reply = last + 1 + bisect_right(sums, rng.random() * sums[-1], 0, len(sums) - 1)
        self[last] = reply
        return reply
