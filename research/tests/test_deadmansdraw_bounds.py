"""Bounds lie on either side of what trying everything says, and meet where the judge is right."""

import json
from itertools import permutations
from pathlib import Path
from random import Random
from statistics import fmean

import pytest
from support.perfect import values

from cardsharp.deadmansdraw.cards import Suit
from cardsharp.deadmansdraw.simulation import Match
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.weights import model
from cardsharp.errors import ConfigError
from research.deadmansdraw.bounds import Bounds, BoundsOptions, Trial, bounds
from research.deadmansdraw.engine import load
from research.deadmansdraw.exact import Effort, Solver
from research.tests.decisions import needs_compiler
from research.tests.tiny import tiny

ALL = 60


def against_perfect(solver: Solver, last: int) -> Trial:
    """Captain, and who knows the pile, against perfect play; the solver judges the last cards."""
    engine = load()
    assert engine is not None
    captain = engine.captain(model(WEIGHTS))
    return Trial(engine, solver, solver.player(captain, ALL), captain, last)


def solver_of() -> Solver:
    engine = load()
    assert engine is not None
    return Solver(engine, Effort(bits=12))


def of_orders(trial: Trial, match: Match) -> list[list[Bounds]]:
    """The bounds of every order of the pile, each with other picks."""
    orders = permutations(match.state.draw_pile)
    return [trial.at(match.position, order, seed) for seed, order in enumerate(orders)]


@needs_compiler
@pytest.mark.parametrize("batch", range(4))
def test_without_a_gap_where_the_judge_is_right(batch: int) -> None:
    """Whatever comes, knowing it is worth no more than it costs; of Maps and bonuses too."""
    dice, solver = Random(f"bounds/{batch}"), solver_of()
    trial = against_perfect(solver, last=ALL)
    for _ in range(60):
        match = tiny(dice)
        right = max(values(match.state).values())
        for sides in of_orders(trial, match):
            for one, value in zip(sides, (right, 1 - right), strict=True):
                assert one.best == pytest.approx(value, abs=1e-9)
                assert one.itself == pytest.approx(value, abs=1e-9)
                assert one.stronger < value + 1e-9


@needs_compiler
def test_on_either_side_where_the_judge_is_wrong() -> None:
    """Over all orders: what is paid is 0 in the mean for who does not know them."""
    dice, solver, gaps = Random("bounds"), solver_of(), list[float]()
    trial = against_perfect(solver, last=0)
    for _ in range(80):
        match = tiny(dice, without=(Suit.MAP, Suit.CHEST))  # no pick, so the orders are all chance
        right = max(values(match.state).values())
        found = of_orders(trial, match)
        for side, value in enumerate((right, 1 - right)):
            all_orders = [sides[side] for sides in found]
            assert fmean(one.itself for one in all_orders) == pytest.approx(value, abs=1e-9)
            assert fmean(one.stronger for one in all_orders) < value + 1e-9
            gaps.append(fmean(one.best for one in all_orders) - value)
    assert min(gaps) > -1e-9
    assert max(gaps) > 0.01


@needs_compiler
def test_bounds_are_taken_up_from_their_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(**given: object) -> dict[str, dict[str, float]]:
        options = {"cards": 4, "perfect": 2, "as_json": True, **given}
        bounds(options=BoundsOptions(**options))  # type: ignore[arg-type]
        document: dict[str, dict[str, float]] = json.loads(capsys.readouterr().out)
        return document

    at_once, kept = told(matches=8), tmp_path / "kept.jsonl"
    told(matches=3, out=kept)
    again = told(matches=8, out=kept)
    assert (again["below"], again["above"]) == (at_once["below"], at_once["above"])
    assert at_once["below"]["points"] < at_once["above"]["points"] + 1e-9
    assert told(matches=8, nodes=1)["above"] is None
    with pytest.raises(ConfigError, match="of another run"):
        told(matches=8, seed=2, out=kept)
