"""The compiled opponents decide as their Python strategies do, on every position."""

import pytest
from support.lab import compiled_decisions, needs_compiler, plain_decisions

from workbench.lab.players import player
from workbench.lab.runs import Plan, run
from workbench.lab.series import twin

MATCHES = {"steady": 2}
"""Of random moves; about 60 decisions each."""

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
    "steady",
)


@needs_compiler
@pytest.mark.parametrize("name", OPPONENTS)
def test_a_compiled_opponent_decides_as_its_strategy_does(name: str) -> None:
    found = twin(name)
    assert found is not None
    for number in range(MATCHES.get(name, 20)):
        compiled = compiled_decisions(found.policy, 11, number)
        plain = list(plain_decisions(player(name), 11, number))
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
    compiled = run(Plan(first=first, second=second, pairs=20, seed=3), workers=1)
    plain = run(Plan(first=first, second=second, pairs=20, seed=3, plain=True), workers=1)
    assert compiled == plain
