"""The engine of Euchre is stronger than the players that it is measured against.

The figures in docs/euchre-strength.md come from thousands of games; a few show that it broke.
"""

import pytest

from workbench.lab.plan import Plan
from workbench.lab.runs import run

pytestmark = pytest.mark.slow


def test_rules_beat_chance_nearly_always() -> None:
    plan = Plan(game="euchre", first="rules", second="random", pairs=50, seed=3)
    assert run(plan).points >= 99


def test_the_engine_beats_chance_nearly_always() -> None:
    plan = Plan(game="euchre", first="pimc@16", second="random", pairs=10, seed=2)
    assert run(plan).points >= 95
