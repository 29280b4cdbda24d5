"""Ratings, and the sequential test of a duel: as often wrong as they say."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, islice
from math import inf
from random import Random

import pytest

from cardsharp.ratings import MEAN, PairScore, rating_of, ratings_of, share_at
from workbench import strategy_file
from workbench.lab.plan import Plan
from workbench.lab.runs import run
from workbench.lab.sprt import Sequential, Sprt


def shares(elo: float, dice: Random, alike: float = 0.3) -> Iterator[float]:
    """Pairs of a player so much stronger, whose two matches end alike by deal that often."""
    share = share_at(elo)
    while True:
        first = dice.random() < share
        second = first if dice.random() < alike else dice.random() < share
        yield (first + second) / 2


def test_the_strengths_that_made_the_points_are_found_again() -> None:
    true = dict(zip("abcd", (700, 900, 1100, 1300), strict=True))
    dice = Random(1)
    duels = {
        (one, two): PairScore.of(islice(shares(true[one] - true[two], dice), 2000))
        for one, two in combinations(true, 2)
    }
    found = ratings_of(duels)
    assert sum(rating.value for rating in found.values()) / 4 == pytest.approx(MEAN)
    for name, rating in found.items():
        assert abs(rating.value - true[name]) < 1.5 * rating.margin < 40


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """400 climbs over two rungs: three standard errors are 3.3 in 100."""
    dice, held = Random(2), 0
    for _ in range(400):
        met = [(rung, PairScore.of(islice(shares(1000 - rung, dice), 60))) for rung in (900, 1050)]
        rating = rating_of(met)
        held += abs(rating.value - 1000) <= rating.margin
    assert held / 400 == pytest.approx(0.95, abs=0.033)


@pytest.mark.parametrize("share", [0.0, 1.0, 1.2])
def test_who_won_or_lost_everything_is_not_rated_without_end(share: float) -> None:
    """Nor who has more than all, as less luck one may have of a few pairs."""
    rating = rating_of([(1000, PairScore.of([share] * 20))])
    assert 400 < abs(rating.value - 1000) < 1000
    assert 100 < rating.margin < inf


@pytest.mark.parametrize("alike", [0.0, 0.5])
@pytest.mark.parametrize(("elo", "stronger"), [(0.0, 0.05), (50.0, 0.95)])
def test_a_duel_is_decided_wrong_as_often_as_it_says(
    elo: float, stronger: float, alike: float
) -> None:
    """400 simulated tests: three standard errors are 3.3 in 100."""
    dice, called = Random(1), 0
    for _ in range(400):
        tested = Sequential(Sprt(elo0=0, elo1=50))
        tested.take(shares(elo, dice, alike))
        called += tested.ratio > 0
    assert called / 400 == pytest.approx(stronger, abs=0.033)


def test_a_run_ends_with_the_pair_that_decides_whoever_plays_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Threads of this process take it for one that is there for strategy files alone.
    monkeypatch.setattr(strategy_file, "_listeners", [])
    plan = Plan(first="champion", second="draw-2", pairs=60, seed=2, plain=True)
    alone = Sequential(Sprt(elo1=200))
    here = run(plan, tested=alone)
    with ThreadPoolExecutor(2) as pool:
        there = run(plan, pool, tested=Sequential(Sprt(elo1=200)))
    assert alone.ended
    assert here == there
    assert len(here.pairs) == here.plan.pairs == alone.number < 60
