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
from functools import cache, lru_cache, partial
from itertools import accumulate
from math import exp
from operator import mul
from random import Random
from typing import TypeVar

from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.strategies.bet_probabilities import (
    BetProbabilities,
    bet_probabilities,
    missing_card_bits,
)
from cardsharp.games.blef.strategies.large_round_policy import OVERLAP_CLASSES, bet_overlap_class
from cardsharp.games.blef.strategies.opponent_types import (
    MAX_CACHED_HANDS,
    NO_BET,
    PossibleOpponentHand,
    possible_opponent_hand,
)

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

# upper ends of the probability levels
_LEVEL_BOUNDS = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 0.9999)
_LEVEL_MIDPOINTS = [
    (low + high) / 2 for low, high in zip((0, *_LEVEL_BOUNDS), (*_LEVEL_BOUNDS, 1), strict=True)
]
_RAISE_SIZE_BOUNDS = (2, 4, 7, 13, 25)
_RAISE_SIZE_CLASSES = tuple(
    bisect_right(_RAISE_SIZE_BOUNDS, step) for step in range(1, len(BETS) + 1)
)
_RECORD_CLASS_COUNT = 4
_HIGHEST_BET = len(BETS) - 1
_DOUBLED = bytes(2 * level % 256 for level in range(256))

_PROBABILITY_SCALE, _CHECK_LOG_ODDS_SLOPE = 0.15, 5.0
"""Initial values of a model.

A bet is made e times as often if its probability is higher by `_PROBABILITY_SCALE`. The log odds of
a check fall by `_CHECK_LOG_ODDS_SLOPE` per unit of the last bet's probability.
"""

_NEIGHBOUR_RATE = 0.4  # share of an update that the two neighbouring levels receive
_NEAR_LEVEL_SHARES = (1.0, 0.6, 0.3)  # shares of a check's update, by the distance of a level
_FAR_LEVEL_SHARE = 0.1  # the share of all levels that are farther away
_PRIOR_LEVEL_RATE, _BEST_ALTERNATIVE_RATE = 0.5, 1.0
"""Learning rates of a check: for bets that look the same to all players, and for the rest."""

MAX_WEIGHTED_HANDS, _MAX_RAISE_FACTORS = 256, 128
"""Bounds of the caches of a prepared model: its lists have up to 88 numbers each."""

_ZERO_WEIGHTS = (0.0,) * len(_LEVEL_MIDPOINTS)


_find_level = partial(bisect_right, _LEVEL_BOUNDS)


def _to_levels(chances: BetProbabilities) -> bytes:
    return bytes(map(_find_level, chances))


@cache  # an entry for each number of cards in play
def _compute_prior_levels(cards: int) -> Sequence[int]:
    """Return the level of each bet for a player who sees none of the `cards` in play."""
    return _to_levels(bet_probabilities(0, cards))


class HandBetFeatures:
    """Features of each bet for a hand, with a number of cards in play.

    `levels` are the probability levels of the bets. `looks` is twice the level, plus 1 if no higher
    bet is as likely. `bare` has the levels for an observer without cards.
    """

    __slots__ = ("_chances", "_record_bets", "bare", "cards", "levels", "looks")

    def __init__(self, hand: PossibleOpponentHand, card_count: int) -> None:
        self.cards, self.bare, self.levels = (
            card_count,
            _compute_prior_levels(card_count),
            _to_levels(hand.bet_probabilities),
        )
        looks = bytearray(self.levels.translate(_DOUBLED))
        for bet in hand.bets_likelier_than_higher:
            looks[bet] += 1
        self.looks = bytes(looks)
        self._chances = hand.bet_probabilities
        self._record_bets: dict[int, Sequence[int]] = {}

    def bets_likelier_than_lower(self, last_bet: int) -> Sequence[int]:
        """Return the bets above `last_bet` that are likelier than all bets in between."""
        bets = self._record_bets.get(last_bet)
        if bets is None:
            higher = self._chances[last_bet + 1 :]
            to_likeliest = higher[: higher.index(max(higher)) + 1]
            records, top = bytearray(), -1.0
            for bet, chance in enumerate(to_likeliest, last_bet + 1):
                if chance > top:
                    records.append(bet)
                    top = chance
            bets = self._record_bets[last_bet] = bytes(records)
        return bets

    def likeliest_bet_level(self, last_bet: int) -> int:
        """Return the level of the likeliest bet above `last_bet`."""
        return self.levels[self.bets_likelier_than_lower(last_bet)[-1]]


@lru_cache(maxsize=MAX_CACHED_HANDS)
def bet_features(cards: int, hidden: int) -> HandBetFeatures:
    """Return the features for a player with these cards who does not see `hidden` others."""
    return HandBetFeatures(possible_opponent_hand(cards, hidden), cards.bit_count() + hidden)


@lru_cache(maxsize=MAX_CACHED_HANDS)
def bet_features_if_believed(pool: int, hidden: int, last_bet: int) -> HandBetFeatures:
    """Return the features for a player who believes the last bet, if it can be true."""
    missing = 0 if last_bet == NO_BET else missing_card_bits(last_bet, pool)
    unclaimed = hidden - missing.bit_count()
    return bet_features(pool, hidden) if unclaimed < 0 else bet_features(pool | missing, unclaimed)


@cache  # an entry for each bet
def _find_overlap_classes(last_bet: int) -> tuple[int, ...]:
    return tuple(bet_overlap_class(last_bet, bet) for bet in range(last_bet + 1, len(BETS)))


@dataclass(frozen=True, slots=True)
class BettingModel:
    """Log weights of the features of a bet, and log odds of a check by level.

    `best_alternative_log_odds` are by the level of the likeliest higher bet. `opening_weights`
    are added to `probability_weights` where there is no last bet.
    """

    probability_weights: Sequence[float] = tuple(
        (middle - 1) / _PROBABILITY_SCALE for middle in _LEVEL_MIDPOINTS
    )
    record_weights: Sequence[float] = (0.0,) * _RECORD_CLASS_COUNT
    raise_size_weights: Sequence[float] = (0.0,) * (len(_RAISE_SIZE_BOUNDS) + 1)
    overlap_weights: Sequence[float] = (0.0,) * OVERLAP_CLASSES
    check_log_odds: Sequence[float] = tuple(
        _CHECK_LOG_ODDS_SLOPE * (0.3 - middle) for middle in _LEVEL_MIDPOINTS
    )
    prior_level_weights: Sequence[float] = _ZERO_WEIGHTS
    prior_check_log_odds: Sequence[float] = _ZERO_WEIGHTS
    best_alternative_log_odds: Sequence[float] = _ZERO_WEIGHTS
    opening_weights: Sequence[float] = _ZERO_WEIGHTS

    def updated(
        self, features: HandBetFeatures, last_bet: int, action: int, learning_rate: float
    ) -> "BettingModel":
        """Return the model updated by a decision; a well predicted one changes it less."""
        # One step of gradient ascent on the log likelihood. The gradient of each log weight is how
        # often its feature occurred less how often it was expected, so a well predicted decision
        # hardly changes anything.
        probabilities = PreparedBettingModel(self)
        model = self
        if last_bet != NO_BET:
            deviation = (action == CHECK) - probabilities.check_probability(features, last_bet)
            model = self._update_check_log_odds(features, last_bet, deviation)
        if action == CHECK:
            return model
        weights = probabilities.bet_weights(features, last_bet)
        total = sum(weights)
        deviations = [
            (bet == action) - weight / total for bet, weight in enumerate(weights, last_bet + 1)
        ]
        return model._update_bet_weights(features, last_bet, deviations, learning_rate)  # noqa: SLF001 - its own

    def _update_check_log_odds(
        self, features: HandBetFeatures, last_bet: int, deviation: float
    ) -> "BettingModel":
        """Return the model with its log odds of a check changed by this deviation."""
        return replace(
            self,
            check_log_odds=_spread_update(
                self.check_log_odds, features.levels[last_bet], deviation
            ),
            prior_check_log_odds=_spread_update(
                self.prior_check_log_odds, features.bare[last_bet], _PRIOR_LEVEL_RATE * deviation
            ),
            best_alternative_log_odds=_spread_update(
                self.best_alternative_log_odds,
                features.likeliest_bet_level(last_bet),
                _BEST_ALTERNATIVE_RATE * deviation,
            ),
        )

    def _update_bet_weights(
        self, features: HandBetFeatures, last_bet: int, deviations: Sequence[float], rate: float
    ) -> "BettingModel":
        """Return the model with its weights of bets changed by each higher bet's deviation."""

        def moved(weights: Sequence[float], indexes: Sequence[int]) -> Sequence[float]:
            return _add_scaled(weights, _sum_by_index(deviations, indexes, weights), rate)

        begin, firsts = last_bet + 1, {*features.bets_likelier_than_lower(last_bet)}
        edges = [2 * (bet in firsts) + (features.looks[bet] & 1) for bet in range(begin, len(BETS))]
        levels = _sum_by_index(deviations, features.levels[begin:], self.probability_weights)
        triples = zip((0.0, *levels), levels, (*levels[1:], 0.0), strict=False)
        spread = [centre + _NEIGHBOUR_RATE * (lower + upper) for lower, centre, upper in triples]
        opening = self.opening_weights
        return replace(
            self,
            probability_weights=_add_scaled(self.probability_weights, spread, rate),
            record_weights=moved(self.record_weights, edges),
            raise_size_weights=moved(self.raise_size_weights, _RAISE_SIZE_CLASSES),
            overlap_weights=moved(self.overlap_weights, _find_overlap_classes(last_bet)),
            prior_level_weights=moved(self.prior_level_weights, features.bare[begin:]),
            opening_weights=opening if last_bet != NO_BET else _add_scaled(opening, spread, rate),
        )


def _spread_update(log_odds: Sequence[float], center: int, amount: float) -> list[float]:
    """Return the log odds with `amount` added at `center`, and less at levels farther away."""
    far = (abs(level - center) for level in range(len(log_odds)))
    factors = (
        _NEAR_LEVEL_SHARES[n] if n < len(_NEAR_LEVEL_SHARES) else _FAR_LEVEL_SHARE for n in far
    )
    return [value + amount * factor for value, factor in zip(log_odds, factors, strict=True)]


def _sum_by_index(
    deviations: Sequence[float], indexes: Sequence[int], weights: Sequence[float]
) -> list[float]:
    """Return the sum of the deviations at each index of the old weights."""
    totals = [0.0] * len(weights)
    for off, index in zip(deviations, indexes, strict=False):
        totals[index] += off
    return totals


def _add_scaled(weights: Sequence[float], changes: Sequence[float], rate: float) -> list[float]:
    return [value + rate * more for value, more in zip(weights, changes, strict=True)]


class _BoundedCache(dict[_Key, _Value]):
    """Cache that is emptied when it is full, which is seldom within a decision."""

    def __init__(self, max_size: int) -> None:
        super().__init__()
        self._max_size = max_size

    def __setitem__(self, key: _Key, value: _Value) -> None:
        if len(self) >= self._max_size:
            self.clear()
        super().__setitem__(key, value)


class PreparedBettingModel:
    """Betting model prepared for evaluation, with weights instead of logarithms."""

    def __init__(self, model: BettingModel) -> None:
        self._model = model
        self._prior_level_factors = [exp(height) for height in model.prior_level_weights]
        edges = [exp(edge) for edge in model.record_weights]
        opened = [
            weight + more
            for weight, more in zip(model.probability_weights, model.opening_weights, strict=True)
        ]
        self._look_weights = [
            _compute_look_weights(edges, levels) for levels in (model.probability_weights, opened)
        ]
        self._raise_size_factors = [exp(step) for step in model.raise_size_weights]
        self._overlap_factors = [exp(bond_) for bond_ in model.overlap_weights]
        self._raise_factors = _BoundedCache[tuple[int, int], list[float]](_MAX_RAISE_FACTORS)
        self.weights_by_features = tuple(
            _BoundedCache[HandBetFeatures, list[float]](MAX_WEIGHTED_HANDS) for _ in range(2)
        )

    def check_probability(self, features: HandBetFeatures, last_bet: int) -> float:
        """Return the probability of a check."""
        if last_bet in {NO_BET, _HIGHEST_BET}:
            return float(last_bet == _HIGHEST_BET)
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

    def bet_weights(self, features: HandBetFeatures, last_bet: int) -> list[float]:
        """Return the relative frequency of each bet above the last one, up to a factor."""
        begin, looks, key = last_bet + 1, features.looks, (last_bet, features.cards)
        near = self._raise_factors.get(key)
        if near is None:
            opened = features.bare[begin:]
            near = self._raise_factors[key] = [
                self._raise_size_factors[step]
                * self._overlap_factors[shared]
                * self._prior_level_factors[height]
                for step, shared, height in zip(
                    _RAISE_SIZE_CLASSES, _find_overlap_classes(last_bet), opened, strict=False
                )
            ]
        opens = last_bet == NO_BET
        likings, firsts = self._look_weights[opens]
        appeals = self.weights_by_features[opens].get(features)
        if appeals is None:
            appeals = self.weights_by_features[opens][features] = [*map(likings.__getitem__, looks)]
        weights = [*map(mul, appeals[begin:], near)]
        for bet in features.bets_likelier_than_lower(last_bet):
            weights[bet - begin] = firsts[looks[bet]] * near[bet - begin]
        return weights

    def action_probability(self, features: HandBetFeatures, last_bet: int, action: int) -> float:
        """Return the probability of the action."""
        check = self.check_probability(features, last_bet)
        if action == CHECK:
            return check
        weights = self.bet_weights(features, last_bet)
        return (1 - check) * weights[action - last_bet - 1] / sum(weights)


def _compute_look_weights(
    edges: Sequence[float], levels: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return weights of bets by look: of ordinary bets, and of bets likelier than all lower."""
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
        features_of: Callable[[int], HandBetFeatures],
        rng: Random,
    ) -> None:
        super().__init__()
        self._model_and_rng, self._check_threshold = (probabilities, features_of, rng), rng.random()

    def __missing__(self, last: int) -> int:
        probabilities, features_of, rng = self._model_and_rng
        reply, traits = CHECK, features_of(last)
        if self._check_threshold >= probabilities.check_probability(traits, last):
            # The same as `rng.choices`, but faster: without its checks of the arguments.
            sums = [*accumulate(probabilities.bet_weights(traits, last))]
            reply = last + 1 + bisect_right(sums, rng.random() * sums[-1], 0, len(sums) - 1)
        self[last] = reply
        return reply
