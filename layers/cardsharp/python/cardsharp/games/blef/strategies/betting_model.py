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
    missing_cards,
)
from cardsharp.games.blef.strategies.large_round_policy import OVERLAP_CLASSES, bet_overlap
from cardsharp.games.blef.strategies.opponent_types import NO_BET, opponent_type_of

_MARKS = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 0.9999)  # where levels of chances end
_MIDDLES = [(low + high) / 2 for low, high in zip((0, *_MARKS), (*_MARKS, 1), strict=True)]
_STEPS = (2, 4, 7, 13, 25)
_STEP_OF = tuple(bisect_right(_STEPS, step) for step in range(1, len(BETS) + 1))
_EDGES = 4
_TOP = len(BETS) - 1

_PROBABILITY_SCALE, _DOUBTED = 0.15, 5.0
"""At first: a bet is drawn e times as often by so much of a chance; the same of a check's odds."""

_NEIGHBOUR_RATE = 0.4  # how much of what is learned of a level is learned of the two beside it
_NEAR = (1.0, 0.6, 0.3)
_FAR = 0.1  # the same of a check, by how far a level is off
_BY_HEIGHT, _BY_REST = 0.5, 1.0
"""Learning rates of a check: for bets that look the same to all players, and for the rest."""

_FLAT = (0.0,) * len(_MIDDLES)


def _levels(chances: BetProbabilities) -> Sequence[int]:
    return [bisect_right(_MARKS, chance) for chance in chances]


@cache
def _bare(cards: int) -> Sequence[int]:
    """The level of each bet for somebody who sees no card of so many."""
    return _levels(bet_probabilities(0, cards))


class BetFeatures:
    """Features of each bet for certain cards, with so many cards in play.

    `levels` are the probability levels of the bets. `looks` is twice the level, plus 1 where no
    higher bet is as likely. `bare` has the levels for an observer without cards.
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

    def record_bets(self, last: int) -> Sequence[int]:
        """Return the bets above `last` that are likelier than all bets in between."""
        bets = self._firsts.get(last)
        if bets is None:
            bets, top, highest = [], -1.0, max(self._chances[last + 1 :])
            for bet in range(last + 1, len(BETS)):
                if self._chances[bet] > top:
                    bets.append(bet)
                    top = self._chances[bet]
                    if top == highest:
                        break
            self._firsts[last] = bets
        return bets

    def best_level(self, last: int) -> int:
        """The level of the likeliest bet above `last`."""
        return self.levels[self.record_bets(last)[-1]]


@lru_cache(maxsize=8192)
def bet_features(cards: int, hidden: int) -> BetFeatures:
    """Return the features for a player with these cards who does not see `hidden` others."""
    return BetFeatures(
        opponent_type_of(cards, hidden).bet_probabilities, cards.bit_count() + hidden
    )


@lru_cache(maxsize=8192)
def bet_features_if_true(pool: int, hidden: int, last: int) -> BetFeatures:
    """Return the features for a player who believes the last bet, if it can be true."""
    missing = 0 if last == NO_BET else missing_cards(last, pool)
    unclaimed = hidden - missing.bit_count()
    return bet_features(pool, hidden) if unclaimed < 0 else bet_features(pool | missing, unclaimed)


@cache
def _bonds(last: int) -> tuple[int, ...]:
    return tuple(bet_overlap(last, bet) for bet in range(last + 1, len(BETS)))


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
        self, features: BetFeatures, last: int, action: int, learning_rate: float
    ) -> "BettingModel":
        """Return the model updated by a decision; a well predicted one changes it less."""
        probabilities = BettingProbabilities(self)
        checked = probabilities.check_probability(features, last)
        checks, doubts, rests, opened = (
            self.check_log_odds,
            self.prior_check_log_odds,
            self.best_alternative_log_odds,
            features.bare,
        )
        if last != NO_BET:
            off = (action == CHECK) - checked
            checks = _around(checks, features.levels[last], off)
            doubts = _around(doubts, opened[last], _BY_HEIGHT * off)
            rests = _around(rests, features.best_level(last), _BY_REST * off)
        if action == CHECK:
            return replace(
                self,
                check_log_odds=checks,
                prior_check_log_odds=doubts,
                best_alternative_log_odds=rests,
            )
        weights, begin = probabilities.bet_weights(features, last), last + 1
        total, firsts = sum(weights), {*features.record_bets(last)}
        offs = [(bet == action) - weight / total for bet, weight in enumerate(weights, begin)]
        edges = [2 * (bet in firsts) + (features.looks[bet] & 1) for bet in range(begin, len(BETS))]
        levels = _summed(offs, features.levels[begin:], self.probability_weights)
        triples = zip((0.0, *levels), levels, (*levels[1:], 0.0), strict=False)
        spread = [centre + _NEIGHBOUR_RATE * (lower + two) for lower, centre, two in triples]
        return BettingModel(
            _moved(self.probability_weights, spread, learning_rate),
            _moved(self.record_weights, _summed(offs, edges, self.record_weights), learning_rate),
            _moved(
                self.raise_size_weights,
                _summed(offs, _STEP_OF, self.raise_size_weights),
                learning_rate,
            ),
            _moved(
                self.overlap_weights,
                _summed(offs, _bonds(last), self.overlap_weights),
                learning_rate,
            ),
            checks,
            _moved(
                self.prior_level_weights,
                _summed(offs, opened[begin:], self.prior_level_weights),
                learning_rate,
            ),
            doubts,
            rests,
            self.opening_weights
            if last != NO_BET
            else _moved(self.opening_weights, spread, learning_rate),
        )


def _around(old: Sequence[float], at: int, by: float) -> list[float]:
    """Shift the level at `at` by `by`, and other levels less the farther away they are."""
    far = (abs(level - at) for level in range(len(old)))
    parts = (_NEAR[n] if n < len(_NEAR) else _FAR for n in far)
    return [value + by * part for value, part in zip(old, parts, strict=True)]


def _summed(offs: Sequence[float], places: Sequence[int], old: Sequence[float]) -> list[float]:
    """Sum the deviations at each index of the old weights."""
    totals = [0.0] * len(old)
    for off, place in zip(offs, places, strict=False):
        totals[place] += off
    return totals


def _moved(old: Sequence[float], by: Sequence[float], rate: float) -> list[float]:
    return [value + rate * more for value, more in zip(old, by, strict=True)]


class BettingProbabilities:
    """A betting model prepared for evaluation, with weights instead of logarithms."""

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

    def check_probability(self, features: BetFeatures, last: int) -> float:
        """The chance of the check."""
        if last in {NO_BET, _TOP}:
            return float(last == _TOP)
        model = self._model
        by_last = (
            model.check_log_odds[features.levels[last]]
            + model.prior_check_log_odds[features.bare[last]]
        )
        return 1 / (1 + exp(-by_last - model.best_alternative_log_odds[features.best_level(last)]))

    def bet_weights(self, features: BetFeatures, last: int) -> list[float]:
        """Return the relative frequency of each bet above the last one, up to a factor."""
        begin, looks, key = last + 1, features.looks, (last, features.cards)
        near = self._near.get(key)
        if near is None:
            opened = features.bare[begin:]
            near = self._near[key] = [
                self._steps[step] * self._bonds[shared] * self._heights[height]
                for step, shared, height in zip(_STEP_OF, _bonds(last), opened, strict=False)
            ]
        opens = last == NO_BET
        likings, firsts = self._by_looks[opens]
        appeals = self._appeals[opens].get(features)
        if appeals is None:
            appeals = self._appeals[opens][features] = [*map(likings.__getitem__, looks)]
        weights = [*map(mul, appeals[begin:], near)]
        for bet in features.record_bets(last):
            weights[bet - begin] = firsts[looks[bet]] * near[bet - begin]
        return weights

    def action_probability(self, features: BetFeatures, last: int, action: int) -> float:
        """Return the probability of the action."""
        check = self.check_probability(features, last)
        if action == CHECK:
            return check
        weights = self.bet_weights(features, last)
        return (1 - check) * weights[action - last - 1] / sum(weights)


def _by_looks(edges: Sequence[float], levels: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the weights of bets by look: of ordinary bets, and of bets likelier than all lower."""
    weights = [exp(level) for level in levels]
    likings, firsts = (
        [weight * edge for weight in weights for edge in two] for two in (edges[:2], edges[2:])
    )
    return likings, firsts


class SampledReplies(dict[int, int]):
    """Replies of a player with certain cards to each last bet, sampled on first access.

    One random number decides all checks: a player who doubts a bet doubts any less likely one.
    """

    def __init__(
        self,
        probabilities: BettingProbabilities,
        features_of: Callable[[int], BetFeatures],
        rng: Random,
    ) -> None:
        super().__init__()
        self._ask, self._doubt = (probabilities, features_of, rng), rng.random()

    def __missing__(self, last: int) -> int:
        probabilities, features_of, rng = self._ask
        reply, traits = CHECK, features_of(last)
        if self._doubt >= probabilities.check_probability(traits, last):
            # As `choices` of rng does, without what that asks besides.
            sums = [*accumulate(probabilities.bet_weights(traits, last))]
            reply = last + 1 + bisect_right(sums, rng.random() * sums[-1], 0, len(sums) - 1)
        self[last] = reply
        return reply
