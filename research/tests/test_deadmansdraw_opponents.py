"""The compiled opponents decide as their Python strategies do, on every position."""

from dataclasses import replace
from functools import partial

import pytest

from research.deadmansdraw import engine
from research.deadmansdraw.engine import twin
from research.tests.decisions import compiled_decisions, needs_compiler, plain_decisions
from research.twins import series
from workbench.lab.plan import Plan
from workbench.lab.players import strategy_of
from workbench.lab.runs import run

MATCHES = {"steady": 2}
"""Of random moves; about 60 decisions each."""

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
    for number in range(MATCHES.get(name, 20)):
        compiled = compiled_decisions(found, 11, number)
        plain = list(plain_decisions(partial(strategy_of, PLAN, name), 11, number))
        assert len(plain) > 30
        for (position, code), other in zip(plain, compiled, strict=True):
            assert code == other, position


@needs_compiler
@pytest.mark.parametrize(
    ("first", "second"),
    [("champion", "third"), ("draw-3", "example-node"), ("third", "champion-4")],
)
def test_a_duel_is_the_same_in_both_engines(first: str, second: str) -> None:
    """Scores, turns, actions and busts of every match, not only who won."""
    assert_equal(Plan(first=first, second=second, pairs=20, seed=3))


def test_for_a_file_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "load", lambda: pytest.fail("compiled"))
    assert twin("its/own.py") is None


@needs_compiler
@pytest.mark.parametrize("players", [("champion", "third"), ("captain", "draw-3")])
def test_luck_is_the_same_in_both_engines(players: tuple[str, str]) -> None:
    """To the last bit, and the last cards are played again with the same dice."""
    first, second = players
    pairs = 1 if "captain" in players else 8
    assert_equal(Plan(first=first, second=second, pairs=pairs, seed=3, less_luck=True))


@needs_compiler
def test_adaptive_plays_a_series_the_same_in_both_engines() -> None:
    """Belief, choice of weights and search: every figure of every match."""
    assert_equal(Plan(first="adaptive", second="draw-2", pairs=1, seed=3))


def assert_equal(plan: Plan) -> None:
    assert series(plan.first, plan.second) is not None
    assert run(plan).pairs == run(replace(plan, plain=True)).pairs
