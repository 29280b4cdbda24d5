"""The compiled engine gives the answers of the one in Python, to the last bit."""

import pytest
from support.euchre_random import views

from cardsharp.errors import ConfigError
from cardsharp.euchre.actions import Question
from cardsharp.euchre.strategies.pimc import Effort, Pimc
from research.euchre.compiled import Compiled
from research.tests.decisions import needs_compiler
from workbench.lab.duel import Duel
from workbench.lab.plan import Plan
from workbench.lab.runs import run

SMALL = Effort(worlds=48, batch=16)


def duel(names: tuple[str, str], games: int, seed: int = 1, *, plain: bool = False) -> Duel:
    first, second = names
    pairs = games // 2
    return run(Plan(game="euchre", first=first, second=second, pairs=pairs, seed=seed, plain=plain))


@needs_compiler
def test_it_decides_as_python_does_with_the_same_figures() -> None:
    compiled, plain, asked = Compiled(SMALL), Pimc(effort=SMALL), set()
    for view in views(16):
        fast, slow = compiled.decide(view), plain.decide(view)
        assert (fast.action, fast.worlds) == (slow.action, slow.worlds)
        if slow.worlds:
            figures = [(option.action, option.value) for option in slow.options]
            assert [(option.action, option.value) for option in fast.options] == figures
            asked.add(view.question)
    assert asked == set(Question)


@needs_compiler
@pytest.mark.parametrize("names", [("rules", "pimc@8"), ("pimc@4", "random")])
def test_a_duel_has_the_same_games_compiled_and_plain(names: tuple[str, str]) -> None:
    assert duel(names, 4, seed=3).pairs == duel(names, 4, seed=3, plain=True).pairs


def test_a_number_of_worlds_has_to_be_one() -> None:
    with pytest.raises(ConfigError, match=r"'many' is no number of worlds; write e.g. pimc@40"):
        duel(("pimc@many", "rules"), 2)


def test_without_a_compiler_python_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = duel(("pimc@4", "rules"), 2, seed=5).pairs
    monkeypatch.setattr("research.euchre.compiled.library", lambda: None)
    with pytest.raises(RuntimeError, match="Use the player `pimc` itself"):
        Compiled()
    assert duel(("pimc@4", "rules"), 2, seed=5).pairs == with_it
