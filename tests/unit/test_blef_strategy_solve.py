"""The solver of one card against one, held against the figures of BOTS.md."""

from itertools import permutations
from random import Random

import pytest

from cardsharp.blef.actions import BETS
from cardsharp.blef.cards import DECK
from cardsharp.blef.strategies import build
from workbench.blef import solve
from workbench.blef.solve import Solver, believed, best_response, checked, exploitability


@pytest.mark.parametrize(
    ("name", "figure"),
    [("greedy", 0.058), ("threshold(0.2,0.5)", 0.272), ("threshold(0.5,0.5)", 0.272)],
)
def test_exploitability_is_as_it_was_measured(name: str, figure: float) -> None:
    profile = solve.profile_of(build(name, Random(1)))
    assert exploitability(profile) == pytest.approx(figure, abs=5e-4)


@pytest.mark.parametrize("bet", range(solve.BETS))
def test_a_check_is_worth_what_the_rules_say(bet: int) -> None:
    """Counted over all 552 deals by the rules' own verdicts; a check wins what does not hold."""
    wins = [0] * solve.HANDS
    holds = [0] * solve.HANDS
    deals = list(permutations(DECK, 2))
    for pair in deals:
        wins[pair[0].value] += not BETS[bet].holds(pair)
        holds[pair[0].value] += BETS[bet].holds(pair)
    reach = [1.0] * solve.HANDS
    assert checked(1 << bet, reach) == pytest.approx([n / len(deals) for n in wins])
    assert believed(1 << bet, reach) == pytest.approx([n / len(deals) for n in holds])


def test_the_solver_nears_the_equilibrium_and_its_value() -> None:
    """BOTS.md: the starter's value is 0.4638; best answers bound it from both sides."""
    solver = Solver()
    solver.iterate(3)
    early = exploitability(solver.average)
    solver.iterate(12)
    late = exploitability(solver.average)
    assert late < early / 2
    assert late < 0.01
    high = best_response(solver.average, starter=True)
    low = 1 - best_response(solver.average, starter=False)
    assert low <= 0.4638 <= high
