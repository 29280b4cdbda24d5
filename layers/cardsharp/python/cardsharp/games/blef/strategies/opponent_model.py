"""Opponent models, learned from earlier rounds, whose hands were revealed.

Each decision shows how well it was predicted: by each habit of `opponent_types.py`, and by two
learned betting models (`betting_model.py`). One of them is for players who use only their own
cards, the other for players who also believe the last bet. Our tables are a candidate, too, because
a player who plays like them cannot be exploited. Older decisions count less, because players
change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import exp, log

from cardsharp.games.blef.actions import BETS
from cardsharp.games.blef.position import BlefPosition, position_of
from cardsharp.games.blef.rules import MIN_PLAYERS, Round
from cardsharp.games.blef.strategies.bet_probabilities import card_bits
from cardsharp.games.blef.strategies.betting_model import (
    BettingModel,
    HandBetFeatures,
    PreparedBettingModel,
    bet_features,
    bet_features_if_believed,
)
from cardsharp.games.blef.strategies.equilibrium import MixedStrategy
from cardsharp.games.blef.strategies.opponent_types import (
    HABIT_WEIGHTS,
    NO_BET,
    Weights,
    possible_opponent_hand,
)
from cardsharp.games.blef.strategies.table_policy import mixed_strategy

_DECAY_FACTOR = 0.95  # factor by which the weight of a decision falls with each later one
_LEARNING_RATE, _MIN_RATE_SHARE, _HALVING_DECISIONS = 1.2, 0.5, 20.0
"""Learning rate at first, the minimum share of it, and the decisions after which it is halved."""

_CARDS_ONLY_PRIOR, _BELIEVING_PRIOR = 0.3, 0.05
"""Prior probabilities that a betting model predicts a player best.

The first model uses the player's own cards, the second also what the last bet claims.
"""

_MIN_BELIEVING_WEIGHT = 0.08  # a believing model less likely than this is not evaluated
_PRIOR_SHARE = 0.1  # share of the prior weights that always remains in the models' weights
_EVIDENCE_EXPONENT = 0.7  # exponent of the evidence, below 1 because no model fits a player exactly
_MODEL_ERROR_RATE, _POLICY_ERROR_RATE = 0.02, 0.05
"""Shares of decisions that a betting model, or our tables, cannot predict at all."""

MAX_SMALL_ROUND_CARDS = 7
"""Cards in play up to which our tables are hard to exploit (docs/blef-strength.md)."""

_MIN_LOG_ODDS, _LOG_ODDS_PER_DECISION, _MAX_COUNTED_DECISIONS = 0.1, 0.3, 20
"""Log odds from which we play a best response to the models in a small round.

They are at least `_MIN_LOG_ODDS`, and `_LOG_ODDS_PER_DECISION` for each of at most
`_MAX_COUNTED_DECISIONS` decisions. Players of simple rules have 0.4 to 1 a decision in the median.
Players who know our tables have less than 0.3 in most rounds.
"""

MAX_OPPONENT_MODELS, MAX_PREPARED_MODELS = 128, 16
"""Models that are kept: a model has about 4 KB, and a prepared one up to 1 MB.

A game needs a model of each opponent after the last round, and prepares it for each decision.
"""

MODEL_PRIOR: Weights = (
    *((1 - _CARDS_ONLY_PRIOR - _BELIEVING_PRIOR) * weight for weight in HABIT_WEIGHTS),
    _CARDS_ONLY_PRIOR,
    _BELIEVING_PRIOR,
)
"""Prior probability of each habit, followed by those of the two betting models."""

CARDS_ONLY, BELIEVING_LAST_BET = 0, 1  # indices of the two betting models


@dataclass(frozen=True, eq=False)  # by identity, so that a cache can have it as a key
class OpponentModel:
    """Model of a player: log likelihoods of its decisions by each model and by our tables."""

    betting_models: tuple[BettingModel, BettingModel]
    log_likelihoods: tuple[float, ...] = (0.0,) * len(MODEL_PRIOR)
    policy_log_likelihood: float = 0.0
    decisions: int = 0

    @property
    def prepared_betting_models(self) -> tuple[PreparedBettingModel, PreparedBettingModel]:
        """The betting models prepared for evaluation."""
        return prepare_betting_models(self)

    @cached_property
    def habit_and_model_weights(self) -> Weights:
        """Posterior weights of the habits, followed by those of the two betting models."""
        weights = self._posterior_weights
        if weights[-1] < _MIN_BELIEVING_WEIGHT * sum(weights):
            return (*_blend_with_prior(weights[:-1], MODEL_PRIOR[:-1]), 0.0)
        return _blend_with_prior(weights, MODEL_PRIOR)

    @property
    def model_over_tables_log_odds(self) -> float:
        """Log odds that the models predict the player better than our tables do."""
        return (
            max(self.log_likelihoods)
            + log(sum(self._posterior_weights))
            - self.policy_log_likelihood
        )

    @cached_property
    def _posterior_weights(self) -> list[float]:
        # The largest log likelihood is subtracted before `exp`: sums over many decisions are so
        # small that all weights would become 0.
        top = max(self.log_likelihoods)
        return [
            prior * exp(_EVIDENCE_EXPONENT * (log_likelihood - top))
            for prior, log_likelihood in zip(MODEL_PRIOR, self.log_likelihoods, strict=True)
        ]

    def likelihood(
        self, model_index: int, features: HandBetFeatures, last_bet: int, action: int
    ) -> float:
        """Return the likelihood of this action after `last_bet` by one of the betting models."""
        foretold = (1 - _MODEL_ERROR_RATE) * self.prepared_betting_models[
            model_index
        ].action_probability(features, last_bet, action)
        return foretold + _MODEL_ERROR_RATE * _compute_uniform_probability(last_bet)


def _blend_with_prior(weights: Sequence[float], prior_weights: Sequence[float]) -> Weights:
    """Normalise the posterior weights, and mix in a share of the prior."""
    every, prior_total = sum(weights), sum(prior_weights)
    pairs = zip(weights, prior_weights, strict=True)
    return tuple(
        (1 - _PRIOR_SHARE) * weight / every + _PRIOR_SHARE * two / prior_total
        for weight, two in pairs
    )


def _compute_uniform_probability(last_bet: int) -> float:
    """Return the probability of an action after `last_bet` for a uniformly random player."""
    return 1 / (len(BETS) - last_bet - (last_bet == NO_BET))


@lru_cache(maxsize=MAX_PREPARED_MODELS)
def prepare_betting_models(
    model: OpponentModel,
) -> tuple[PreparedBettingModel, PreparedBettingModel]:
    """Return the betting models of a player prepared for evaluation."""
    cards_only, believing_last_bet = map(PreparedBettingModel, model.betting_models)
    return cards_only, believing_last_bet


_NEW_OPPONENT_MODEL = OpponentModel((BettingModel(), BettingModel()))


def opponent_models_by_seat(position: BlefPosition) -> Mapping[int, OpponentModel]:
    """Return models of the active opponents by seat."""
    opponents = (seat for seat in position.to_round().active_seats if seat != position.seat)
    return {seat: opponent_model_of(position.earlier_rounds, seat) for seat in opponents}


def prefers_best_response(
    position: BlefPosition, opponent_models: Mapping[int, OpponentModel]
) -> bool:
    """Return True if a best response to the models is better than playing by our tables.

    In large rounds it always is: a player who knows our tables exploits them there.
    """
    if len(position.card_counts) > MIN_PLAYERS:
        return True
    if sum(position.card_counts) > MAX_SMALL_ROUND_CARDS:
        return True
    return all(
        model.model_over_tables_log_odds
        > max(_MIN_LOG_ODDS, _LOG_ODDS_PER_DECISION * min(model.decisions, _MAX_COUNTED_DECISIONS))
        for model in opponent_models.values()
    )


@lru_cache(maxsize=MAX_OPPONENT_MODELS)
def opponent_model_of(rounds: Sequence[Round], seat: int) -> OpponentModel:
    """Return the model of a player learned from these rounds."""
    if not rounds:
        return _NEW_OPPONENT_MODEL
    *earlier, over = rounds
    return update_opponent_model(opponent_model_of(tuple(earlier), seat), over, seat)


def update_opponent_model(
    opponent_model: OpponentModel, closed_round: Round, seat: int
) -> OpponentModel:
    """Return the model of a player updated by its decisions in one more closed round."""
    if seat not in closed_round.active_seats or not closed_round.hands[seat]:
        return opponent_model
    cards, hidden = (
        card_bits(closed_round.hands[seat]),
        sum(closed_round.n_cards) - closed_round.n_cards[seat],
    )
    traits, mind = bet_features(cards, hidden), possible_opponent_hand(cards, hidden)
    last_bet = NO_BET
    for move_index, (mover, action) in enumerate(closed_round.history[:-1]):
        if mover == seat and last_bet != len(BETS) - 1:
            live = replace(closed_round, turn=seat, history=closed_round.history[:move_index])
            mixed = mixed_strategy(position_of(live, seat))
            habits = mind.decision_likelihoods_by_habit(last_bet, action)
            model_features = traits, bet_features_if_believed(cards, hidden, last_bet)
            model_likelihoods = (
                opponent_model.likelihood(
                    model_index, model_features[model_index], last_bet, action
                )
                for model_index in (CARDS_ONLY, BELIEVING_LAST_BET)
            )
            opponent_model = _update_by_decision(
                opponent_model,
                model_features,
                (last_bet, action),
                (*habits, *model_likelihoods),
                mixed,
            )
        last_bet = action
    return opponent_model


def _update_by_decision(
    opponent_model: OpponentModel,
    model_features: tuple[HandBetFeatures, HandBetFeatures],
    decision: tuple[int, int],
    likelihoods: Sequence[float],
    mixed: MixedStrategy | None,
) -> OpponentModel:
    """Return the model updated by one decision; tables without an answer count as neutral."""
    last_bet, action = decision
    log_likelihoods = [log(probability) for probability in likelihoods]
    table = log_likelihoods[len(HABIT_WEIGHTS)]
    if mixed is not None:
        often = (1 - _POLICY_ERROR_RATE) * dict(mixed).get(action, 0.0)
        table = log(often + _POLICY_ERROR_RATE * _compute_uniform_probability(last_bet))
    pace = max(_MIN_RATE_SHARE, 1 / (1 + opponent_model.decisions / _HALVING_DECISIONS))
    by_cards, faith = (
        model.updated(traits, last_bet, action, _LEARNING_RATE * pace)
        for model, traits in zip(opponent_model.betting_models, model_features, strict=True)
    )
    return OpponentModel(
        (by_cards, faith),
        tuple(
            _DECAY_FACTOR * previous_total + log_likelihood
            for previous_total, log_likelihood in zip(
                opponent_model.log_likelihoods, log_likelihoods, strict=True
            )
        ),
        _DECAY_FACTOR * opponent_model.policy_log_likelihood + table,
        opponent_model.decisions + 1,
    )
