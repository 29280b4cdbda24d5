"""The compiled opponents and the search decide as in plain Python, on every position."""

from dataclasses import replace
from functools import partial

import pytest

from cardsharp.deadmansdraw.strategies.captain import Captain, Weighing
from cardsharp.deadmansdraw.strategies.search.leaves import SearchLimits
from cardsharp.deadmansdraw.strategies.search.tree import Search
from cardsharp.deadmansdraw.strategies.search.weights import model
from research.deadmansdraw import engine
from research.deadmansdraw.engine import Engine, twin
from research.tests.decisions import (
    assert_alike,
    code_of,
    compiled_options,
    needs_compiler,
    plain_decisions,
)
from research.twins import series
from workbench.lab.plan import Plan
from workbench.lab.players import strategy_of
from workbench.lab.runs import run

MATCHES = {"steady": 2}  # of random moves; about 60 decisions each

PLAN = Plan(first="captain", second="captain", pairs=1)

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
    found = twin(name)
    assert found is not None
    assert_alike(found, partial(strategy_of, PLAN, name), MATCHES.get(name, 20))


DUELS = (
    Plan(first="draw-3", second="example-node", pairs=20, seed=3),
    Plan(first="third", second="champion-4", pairs=20, seed=3),
    Plan(first="champion", second="third", pairs=8, seed=3, less_luck=True),
    Plan(first="captain", second="draw-3", pairs=1, seed=3, less_luck=True),
    Plan(first="adaptive", second="draw-2", pairs=1, seed=3),
)


@needs_compiler
@pytest.mark.parametrize("plan", DUELS, ids=lambda plan: f"{plan.first} v {plan.second}")
def test_a_duel_is_the_same_in_both_engines(plan: Plan) -> None:
    """Every figure of every match, not only who won, and what was luck to the last bit.

    To know it the last cards are played again with the same dice.
    """
    assert_equal(plan)


def assert_equal(plan: Plan) -> None:
    assert series(plan.first, plan.second) is not None
    assert run(plan).pairs == run(replace(plan, plain=True)).pairs


def test_for_a_file_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "load", lambda: pytest.fail("compiled"))
    assert twin("its/own.py") is None


@pytest.mark.parametrize(
    "limits",
    [
        SearchLimits(),
        SearchLimits(levels=1, second_draws=-1, endgame=0),
        SearchLimits(samples=2, root_samples=3, endgame=8, most_ends=500),
    ],
)
def test_same_values_for_every_option(engine: Engine, limits: SearchLimits) -> None:
    kinds, weights = set(), model("captain")
    captain = engine.captain(weights, limits)
    for number in range(2):
        found = compiled_options(captain, 5, number)
        plain = plain_decisions(lambda _rng: Captain(weights, limits), 5, number)
        for (position, _), compiled in zip(plain, found, strict=True):
            if len(position.legal_actions()) == 1:
                assert compiled == []
                continue
            kinds.add(position.pending and position.pending.effect_type)
            options = Weighing(position, Search(weights, limits)).options()
            assert [(code_of(option.action), option.value) for option in options] == compiled
    assert len(kinds) >= 5
