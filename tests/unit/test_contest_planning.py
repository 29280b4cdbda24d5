"""What a contest takes, and how sure its winner is: by teams that are far apart, or level."""

from random import Random

import pytest

from cardsharp.contest.entries import Result
from cardsharp.contest.facts import Facts
from cardsharp.contest.formats import FORMATS
from cardsharp.contest.pairing import Rules
from cardsharp.contest.status import chance_strongest
from workbench.contest.planning import RUNS, held, proposals

NEAR = 3 * 0.5 / RUNS**0.5
"""Three standard errors of a chance that is simulated so often."""


@pytest.mark.parametrize(
    ("spread", "low", "high"), [(10_000, 0.97, 1), (0, 0.25 - NEAR, 0.25 + NEAR)]
)
def test_the_best_wins_where_teams_are_far_apart_and_by_chance_where_they_are_level(
    spread: float, low: float, high: float
) -> None:
    for one in proposals(4, 60, spread):
        assert low <= one.best_wins <= high, one


def test_more_matches_take_as_many_times_as_long() -> None:
    """Every pairing of a round is played at once; a round robin of four has three rounds."""
    found = {(one.format, one.matches): one.minutes for one in proposals(4, 120, 100)}
    assert found["round-robin", 1] == 6
    assert found["round-robin", 5] == 30
    strengths = {"a": 4000.0, "b": 2000.0, "c": 0.0}
    won, slots = held(FORMATS["double-elimination"], Rules(3, 9), strengths, Random(1))
    assert (won, slots) == (["a"], 4 * 3)


def test_who_has_won_everything_is_likely_the_strongest_and_nobody_knows_of_one_match() -> None:
    def results(matches: int) -> tuple[Result, ...]:
        facts = tuple(Facts((40, 30), 0, 60, 20) for _ in range(matches))
        return (Result("1", 1, "round", ("a", "b"), decided=True, facts=facts),)

    one, many = (chance_strongest("a", results(matches)) or 0 for matches in (1, 20))
    assert 0.5 < one < 0.85
    assert many > 0.99
    assert chance_strongest("a", ()) is None
