"""The compiled engine gives the answers of the one in Python, to the last bit."""

import pytest
from support.euchre_deals import positions

from cardsharp.errors import ConfigError
from cardsharp.games.euchre.actions import DecisionType
from cardsharp.games.euchre.strategies.pimc import Pimc, SearchBudget
from cardsharp_tools.lab.duel_result import DuelResult
from cardsharp_tools.lab.plan import plan_duel
from cardsharp_tools.lab.runner import run_duel
from cardsharp_tools.research.euchre.native import NativePimcStrategy
from cardsharp_tools.research.tests.decision_comparison import needs_compiler

SMALL = SearchBudget(max_worlds=48, batch_size=16)


def duel(names: tuple[str, str], games: int, seed: int = 1, *, plain: bool = False) -> DuelResult:
    """Play a duel of Euchre strategies and return its result; with `plain` in Python alone."""
    first, second = names
    pairs = games // 2
    return run_duel(
        plan_duel(first, second, game="euchre", pairs=pairs, seed=seed, pure_python=plain)
    )


@needs_compiler
def test_native_decides_like_python() -> None:
    compiled, plain, decision_types = NativePimcStrategy(SMALL), Pimc(budget=SMALL), set()
    for view in positions(16):
        fast, slow = compiled.decide(view), plain.decide(view)
        assert (fast.action, fast.world_count) == (slow.action, slow.world_count)
        if slow.world_count:
            option_values = [(option.action, option.value) for option in slow.options]
            assert [(option.action, option.value) for option in fast.options] == option_values
            decision_types.add(view.decision_type)
    assert decision_types == set(DecisionType)


@needs_compiler
@pytest.mark.parametrize("names", [("rules", "pimc@8"), ("pimc@4", "random")])
def test_a_duel_has_the_same_games_compiled_and_plain(names: tuple[str, str]) -> None:
    """Check that compiled and plain Python play the same games of a duel."""
    assert duel(names, 4, seed=3).pairs == duel(names, 4, seed=3, plain=True).pairs


def test_world_count_must_be_a_number() -> None:
    """Check that `pimc@many` raises a `ConfigError`."""
    with pytest.raises(ConfigError, match=r"'many' is no number of worlds; write e.g. pimc@40"):
        duel(("pimc@many", "rules"), 2)


def test_without_a_compiler_python_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = duel(("pimc@4", "rules"), 2, seed=5).pairs
    monkeypatch.setattr("cardsharp_tools.research.euchre.native.native_library", lambda: None)
    with pytest.raises(RuntimeError, match="Use the player `pimc` itself"):
        NativePimcStrategy()
    assert duel(("pimc@4", "rules"), 2, seed=5).pairs == with_it
