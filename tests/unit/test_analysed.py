"""What is told of many analysed matches: means with intervals, and what luck has to do with it."""

from collections.abc import Mapping
from math import inf

import pytest

from workbench.lab.analysed import AnalysedSide, Group


def side(result: float, luck: float = 0.0, cost: float = 0.0, busts: int = 0) -> AnalysedSide:
    counts: Mapping[str, int] = {"busts": busts}
    return AnalysedSide(
        "us", "them", "", "2026-11-22", (), result, luck, cost, 1.0, {"blunder": 1}, counts
    )


def test_results_less_luck_lie_closer_together_than_results() -> None:
    """Here luck explains all: what is left is the same in every match."""
    group = Group([side(1.0, 0.4), side(0.0, -0.6)] * 10, shares=True)
    assert group.result.mean == 0.5
    assert group.without_luck.mean == pytest.approx(0.6)
    assert group.without_luck.within.margin == pytest.approx(0.0)
    assert group.result.within.margin > 0.15
    assert group.luck_with_result == pytest.approx(1.0)


def test_the_accuracy_is_that_of_all_decisions_together() -> None:
    long = side(1.0, cost=0.2)._replace(stake=4.0)
    group = Group([long, side(1.0, cost=0.8)], shares=True)
    assert group.accuracy is not None
    assert group.accuracy.mean == pytest.approx(100 * (1 - 1.0 / 5.0))
    assert group.accuracy.within.low < group.accuracy.mean < group.accuracy.within.high
    assert Group([long._replace(stake=0.0)], shares=True).accuracy is None


def test_of_one_match_no_interval_is_known() -> None:
    group = Group([side(1.0, 0.3)], shares=True)
    assert group.without_luck.within.margin == inf
    assert group.without_luck.document == {"mean": 0.7, "low": None, "high": None}
    assert group.luck_with_result is None
