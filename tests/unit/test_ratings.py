"""Ratings: the strengths that made the points, with intervals that hold them as often as said."""

from collections.abc import Iterator
from itertools import combinations
from math import inf
from random import Random

import pytest

from cardsharp.ratings import MEAN, Score, rating_of, ratings_of, share_at


def shares(elo: float, pairs: int, dice: Random, alike: float = 0.3) -> Iterator[float]:
    """Pairs of a player so much stronger, whose two matches end alike by deal that often."""
    share = share_at(elo)
    for _ in range(pairs):
        first = dice.random() < share
        second = first if dice.random() < alike else dice.random() < share
        yield (first + second) / 2


def test_the_strengths_that_made_the_points_are_found_again() -> None:
    true = dict(zip("abcd", (700, 900, 1100, 1300), strict=True))
    dice = Random(1)
    duels = {
        (one, two): Score.of(shares(true[one] - true[two], 2000, dice))
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
        met = [(rung, Score.of(shares(1000 - rung, 60, dice))) for rung in (900, 1050)]
        rating = rating_of(met)
        held += abs(rating.value - 1000) <= rating.margin
    assert held / 400 == pytest.approx(0.95, abs=0.033)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_who_won_or_lost_everything_is_not_rated_without_end(share: float) -> None:
    rating = rating_of([(1000, Score.of([share] * 20))])
    assert 400 < abs(rating.value - 1000) < 1000
    assert 100 < rating.margin < inf
