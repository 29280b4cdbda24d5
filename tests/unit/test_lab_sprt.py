"""The sequential test of the lab: as often wrong as it says, and the same for any processes."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from cardsharp.ratings import share_at
from workbench.lab.plan import Plan
from workbench.lab.runs import run
from workbench.lab.sprt import Sequential, Sprt


def shares(elo: float, alike: float, dice: Random) -> Iterator[float]:
    """Pairs of a player of that strength, whose two matches end alike by deal that often."""
    share = share_at(elo)
    while True:
        first = dice.random() < share
        second = first if dice.random() < alike else dice.random() < share
        yield (first + second) / 2


@pytest.mark.parametrize("alike", [0.0, 0.5])
@pytest.mark.parametrize(("elo", "stronger"), [(0.0, 0.05), (50.0, 0.95)])
def test_it_is_wrong_as_often_as_it_says(elo: float, stronger: float, alike: float) -> None:
    """400 simulated tests: three standard errors are 3.3 in 100."""
    dice, called = Random(1), 0
    for _ in range(400):
        tested = Sequential(Sprt(elo0=0, elo1=50))
        tested.take(shares(elo, alike, dice))
        called += tested.ratio > 0
    assert called / 400 == pytest.approx(stronger, abs=0.033)


def test_a_run_ends_with_the_pair_that_decides_whoever_plays_it() -> None:
    plan = Plan(first="champion", second="draw-2", pairs=60, seed=2, plain=True)
    alone = Sequential(Sprt(elo1=200))
    here = run(plan, tested=alone)
    with ThreadPoolExecutor(2) as pool:
        there = run(plan, pool, tested=Sequential(Sprt(elo1=200)))
    assert alone.ended
    assert here == there
    assert len(here.pairs) == here.plan.pairs == alone.number < 60
