"""Tests that the compiled Euchre engine decides as the Python engine, to the last bit."""

import pytest
from support.euchre_deals import random_positions

from cardsharp.errors import ConfigError
from cardsharp.games.euchre.actions import DecisionType
from cardsharp.games.euchre.strategies.pimc import Pimc, SearchBudget
from cardsharp_tools.lab.duel_result import DuelResult
from cardsharp_tools.lab.plan import plan_duel
from cardsharp_tools.lab.runner import run_duel
from cardsharp_tools.research.euchre.native import NativePimcStrategy
from cardsharp_tools.research.tests.decision_comparison import needs_compiler

SMALL_BUDGET = SearchBudget(max_worlds=48, batch_size=16)


def play_euchre_duel(
    names: tuple[str, str], games: int, seed: int = 1, *, plain: bool = False
) -> DuelResult:
    """Play a duel of Euchre strategies and return its result; with `plain` without native code."""
    first, second = names
    pairs = games // 2
    return run_duel(
        plan_duel(first, second, game="euchre", pairs=pairs, seed=seed, pure_python=plain)
    )


@needs_compiler
def test_native_decides_like_python() -> None:
    native_strategy, python_strategy, decision_types = (
        NativePimcStrategy(SMALL_BUDGET),
        Pimc(budget=SMALL_BUDGET),
        set(),
    )
    for view in random_positions(16):
        native_decision, python_decision = (
            native_strategy.decide(view),
            python_strategy.decide(view),
        )
        assert (native_decision.action, native_decision.world_count) == (
            python_decision.action,
            python_decision.world_count,
        )
        if python_decision.world_count:
            option_values = [(option.action, option.value) for option in python_decision.options]
            assert [
                (option.action, option.value) for option in native_decision.options
            ] == option_values
            decision_types.add(view.decision_type)
    assert decision_types == set(DecisionType)


@needs_compiler
@pytest.mark.parametrize("names", [("rules", "pimc@8"), ("pimc@4", "random")])
def test_a_duel_has_the_same_games_compiled_and_plain(names: tuple[str, str]) -> None:
    """Check that compiled and plain Python play the same games of a duel."""
    assert (
        play_euchre_duel(names, 4, seed=3).pairs
        == play_euchre_duel(names, 4, seed=3, plain=True).pairs
    )


def test_world_count_must_be_a_number() -> None:
    """Check that `pimc@many` raises a `ConfigError`."""
    with pytest.raises(ConfigError, match=r"'many' is no number of worlds; write e.g. pimc@40"):
        play_euchre_duel(("pimc@many", "rules"), 2)


def test_without_a_compiler_python_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    native_pairs = play_euchre_duel(("pimc@4", "rules"), 2, seed=5).pairs
    monkeypatch.setattr("cardsharp_tools.research.euchre.native.native_library", lambda: None)
    with pytest.raises(RuntimeError, match="Use the player `pimc` itself"):
        NativePimcStrategy()
    assert play_euchre_duel(("pimc@4", "rules"), 2, seed=5).pairs == native_pairs
