"""The strategies of Blef are as strong as measured; docs/blef-strength.md has more games."""

import pytest

from workbench.lab.duel import Duel
from workbench.lab.plan import Plan
from workbench.lab.runs import run

pytestmark = pytest.mark.slow


def duel(first: str, second: str, pairs: int, seed: int) -> Duel:
    return run(Plan(game="blef", first=first, second=second, pairs=pairs, seed=seed))


def test_threshold_plays_as_strong_as_it_was_measured() -> None:
    """Greedy wins 0.468 +- 0.022 against it (docs/spec/blef.md section 12)."""
    low, high = duel("greedy", "threshold(0.2,0.5)", 200, seed=1).interval
    assert low < 46.8 < high


def test_bayes_beats_greedy_and_threshold() -> None:
    """A few games: the figures with narrow intervals are in docs/blef-strength.md."""
    assert duel("bayes", "greedy", 2, seed=4).points >= 75
    assert duel("bayes", "threshold(0.2,0.5)", 2, seed=4).points >= 75
