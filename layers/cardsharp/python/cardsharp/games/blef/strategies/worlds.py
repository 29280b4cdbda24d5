"""Possible hands of the opponents, each weighted by how well it explains their bets."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import mul
from random import Random

from cardsharp.games.blef.cards import DECK
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies.bet_probabilities import card_bit_index, card_bits, true_bets
from cardsharp.games.blef.strategies.betting_model import (
    SampledRepliesByLastBet,
    bet_features,
    bet_features_if_believed,
)
from cardsharp.games.blef.strategies.opponent_model import (
    BELIEVING_LAST_BET,
    CARDS_ONLY,
    OpponentModel,
)
from cardsharp.games.blef.strategies.opponent_types import (
    BETTING_HABITS,
    HABIT_WEIGHTS,
    NO_BET,
    Replies,
    Weights,
    possible_opponent_hand,
)

_HAND_SAMPLE_COUNT = 120  # sampled hands of one player who has bet
_HAND_TRIES = 3  # sampled hands of each player, from which one is picked, if several have bet
_WORLD_COUNT = 60  # worlds in which the search looks ahead
NO_OPPONENT_MODELS: Mapping[int, OpponentModel] = {}  # no opponent was modelled


@dataclass(frozen=True, slots=True)
class BlefWorld:
    """Possible distribution of the hidden cards: the bets that hold, and the others' replies.

    `true_bets` has a bit for each bet that holds. `replies` are of the other players in the order
    in which they move after us.
    """

    true_bets: int
    replies: tuple[Replies, ...]


@dataclass(frozen=True, slots=True)
class _ActiveOpponent:
    """Opponent: its card count, the cards it does not see, and its bets with the bets they beat."""

    opponent_model: OpponentModel | None
    cards: int
    hidden: int
    bets: tuple[tuple[int, int], ...]
    scores_by_hand: dict[int, Sequence[float]] = field(default_factory=dict, init=False)

    @property
    def model_weights(self) -> Weights:
        """Weight of each habit, and of each learned model."""
        if self.opponent_model is None:
            return HABIT_WEIGHTS
        return self.opponent_model.habit_and_model_weights


def sample_worlds(
    position: BlefPosition, rng: Random, opponent_models: Mapping[int, OpponentModel]
) -> list[BlefWorld]:
    """Sample worlds by the likelihood of the cards and bets; `opponent_models` are learned."""
    opponents = _list_opponents(position, opponent_models)
    player_cards = card_bits(position.hand)
    unseen = [
        1 << card_bit_index(card) for card in DECK if not player_cards >> card_bit_index(card) & 1
    ]
    tries = _HAND_TRIES if sum(bool(opponent.bets) for opponent in opponents) > 1 else 1
    worlds, weights = [], []
    # Importance sampling: hands are drawn as if nobody had bet, and each world is weighted by how
    # likely its hands make the bets that were made. With several bettors nearly all weights would
    # be close to 0; therefore each of them gets the best explained of a few sampled hands.
    for _ in range(
        _HAND_SAMPLE_COUNT // tries
        if any(opponent.bets for opponent in opponents)
        else _WORLD_COUNT
    ):
        world, weight = _sample_world(player_cards, unseen, opponents, (tries, rng))
        worlds.append(world)
        weights.append(weight)
    return _resample_worlds(worlds, weights, rng)


def _list_opponents(
    position: BlefPosition, opponent_models: Mapping[int, OpponentModel]
) -> list[_ActiveOpponent]:
    """Return the active opponents in the order in which they move after us."""
    me, total = position.seat or 0, sum(position.card_counts)
    seats = [
        (me + offset) % len(position.card_counts) for offset in range(1, len(position.card_counts))
    ]
    bets: dict[int, list[tuple[int, int]]] = {seat: [] for seat in seats}
    last_bet = NO_BET
    for seat, bet in position.history:
        if seat != me:
            bets[seat].append((last_bet, bet))
        last_bet = bet
    return [
        _ActiveOpponent(opponent_models.get(seat), cards, total - cards, tuple(bets[seat]))
        for seat in seats
        if (cards := position.card_counts[seat])
    ]


def _sample_world(
    player_cards: int,
    unseen: Sequence[int],
    opponents: Sequence[_ActiveOpponent],
    tries_and_rng: tuple[int, Random],
) -> tuple[BlefWorld, float]:
    """Sample one world and its weight.

    A player who has bet gets one of several sampled hands, by how well they explain the bets.
    The weight corrects for this selection.
    """
    tries, rng = tries_and_rng
    remaining, weight, pool = list(unseen), 1.0, player_cards
    replies: list[Replies] = [{}] * len(opponents)
    # Players who have bet draw first: their hands must not depend on random hands of the others.
    for opponent_index, opponent in sorted(enumerate(opponents), key=lambda pair: not pair[1].bets):
        hands = [
            sum(rng.sample(remaining, opponent.cards)) for _ in range(tries if opponent.bets else 1)
        ]
        scores = [_score_hand(hand, opponent) for hand in hands]
        flat = [score for model_scores in scores for score in model_scores]
        which, model = divmod(_pick_index(flat, rng), len(scores[0]))
        hand = hands[which]
        replies[opponent_index] = _predict_replies(hand, opponent, model, rng)
        weight *= sum(flat) / len(hands)
        pool |= hand
        remaining = [card for card in remaining if not card & hand]
    return BlefWorld(true_bets(pool), tuple(replies)), weight


def _pick_index(weights: Sequence[float], rng: Random) -> int:
    """Return a random index, each as often as its weight."""
    # The same as `rng.choices`, but faster: without its checks of the arguments.
    sums = [*accumulate(weights)]
    return bisect_right(sums, rng.random() * sums[-1], 0, len(sums) - 1)


def _predict_replies(hand: int, opponent: _ActiveOpponent, model: int, rng: Random) -> Replies:
    """Return the replies of a player with this hand, by a habit or by a learned betting model."""
    if opponent.opponent_model is None or model < len(BETTING_HABITS):
        return possible_opponent_hand(hand, opponent.hidden).replies_by_habit[model]
    probabilities = opponent.opponent_model.prepared_betting_models
    if model == len(BETTING_HABITS):
        return SampledRepliesByLastBet(
            probabilities[CARDS_ONLY], lambda _: bet_features(hand, opponent.hidden), rng
        )
    return SampledRepliesByLastBet(
        probabilities[BELIEVING_LAST_BET],
        lambda last_bet: bet_features_if_believed(hand, opponent.hidden, last_bet),
        rng,
    )


def _score_hand(hand: int, opponent: _ActiveOpponent) -> Sequence[float]:
    """Return each model's weight times the likelihood of the player's bets with this hand."""
    scores = opponent.scores_by_hand.get(hand)
    if scores is None:
        scores = opponent.scores_by_hand[hand] = [
            weight * likelihood
            for weight, likelihood in zip(
                opponent.model_weights, _compute_bet_likelihoods(hand, opponent), strict=True
            )
        ]
    return scores


def _compute_bet_likelihoods(hand: int, opponent: _ActiveOpponent) -> Iterable[float]:
    """Return the likelihood of all bets of a player with this hand, by each model."""
    reading, hidden = opponent.opponent_model, opponent.hidden
    likelihoods = [1.0] * len(opponent.model_weights)
    for last_bet, bet in opponent.bets:
        by_model = possible_opponent_hand(hand, hidden).bet_likelihoods_by_habit(last_bet, bet)
        if reading is not None:
            traits = bet_features(hand, hidden)
            by_model.append(reading.likelihood(CARDS_ONLY, traits, last_bet, bet))
            by_model.append(
                reading.likelihood(
                    BELIEVING_LAST_BET,
                    bet_features_if_believed(hand, hidden, last_bet),
                    last_bet,
                    bet,
                )
                if opponent.model_weights[-1]
                else 0.0
            )
        likelihoods = [*map(mul, likelihoods, by_model)]
    return likelihoods


def _resample_worlds(worlds: list[BlefWorld], weights: list[float], rng: Random) -> list[BlefWorld]:
    # Systematic resampling: one random offset and equal steps. It has less noise than independent
    # draws, and every world with a large weight surely survives.
    """Return worlds of equal weight, each about as often as its weight demands."""
    if len(worlds) <= _WORLD_COUNT:
        return rng.choices(worlds, weights, k=len(worlds)) if len(set(weights)) > 1 else worlds
    interval = sum(weights) / _WORLD_COUNT
    selected: list[BlefWorld] = []
    reached, threshold = 0.0, rng.random() * interval
    for world, weight in zip(worlds, weights, strict=True):
        reached += weight
        while threshold < reached:
            selected.append(world)
            threshold += interval
    return selected
