"""`adaptive`.

The search of `captain`, with weights that were trained against the opponent's type.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from random import Random

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, PastMove
from cardsharp.games.deadmansdraw.strategies import (
    DeadMansDrawDecision,
    IsLate,
    PastMatch,
    Strategy,
    build,
    strategy,
)
from cardsharp.games.deadmansdraw.strategies.captain import (
    WEIGHT_FILE,
    Captain,
    OptionEvaluator,
    is_standard_deck,
)
from cardsharp.games.deadmansdraw.strategies.observed_decisions import (
    ObservedDecision,
    ObservedDecisionExtractor,
    cards_from_draw_pile,
    opponent_decisions,
)
from cardsharp.games.deadmansdraw.strategies.opponent_belief import (
    GENERAL_WEIGHTS,
    OpponentBelief,
    OpponentProfile,
    load_opponent_profiles,
    parse_opponent_profiles,
)
from cardsharp.games.deadmansdraw.strategies.search.compiled_search import build_turn_search
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import (
    SHORT_LIMITS,
    never_late,
)
from cardsharp.games.deadmansdraw.strategies.search.search_budget import lab_limits, local_limits
from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model, parse_value_model

MAX_LOSS_PER_DECISION = 0.05  # win probability that one decision may cost at most
INITIAL_CREDIT = 0.005  # win probability that may be spent before the opponent has lost any


def win_probability_loss(position: DeadMansDrawPosition, action: Action) -> float:
    """Return how much win probability `action` loses against the best option.

    Returns 0 if that cannot be evaluated: for a table that cannot occur in a match, and for the
    refusal of an Oracle's card.
    """
    return _cached_loss(replace(position, turn=0, history=(), refused_oracle_card=None), action)


@lru_cache(maxsize=1024)  # cached here, because strategies are built anew each turn
def _cached_loss(position: DeadMansDrawPosition, action: Action) -> float:
    if not is_standard_deck(position):
        return 0.0
    options = OptionEvaluator(
        position, build_turn_search(load_model(WEIGHT_FILE), SHORT_LIMITS)
    ).evaluate_options()
    chosen = [option.value for option in options if option.action == action]
    return max(option.value for option in options) - chosen[0] if chosen else 0.0


class ExploitBudget:
    """Budget of win probability for exploiting one opponent's weaknesses in a match.

    A player that deviates from `captain` because of its opponent model can be deceived: an opponent
    may pretend. Therefore every decision of a match is compared with the captain's best by a short
    search. Losses of the opponent are added to the budget; the player's own are subtracted
    (Ganzfried and Sandholm, Safe opponent exploitation, 2012). The compiled twin is
    `cardsharp_tools/research/deadmansdraw/native/adaptive.c`.
    """

    def __init__(self) -> None:
        self._balance = INITIAL_CREDIT
        self._unevaluated_decisions: list[tuple[ObservedDecision, bool]] = []

    def record_decisions(self, decisions: Iterable[ObservedDecision], *, is_self: bool) -> None:
        """Add decisions of the match, in order; they are evaluated when the budget is read."""
        self._unevaluated_decisions += ((decision, is_self) for decision in decisions)

    def can_afford(self, decision: ObservedDecision) -> bool:
        """Return True if the decision stays within the limit per decision and within the budget."""
        cost = win_probability_loss(decision.position, decision.action)
        return cost <= 0 or cost <= min(MAX_LOSS_PER_DECISION, self._update_balance())

    def _update_balance(self) -> float:
        for decision, is_self in self._unevaluated_decisions:
            loss = win_probability_loss(decision.position, decision.action)
            self._balance += -loss if is_self else loss
        self._unevaluated_decisions.clear()
        return self._balance


@strategy("adaptive")
class Adaptive:
    """Plays like `captain`, but against a recognised opponent with weights trained for it.

    The opponent is identified from its decisions in this match and in past ones. The captain's
    weights are used against an unknown opponent, against one that does not decide as predicted,
    and while the cost of deviating exceeds the opponent's losses so far (`ExploitBudget`).
    """

    def __init__(
        self,
        _rng: Random,
        belief: OpponentBelief | None = None,
        is_late: IsLate = never_late,
        models: Mapping[str, ValueModel] | None = None,
    ) -> None:
        self._prior_belief = belief or OpponentBelief(load_opponent_profiles())
        self._opponent_observer = _OpponentObserver(self._prior_belief)
        self._is_late = is_late
        self._model_by_weights = models or {}
        self._limits = lab_limits()

    def with_past_matches(self, matches: Sequence[PastMatch]) -> "Adaptive":
        """Return this strategy with an opponent's past matches in mind, the oldest first."""
        belief = self._prior_belief.copy()
        for match in matches:
            belief.update_all(opponent_decisions(match))
        return Adaptive(Random(0), belief, self._is_late, self._model_by_weights)

    def with_deadline(self, is_late: IsLate) -> "Adaptive":
        """Return this strategy with a function that returns True once time is short."""
        hurried = copy(self)  # the copy shares the observed match, so nothing is observed twice
        hurried._is_late = is_late  # noqa: SLF001 - its own
        return hurried

    def with_cpu_seconds(self, cpu_seconds: float | None) -> "Adaptive":
        """Return this strategy with the limits for decisions of this length."""
        limited = copy(self)
        limited._limits = local_limits(cpu_seconds)  # noqa: SLF001 - its own
        return limited

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """Return the captain's decision, with the weights for the most likely opponent."""
        self._opponent_observer.update_from_position(position)
        weights = self._opponent_observer.belief.best_weights_name()
        if weights != GENERAL_WEIGHTS:
            decision = self._decide_with_weights(weights, position)
            if self._opponent_observer.gifts.can_afford(
                ObservedDecision(position, decision.action)
            ):
                return replace(decision, reason=f"{decision.reason[:-1]}, as against {weights}.")
        return self._decide_with_weights(GENERAL_WEIGHTS, position)

    def _decide_with_weights(
        self, weights: str, position: DeadMansDrawPosition
    ) -> DeadMansDrawDecision:
        model = self._model_by_weights.get(weights) or load_model(weight_file_name(weights))
        return Captain(model, self._limits, self._is_late).decide(position)


def parse_trained_strategy(text: str) -> Strategy:
    """Return the strategy of a file: `adaptive` for opponent profiles, `captain` for weights.

    Raises `ValueError` for any other file.
    """
    document = json.loads(text)
    if not isinstance(document, dict) or "opponents" not in document:
        return Captain(parse_value_model(text))
    new_profiles, models = parse_opponent_profiles(text), parse_value_models(text)
    for profile in new_profiles:
        _check_profile(profile, models)
    belief = OpponentBelief((*load_opponent_profiles(), *new_profiles))
    return Adaptive(Random(0), belief, models=models)


def _check_profile(profile: OpponentProfile, models: Mapping[str, ValueModel]) -> None:
    """Raise `ValueError` if there are no such weights, or no such strategy, as a profile names."""
    try:
        if profile.weights not in models:
            load_model(weight_file_name(profile.weights))
        for model in (profile.stop_model, profile.answer_model):
            if isinstance(model, str):
                build(model, Random(0))
    except OSError:
        raise ValueError(f"It has no weights '{profile.weights}', which a profile names.") from None
    except ConfigError as error:
        raise ValueError(f"The profile of the opponent '{profile.name}': {error}") from None


def parse_value_models(text: str) -> dict[str, ValueModel]:
    """Return the models in a file of opponents, by the names that its entries have for them."""
    packed = json.loads(text)["weights"]
    return {name: parse_value_model(json.dumps(weights)) for name, weights in packed.items()}


def weight_file_name(weights: str) -> str:
    """Return the name of the file that has these weights."""
    return WEIGHT_FILE if weights == GENERAL_WEIGHTS else f"adaptive-{weights}"


class _OpponentObserver:
    """Belief about the opponent during a match, and the budget for exploiting it.

    It continues from the last position if that belongs to the same match; otherwise it is
    reset.
    """

    def __init__(self, prior_belief: OpponentBelief) -> None:
        self._prior_belief = prior_belief
        self._match_key: tuple[int, frozenset[Card]] = 0, frozenset()
        self._reset()

    def _reset(self) -> None:
        self._past_moves: tuple[PastMove, ...] = ()
        self._decision_tracker = ObservedDecisionExtractor(self._match_key[1])
        self.belief, self.gifts = self._prior_belief.copy(), ExploitBudget()

    def update_from_position(self, position: DeadMansDrawPosition) -> None:
        """Update belief and budget by all moves before `position`."""
        table = position.seat, frozenset(position.unseen) | cards_from_draw_pile(position.history)
        if (
            table != self._match_key
            or position.history[: len(self._past_moves)] != self._past_moves
        ):
            self._match_key = table
            self._reset()
        for move in position.history[len(self._past_moves) :]:
            decisions = self._decision_tracker.decisions_in(move)
            self.gifts.record_decisions(decisions, is_self=move.player == position.seat)
            if move.player != position.seat:
                self.belief.update_all(decisions)
        self._past_moves = position.history
