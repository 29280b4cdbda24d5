"""Identification of the opponent: naive Bayes over its observed decisions.

Each entry of `adaptive_opponents.json` describes how one opponent, or a type of opponent, decides,
and which weights play best against it. The unknown opponent is an entry, too: its stopping habits
are learned during the match, and its answers to effects are assumed to be uniform.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import exp, log, prod
from random import Random

from cardsharp.games.deadmansdraw.actions import END_TURN, EffectType
from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import Strategy, build
from cardsharp.games.deadmansdraw.strategies.observed_decisions import ObservedDecision
from cardsharp.games.deadmansdraw.strategies.position_features import (
    answer_would_bust,
    bank_gain,
    busting_card_count,
    pending_effect_targets,
    suits_in_play,
    total_bank_gain,
)

GENERAL_WEIGHTS = "general"  # the weights against an unknown opponent
SLIP_PROBABILITY = 0.02  # share of decisions that differ from a profile, such as late answers
MISS_PROBABILITY = 0.05  # a decision that a profile thought less likely than this is a miss
MAX_MISS_SHARE = 0.05  # share of misses above which a profile is excluded
MIN_CONFIDENCE = 0.9  # probability of a known opponent from which its weights are used
UNKNOWN_OPPONENT_PRIOR = 0.5  # prior probability that no profile describes the opponent
MAX_TRACKED_CARDS = 7  # cards in the play area from which stopping habits are the same
STOP_FEATURES = ("cards", "points", "risk")
"""Features on which the habit of stopping can depend, each in `MAX_TRACKED_CARDS` classes.

"cards" is the number of cards in the play area. "points" is what they would bring the bank, in
steps of 3. "risk" is the share of the unseen cards that would bust, in steps of a tenth.
"""

BUST = "bust"

# the rank of an answer among those that do not bust
VALUE_ORDERS = ("dearest", "cheapest", "between")
DEFAULT_PREFERENCE = 0.5  # the preference for a kind that was never observed
StopProbabilities = tuple[tuple[float, float], ...]
"""By class of the feature: the probability to stop without, and with, a gain for the bank."""
AnswerPreferences = dict[str, dict[str, float]]
"""Preferences by effect and kind of card.

A preference is how often a card of that suit, or of that rank among the offers, was chosen when it
was possible. A card that busts has the kind `BUST` and no other.
"""


@dataclass(frozen=True, slots=True)
class OpponentProfile:
    """Decision model of an opponent; None stands for unknown habits or preferences.

    `stop_model` and `answer_model` each name a strategy of ours that decides likewise, or hold
    numbers: the probability to stop, and the preference for suits.
    """

    name: str
    weights: str
    stop_model: str | float | StopProbabilities | None
    answer_model: str | AnswerPreferences | None
    stop_feature: str = STOP_FEATURES[0]


@dataclass(slots=True)
class _ProfileEvidence:
    """Log-likelihood of a profile, and the number of its wrong predictions."""

    likelihood: float = 0.0
    misses: int = 0


@dataclass(slots=True)
class OpponentBelief:
    """Belief about the opponent after `decision_count` of its decisions."""

    profiles: tuple[OpponentProfile, ...]
    decision_count: int = 0
    evidence: list[_ProfileEvidence] = field(default_factory=list)
    habits: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.evidence = self.evidence or [_ProfileEvidence() for _ in self.profiles]
        self.habits = self.habits or [[0, 0] for _ in range(MAX_TRACKED_CARDS)]

    def copy(self) -> "OpponentBelief":
        """Return an independent belief with the same evidence."""
        evidence = [_ProfileEvidence(entry.likelihood, entry.misses) for entry in self.evidence]
        return OpponentBelief(
            self.profiles, self.decision_count, evidence, [list(pair) for pair in self.habits]
        )

    def update_all(self, decisions: Iterable[ObservedDecision]) -> None:
        """Update the belief by several decisions, in their order."""
        for decision in decisions:
            self.update(decision)

    def update(self, decision: ObservedDecision) -> None:
        """Update the belief by one decision."""
        agreements: dict[str, bool] = {}
        for profile, evidence in zip(self.profiles, self.evidence, strict=True):
            if decision.position.pending is None:
                probability = self._chance_of_stopping(profile, decision, agreements)
            else:
                probability = _chance_of_answer(profile, decision, agreements)
            evidence.likelihood += log(probability)
            evidence.misses += probability < MISS_PROBABILITY
        self.decision_count += 1
        if decision.position.pending is None:
            self.habits[capped_play_area_size(decision.position) - 1][
                decision.action == END_TURN
            ] += 1

    def best_weights_name(self) -> str:
        """Return the name of the best weights; the general ones for an unknown opponent."""
        by_weights = {profile.weights: 0.0 for profile in self.profiles}
        for profile, probability in self.probabilities():
            by_weights[profile.weights] += probability
        if by_weights.pop(GENERAL_WEIGHTS) > 1 - MIN_CONFIDENCE:
            return GENERAL_WEIGHTS
        return max(by_weights, key=by_weights.__getitem__)

    def probabilities(self) -> list[tuple[OpponentProfile, float]]:
        """Return each profile that is not excluded, with its probability to be the opponent.

        A profile is excluded once it has predicted too many decisions wrongly.
        """
        # A profile that is surely wrong must not win only because all others are worse: naive Bayes
        # compares profiles with each other, so misses are counted as an absolute measure of fit.
        max_misses = max(1.0, MAX_MISS_SHARE * self.decision_count)
        profile_count = len(self.profiles) - 1
        log_scores = [
            (
                profile,
                evidence.likelihood
                + log(
                    UNKNOWN_OPPONENT_PRIOR
                    if _is_generic(profile)
                    else UNKNOWN_OPPONENT_PRIOR / profile_count
                ),
            )
            for profile, evidence in zip(self.profiles, self.evidence, strict=True)
            if evidence.misses <= max_misses or _is_generic(profile)
        ]
        top = max(likelihood for _, likelihood in log_scores)
        shares = [(profile, exp(likelihood - top)) for profile, likelihood in log_scores]
        total = sum(share for _, share in shares)
        return [(profile, share / total) for profile, share in shares]

    # --- probability of a decision by profile ---------------------------------------------------

    def _chance_of_stopping(
        self, profile: OpponentProfile, decision: ObservedDecision, agreements: dict[str, bool]
    ) -> float:
        stops, position = profile.stop_model, decision.position
        if isinstance(stops, str):
            return _probability_by_strategy(stops, decision, agreements, 2)
        if stops is None:
            # Krichevsky-Trofimov estimate: half a count for each outcome, so that nothing is
            # impossible.
            on, off = self.habits[capped_play_area_size(position) - 1]
            probability = (off + 0.5) / (on + off + 1)
        elif isinstance(stops, float):
            probability = stops
        else:
            probability = stops[stop_feature_bin(position, profile.stop_feature)][
                can_gain_by_stopping(position)
            ]
        return probability if decision.action == END_TURN else 1 - probability


def _is_generic(profile: OpponentProfile) -> bool:
    return (
        profile.weights == GENERAL_WEIGHTS
        and profile.stop_model is None
        and profile.answer_model is None
    )


def capped_play_area_size(position: DeadMansDrawPosition) -> int:
    """Return the number of cards in the play area, capped at `MAX_TRACKED_CARDS`."""
    return min(len(position.play_area), MAX_TRACKED_CARDS)


def stop_feature_bin(position: DeadMansDrawPosition, feature: str) -> int:
    """Return the class of a position by one of `STOP_FEATURES`."""
    if feature == "points":
        return min(
            total_bank_gain(position.own_bank, position.play_area) // 3, MAX_TRACKED_CARDS - 1
        )
    if feature == "risk":
        return min(
            10 * busting_card_count(position) // max(1, len(position.unseen)), MAX_TRACKED_CARDS - 1
        )
    return capped_play_area_size(position) - 1


def answer_categories(position: DeadMansDrawPosition) -> dict[Card, tuple[str, ...]]:
    """Return the categories of each answer: suit and order of its value, or that it busts."""
    cards = pending_effect_targets(position)
    safe = [card for card in cards if not answer_would_bust(position, card)]
    values = [card.value for card in safe]
    return {
        card: (card.suit, _rank_value(card.value, values)) if card in safe else (BUST,)
        for card in cards
    }


def _rank_value(value: int, values: list[int]) -> str:
    dearest, cheapest, between = VALUE_ORDERS
    return dearest if value == max(values) else cheapest if value == min(values) else between


def can_gain_by_stopping(position: DeadMansDrawPosition) -> bool:
    """Return True if the bank would gain by stopping now."""
    return any(bank_gain(position.own_bank, card) for card in position.play_area)


def _probability_by_strategy(
    name: str, decision: ObservedDecision, agreements: dict[str, bool], option_count: int
) -> float:
    """Return the probability of the action if the opponent decides as the strategy `name` does."""
    if name not in agreements:
        agreements[name] = _build_strategy(name).decide(decision.position).action == decision.action
    return 1 - SLIP_PROBABILITY if agreements[name] else SLIP_PROBABILITY / (option_count - 1)


@cache  # an entry for each strategy that a profile names
def _build_strategy(name: str) -> Strategy:
    return build(name, Random(0))


def _chance_of_answer(
    profile: OpponentProfile, decision: ObservedDecision, agreements: dict[str, bool]
) -> float:
    pending = decision.position.pending
    oracle = pending is not None and pending.effect_type is EffectType.ORACLE
    # An Oracle can be taken, refused, or answered by the end of the turn.
    options = 3 if oracle else len(pending_effect_targets(decision.position))
    if isinstance(profile.answer_model, str):
        return _probability_by_strategy(profile.answer_model, decision, agreements, options)
    if profile.answer_model is None:
        return 1 / options
    return SLIP_PROBABILITY / options + (1 - SLIP_PROBABILITY) * _preference_probability(
        profile.answer_model, decision
    )


def _preference_probability(preferences: AnswerPreferences, decision: ObservedDecision) -> float:
    position, action = decision.position, decision.action
    pending = position.pending
    if pending is None:
        return 0.0
    preference_by_kind = preferences.get(pending.effect_type, {})
    if pending.effect_type is EffectType.ORACLE:
        busts = pending.cards[0].suit in suits_in_play(position)
        takes = preference_by_kind.get(BUST if busts else "safe", DEFAULT_PREFERENCE)
        refuses = (1 - takes) * (1 - preference_by_kind.get("end", DEFAULT_PREFERENCE))
        if action == END_TURN:
            return 1 - takes - refuses
        return takes if action.card else refuses
    weight = {
        card: prod(preference_by_kind.get(kind, DEFAULT_PREFERENCE) for kind in kinds)
        for card, kinds in answer_categories(position).items()
    }
    return weight.get(action.card, 0.0) / (sum(weight.values()) or 1.0) if action.card else 0.0


# --- the file of known opponents ---------------------------------------------------------------


@cache
def load_opponent_profiles() -> tuple[OpponentProfile, ...]:
    """Load the shipped profiles, with that of an unknown opponent; raise `ValueError`."""
    text = files(__package__).joinpath("adaptive_opponents.json").read_text(encoding="utf-8")
    return parse_opponent_profiles(text)


def parse_opponent_profiles(text: str) -> tuple[OpponentProfile, ...]:
    """Return the profiles of a file of opponents; raise `ValueError` for another version's."""
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("version") != 1:
        raise ValueError("This is not a file of opponent profiles of version 1.")
    return tuple(_parse_profile(fields) for fields in document["opponents"])


def _parse_profile(fields: dict[str, object]) -> OpponentProfile:
    name, weights = str(fields["name"]), str(fields["weights"])
    match fields.get("stops"), fields.get("answers"):
        case (str() | float() | None) as stops, (str() | dict() | None) as answer_model:
            return OpponentProfile(name, weights, stops, answer_model)
        case list() as habits, (str() | dict() | None) as answer_model if (
            len(habits) == MAX_TRACKED_CARDS
        ):
            pairs = tuple((float(without), float(gaining)) for without, gaining in habits)
            return OpponentProfile(
                name, weights, pairs, answer_model, str(fields.get("by", STOP_FEATURES[0]))
            )
    raise ValueError(f"The profile of the opponent '{name}' cannot be read.")
