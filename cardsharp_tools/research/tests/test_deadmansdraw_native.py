"""Tests that compiled opponents and the compiled search decide as in plain Python."""

from dataclasses import replace
from functools import partial

import pytest

from cardsharp.games.deadmansdraw.strategies.captain import Captain, OptionEvaluator
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import SearchLimits
from cardsharp.games.deadmansdraw.strategies.search.turn_search import TurnSearch
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model
from cardsharp_tools.executors.strategy_reference import BuiltIn, parse_strategy
from cardsharp_tools.lab.plan import DuelPlan, plan_duel
from cardsharp_tools.lab.players import build_player
from cardsharp_tools.lab.runner import run_duel
from cardsharp_tools.research.deadmansdraw import native
from cardsharp_tools.research.deadmansdraw.native import NativeEngine, native_player
from cardsharp_tools.research.native_engines import series_player
from cardsharp_tools.research.tests.decision_comparison import (
    assert_same_decisions,
    compiled_options,
    native_action_number,
    needs_compiler,
    python_decisions,
)

MATCH_COUNTS = {"steady": 2}  # of random moves; about 60 decisions each

PLAN = plan_duel("captain", "captain", pairs=1)

OPPONENTS = (
    "champion",
    "champion-2",
    "champion-4",
    "third",
    "example-node",
    "example-java",
    "draw-2",
    "draw-3",
    "draw-4",
    "rule",
    "steady",
)


@needs_compiler
@pytest.mark.parametrize("name", OPPONENTS)
def test_a_compiled_opponent_decides_as_its_strategy_does(name: str) -> None:
    strategy = BuiltIn(name)
    compiled_player = native_player(strategy)
    assert compiled_player is not None
    build = partial(build_player, PLAN, strategy)
    assert_same_decisions(compiled_player, build, MATCH_COUNTS.get(name, 20))


DUELS = (
    plan_duel("draw-3", "example-node", pairs=20, seed=3),
    plan_duel("third", "champion-4", pairs=20, seed=3),
    plan_duel("champion", "third", pairs=8, seed=3, luck_adjusted=True),
    plan_duel("captain", "draw-3", pairs=1, seed=3, luck_adjusted=True),
    plan_duel("captain", "captain-quick", pairs=1, seed=4),
    plan_duel("adaptive", "draw-2", pairs=1, seed=3),
)


@needs_compiler
@pytest.mark.parametrize("plan", DUELS, ids=lambda plan: f"{plan.first} v {plan.second}")
def test_a_duel_is_the_same_in_both_engines(plan: DuelPlan) -> None:
    """Every figure of every match is equal to the last bit, luck included.

    To compute the luck, the last cards are played again with the same random numbers.
    """
    assert_native_duel_equals_python(plan)


def assert_native_duel_equals_python(plan: DuelPlan) -> None:
    """Assert that a duel has the same result in the compiled engine and in plain Python."""
    assert series_player(plan.first, plan.second) is not None
    assert run_duel(plan).pairs == run_duel(replace(plan, pure_python=True)).pairs


def test_a_strategy_file_has_no_native_player(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "load_engine", lambda: pytest.fail("compiled"))
    assert native_player(parse_strategy("its/own.py")) is None


@pytest.mark.parametrize(
    "limits",
    [
        SearchLimits(),
        SearchLimits(max_depth=1, max_second_draws=-1, endgame_cards=0),
        SearchLimits(samples=2, root_samples=3, endgame_cards=8, max_leaves=500),
    ],
)
def test_same_values_for_every_option(engine: NativeEngine, limits: SearchLimits) -> None:
    """Check that compiled and plain code give every option the same value."""
    effect_types, weights = set(), load_model("captain")
    captain = engine.captain_player(weights, limits)
    for pair_number in range(2):
        native_options = compiled_options(captain, 5, pair_number)
        python_trace = python_decisions(lambda _rng: Captain(weights, limits), 5, pair_number)
        for (position, _), expected_options in zip(python_trace, native_options, strict=True):
            if len(position.legal_actions()) == 1:
                assert expected_options == []
                continue
            effect_types.add(position.pending and position.pending.effect_type)
            options = OptionEvaluator(position, TurnSearch(weights, limits)).evaluate_options()
            assert [
                (native_action_number(option.action), option.value) for option in options
            ] == expected_options
    assert len(effect_types) >= 5
