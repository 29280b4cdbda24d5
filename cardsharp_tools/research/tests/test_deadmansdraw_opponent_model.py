"""Tests of opponent learning: its native players and its error rate."""

import json
from array import array
from collections.abc import Sequence
from ctypes import Structure
from functools import cache, partial
from math import exp
from pathlib import Path
from random import Random

import pytest
from support.opponent_matches import observed_decisions

from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, EffectType
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, build
from cardsharp.games.deadmansdraw.strategies.observed_decisions import ObservedDecision
from cardsharp.games.deadmansdraw.strategies.opponent_belief import (
    SLIP_PROBABILITY,
    STOP_FEATURES,
    OpponentBelief,
    OpponentProfile,
    parse_opponent_profiles,
)
from cardsharp.games.deadmansdraw.strategies.position_features import pending_effect_targets
from cardsharp.games.deadmansdraw.strategies.search import weights
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.plan import plan_duel
from cardsharp_tools.lab.sprt import ERROR_RATE, SequentialTest
from cardsharp_tools.research.deadmansdraw.counter_weights import MAX_TEST_PAIRS, MIN_GAIN
from cardsharp_tools.research.deadmansdraw.native import NativeEngine
from cardsharp_tools.research.deadmansdraw.opponent_learning import (
    MIN_MATCHES,
    CandidateSequentialTests,
    LearnedOpponentsFile,
    ObservedOpponentMatch,
    OpponentLearningPass,
    fit_opponent_profile,
)
from cardsharp_tools.research.deadmansdraw.opponent_model_test import (
    HELD_OUT_OPPONENTS,
    native_stop_rule_player,
    observe_match_against_captain,
)
from cardsharp_tools.research.deadmansdraw.training import TrainingConfig, WeightTraining
from cardsharp_tools.research.tests.decision_comparison import (
    assert_same_decisions,
    native_action_number,
    needs_compiler,
)
from cardsharp_tools.research.tests.test_deadmansdraw_native import assert_native_duel_equals_python


def first_decisions(name: str, matches: int) -> list[Sequence[ObservedDecision]]:
    """Return the decisions of a held-out opponent in its first matches."""
    return [
        observe_match_against_captain(HELD_OUT_OPPONENTS[name], number).decisions
        for number in range(matches)
    ]


@pytest.mark.parametrize("name", HELD_OUT_OPPONENTS)
def test_compiled_held_out_player_decides_like_the_plain_player(
    engine: NativeEngine, name: str
) -> None:
    opponent = HELD_OUT_OPPONENTS[name]
    assert_same_decisions(native_stop_rule_player(engine, opponent), lambda _rng: opponent, 5)


@needs_compiler
def test_learned_file_plays_equally_in_both_engines(tmp_path: Path) -> None:
    profile = fit_opponent_profile(
        "draw-2", [decision for match in first_decisions("gambler", 4) for decision in match]
    )
    text = (weights.FOLDER / "adaptive-scripted.json").read_text("utf-8")
    file = tmp_path / "learned.json"
    opponents_file = LearnedOpponentsFile(
        opponents=[profile], weights={profile.weights: json.loads(text)}
    )
    file.write_text(opponents_file.model_dump_json(), "utf-8")
    assert_native_duel_equals_python(plan_duel(str(file), "champion", pairs=1, seed=3))


def test_equal_player_is_promoted_in_under_five_percent() -> None:
    """Fit a profile to captain, and test it 100 times on captain's own resampled matches.

    At most `ERROR_RATE` of the tests accept the profile.
    """
    rng = Random(1)
    observed_matches = [
        observe_match_against_captain(build("captain", rng), number) for number in range(20)
    ]
    profile = fit_opponent_profile(
        "captain",
        [decision for match in observed_matches[:MIN_MATCHES] for decision in match.decisions],
    )
    accepted_count = 0
    for _ in range(100):
        candidate_tests, resampled_matches = (
            CandidateSequentialTests(profile),
            iter(rng.choices(observed_matches, k=30)),
        )
        while not candidate_tests.is_accepted and (match := next(resampled_matches, None)):
            candidate_tests.add_match(match)
        accepted_count += candidate_tests.is_accepted
    assert accepted_count <= ERROR_RATE * 100


class FittedProfilePlayer:
    """Player that decides by a fitted profile, as `native/fitted_profile.c` does."""

    def __init__(self, profile: OpponentProfile, rng: Random) -> None:
        self.entry, self.rng = profile, rng

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        actions = sorted(position.legal_actions(), key=native_action_number)
        pending = position.pending
        is_kraken = pending is not None and pending.effect_type is EffectType.KRAKEN
        if DRAW in actions and (is_kraken or END_TURN not in actions):
            return DeadMansDrawDecision(DRAW, "It must.")
        remaining_probability = self.rng.random()
        for action in actions:
            remaining_probability -= self.chance(ObservedDecision(position, action))
            if remaining_probability < 0:
                break
        return DeadMansDrawDecision(action, "It is like that.")

    def chance(self, decision: ObservedDecision) -> float:
        """Return the belief's probability of an action, without random mistakes."""
        belief = OpponentBelief((self.entry,))
        belief.update(decision)
        thought = exp(belief.evidence[0].likelihood)
        if (pending := decision.position.pending) is None:
            return thought
        oracle = pending.effect_type is EffectType.ORACLE
        options = 3 if oracle else len(pending_effect_targets(decision.position))
        return (thought - SLIP_PROBABILITY / options) / (1 - SLIP_PROBABILITY)


@pytest.mark.parametrize(
    ("name", "stop_feature"), [*zip(("counter", "saver", "gambler"), STOP_FEATURES, strict=True)]
)
def test_native_and_fitted_players_agree(
    engine: NativeEngine, name: str, stop_feature: str
) -> None:
    """Native and fitted players agree for every stop feature.

    The opponents prefer the dearest card, or a suit.
    """
    profile = fit_opponent_profile(
        name, [decision for match in first_decisions(name, 4) for decision in match]
    )
    assert profile.stop_feature == stop_feature
    player = engine.player_from_profile(profile)
    assert_same_decisions(player, partial(FittedProfilePlayer, profile), 5)


def count_promotions(gain: float, repetitions: int) -> int:
    """Return how many tests accept weights that gain `gain` points a match.

    In the simulation two matches in four are equal.
    """
    rng, accepted_count = Random(2), 0
    for _ in range(repetitions):
        test = SequentialTest(elo1=MIN_GAIN)
        while test.pair_count < MAX_TEST_PAIRS and not test.is_decided:
            has_gained = rng.random() < 2 * gain
            test.add_pairs_until_decided(
                [0.5 + (1 if has_gained else rng.choice((-1, -1, 0, 0, 0, 0, 1, 1))) / 4]
            )
        accepted_count += test.is_decided and test.log_likelihood_ratio > 0
    return accepted_count


def test_weights_without_gain_pass_in_under_five_percent() -> None:
    assert count_promotions(0.0, 200) <= ERROR_RATE * 200
    assert count_promotions(0.01, 20) >= 0.7 * 20


def test_preference_for_the_dearest_card_is_recognised() -> None:
    """The fitted belief predicts later answers to effects, whatever the suit.

    The geometric mean of their probabilities is above 0.5.
    """
    decisions_by_match = first_decisions("gambler", 8)
    belief = OpponentBelief(
        (
            fit_opponent_profile(
                "gambler", [decision for match in decisions_by_match[:5] for decision in match]
            ),
        )
    )
    decisions = [
        decision
        for match in decisions_by_match[5:]
        for decision in match
        if decision.position.pending
    ]
    belief.update_all(decisions)
    assert exp(belief.evidence[0].likelihood / len(decisions)) > 0.5


def test_best_reply_is_trained_on_the_learners_belief(engine: NativeEngine) -> None:
    """Each training match begins with the learner's belief."""
    adaptive = engine.player_for_strategy(BuiltIn("adaptive"))
    belief = adaptive.initial_belief()
    engine.play_pairs(
        (adaptive, engine.player_for_strategy(BuiltIn("draw-3"))), 1, [0], beliefs=[belief, None]
    )

    def train_weights(belief: Structure | None) -> "array[float]":
        training = WeightTraining(engine, TrainingConfig(matches=4, batch=4), 1, adaptive, belief)
        training.play_and_train_batch()
        return training.weight_values

    assert train_weights(belief) == train_weights(belief) != train_weights(None)


WEIGHTS: dict[str, object] = {"numbers": ""}


@cache
def observed_match(name: str, number: int) -> ObservedOpponentMatch:
    return ObservedOpponentMatch(
        f"{name} {number}", tuple(observed_decisions(name, range(number, number + 1)))
    )


def learning_stages(
    opponents_file: LearnedOpponentsFile,
    matches: list[ObservedOpponentMatch],
    *,
    has_gain: bool = True,
) -> list[str]:
    stages: list[str] = []

    def measure_gain(_weights: dict[str, object], _entry: OpponentProfile) -> tuple[bool, str]:
        return has_gain, "as measured"

    learning_pass = OpponentLearningPass(
        opponents_file,
        lambda _entry: WEIGHTS,
        measure_gain,
        lambda _name, stage, _reason: stages.append(stage),
    )
    learning_pass.continue_opponent_trial("id", "Foe", matches)
    return stages


def weak_opponent_matches(matches: int = MIN_MATCHES + 12) -> list[ObservedOpponentMatch]:
    return [observed_match("draw-3", number) for number in range(matches)]


def test_an_opponent_profile_is_promoted_and_rolled_back_by_later_matches() -> None:
    opponents_file = LearnedOpponentsFile()
    assert learning_stages(opponents_file, weak_opponent_matches(MIN_MATCHES - 1)) == ["waits"]
    assert learning_stages(opponents_file, weak_opponent_matches(MIN_MATCHES)) == [
        "candidate",
        "candidate",
    ]
    assert not opponents_file.opponents, "nothing speaks for it yet but what it was made from"
    assert learning_stages(opponents_file, weak_opponent_matches()) == ["promoted"]
    assert learning_stages(opponents_file, weak_opponent_matches()) == [], (
        "the same matches change nothing"
    )
    [entry] = parse_opponent_profiles(opponents_file.model_dump_json())
    assert entry.weights in opponents_file.weights
    contradicting_matches = [
        *weak_opponent_matches(),
        *(observed_match("random", number) for number in range(4)),
    ]
    assert learning_stages(opponents_file, contradicting_matches)[0] == "rolled back"
    assert not opponents_file.opponents
    assert not opponents_file.weights


def test_weights_without_gain_are_rejected_and_new_matches_lead_to_new_ones() -> None:
    opponents_file = LearnedOpponentsFile()
    assert learning_stages(opponents_file, weak_opponent_matches(), has_gain=False) == [
        "candidate",
        "rejected",
        "waits",
    ]
    later_matches = [
        *weak_opponent_matches(),
        *(observed_match("draw-3", number) for number in range(50, 50 + MIN_MATCHES)),
    ]
    assert learning_stages(opponents_file, later_matches)[0] == "candidate"
