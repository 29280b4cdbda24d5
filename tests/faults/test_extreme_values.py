"""Tests of extreme values in all data that the client reads.

This is a sample; `make evidence-fault-matrix` tries every value.
"""

from pathlib import Path

import pytest
from fault_simulation.extreme_values import (
    ExtremeValue,
    harm_of,
    single_values,
    uncovered_fields,
    value_pairs,
)

SAMPLE = [*((value,) for value in single_values()[::101]), *value_pairs(4, seed=1)]
HUGE_MOVE_COUNT = (
    ExtremeValue("view", "moveCount", 10**30),
)  # it once ended the worker: no store holds such a number

NO_MOVES = (ExtremeValue("view", "moves", []),)
"""A view that tells no moves, though it counts some: a log once had holes for it."""


def test_every_field_that_is_read_has_extreme_values() -> None:
    assert uncovered_fields() == set()


@pytest.mark.parametrize(
    "values",
    [HUGE_MOVE_COUNT, NO_MOVES, *SAMPLE],
    ids=lambda values: " and ".join(map(str, values))[:80],
)
def test_no_extreme_value_costs_a_turn_or_causes_an_unintended_action(
    values: tuple[ExtremeValue, ...], tmp_path: Path
) -> None:
    assert harm_of(values, tmp_path) == []
