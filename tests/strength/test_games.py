"""The strategies of Blef and Euchre are as strong as measured; a few games show that one broke.

The figures with narrow intervals are in docs/blef-strength.md and docs/euchre-strength.md.
"""

import pytest

from workbench.lab.plan import Plan
from workbench.lab.runs import run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("plan", "least"),
    [
        (Plan(game="blef", first="bayes", second="greedy", pairs=2, seed=4), 75),
        (Plan(game="blef", first="bayes", second="threshold(0.2,0.5)", pairs=2, seed=4), 75),
        (Plan(game="euchre", first="rules", second="random", pairs=50, seed=3), 99),
        (Plan(game="euchre", first="pimc@16", second="random", pairs=10, seed=2), 95),
    ],
    ids=lambda value: f"{value.first}-{value.second}" if isinstance(value, Plan) else "",
)
def test_the_stronger_wins_nearly_always(plan: Plan, least: float) -> None:
    assert run(plan).points >= least


def test_threshold_plays_as_strong_as_it_was_measured() -> None:
    """Greedy wins 0.468 +- 0.022 against it (docs/spec/blef.md section 12)."""
    plan = Plan(game="blef", first="greedy", second="threshold(0.2,0.5)", pairs=200, seed=1)
    low, high = run(plan).interval
    assert low < 46.8 < high
