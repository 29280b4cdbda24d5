"""Tests that strategies are as strong as measured, or as the programs that they rebuild.

Seeds are fixed, so the results never change unless a strategy does. The bounds are the
intervals measured between the real programs (docs/spec/arena.md section 9), wider where
few matches are played. Narrow bounds of Blef and Euchre are in docs/blef-strength.md and
docs/euchre-strength.md.
"""

import pytest

from cardsharp_tools.lab.plan import DuelPlan, plan_duel
from cardsharp_tools.lab.runner import run_duel

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("first", "second", "points", "margin", "scores"),
    [
        ("champion", "third", 48.6, 3.9, (48.9, 48.8)),
        ("champion", "example-node", 93.0, 3.4, (55.8, 32.1)),
        ("champion", "example-java", 96.4, 4.0, (54.5, 25.2)),
        ("third", "example-node", 93.4, 4.6, (53.4, 25.1)),
        ("third", "example-java", 94.8, 4.1, (50.8, 21.7)),
        ("example-node", "example-java", 63.3, 5.8, (35.7, 30.0)),
    ],
)
def test_a_rebuilt_player_is_as_strong_as_the_real_program(
    first: str, second: str, points: float, margin: float, scores: tuple[float, float]
) -> None:
    """Points and mean scores of 200 matches agree with the real programs' within both errors."""
    duel = run_duel(plan_duel(first, second, pairs=100, seed=2023, pure_python=True))
    assert abs(duel.points_percent - points) <= margin + duel.interval.margin
    mean_scores = [duel.count_sum("scores", player) / len(duel.matches) for player in (0, 1)]
    assert mean_scores == pytest.approx(scores, abs=3.5)


def test_champion_and_third_bust_as_often_and_take_as_long_as_the_real_programs() -> None:
    duel = run_duel(plan_duel("champion", "third", pairs=150, seed=7, pure_python=True))
    busts, turns = ([duel.count_sum(name, side) for side in (0, 1)] for name in ("busts", "turns"))
    assert busts[0] / turns[0] == pytest.approx(0.20, abs=0.02)
    assert busts[1] / turns[1] == pytest.approx(0.42, abs=0.03)
    assert turns[0] / len(duel.matches) == pytest.approx(9, abs=0.5)
    assert duel.count_sum("actions", 0) / len(duel.matches) == pytest.approx(40, abs=3)


@pytest.mark.parametrize(
    ("plan", "min_points"),
    [
        (plan_duel("steady", "champion", pairs=10, seed=5, pure_python=True), 57.5),
        (plan_duel("bayes", "greedy", game="blef", pairs=2, seed=4), 75),
        (plan_duel("bayes", "threshold(0.2,0.5)", game="blef", pairs=2, seed=4), 75),
        (plan_duel("rules", "random", game="euchre", pairs=50, seed=3), 99),
        (plan_duel("pimc@16", "random", game="euchre", pairs=10, seed=2), 95),
    ],
    ids=lambda value: f"{value.first}-{value.second}" if isinstance(value, DuelPlan) else "",
)
def test_the_stronger_wins_as_often_as_it_did(plan: DuelPlan, min_points: float) -> None:
    """The stronger strategy wins as often as before, in a short run."""
    assert run_duel(plan).points_percent >= min_points


def test_threshold_plays_as_strong_as_it_was_measured() -> None:
    """Greedy wins 46.8 % against it, as measured (docs/spec/blef.md section 12)."""
    plan = plan_duel("greedy", "threshold(0.2,0.5)", game="blef", pairs=200, seed=1)
    low, high = run_duel(plan).interval
    assert low < 46.8 < high
