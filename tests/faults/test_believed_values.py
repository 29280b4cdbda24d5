"""Extreme values in all that the client believes: a sample; every one in `make faults-all`."""

from pathlib import Path

import pytest
from world.lies import Lie, harm_by, pairs_of_lies, rows_missing, single_lies

SAMPLE = [*((lie,) for lie in single_lies()[::101]), *pairs_of_lies(4, seed=1)]
HUGE = (Lie("view", "moveCount", 10**30),)  # it once ended the worker: no store holds such a number

SILENT = (Lie("view", "moves", []),)
"""A view that tells no moves, though it counts some: a log once had holes for it."""


def test_every_field_that_is_read_has_extreme_values() -> None:
    assert rows_missing() == set()


@pytest.mark.parametrize(
    "lies", [HUGE, SILENT, *SAMPLE], ids=lambda lies: " and ".join(map(str, lies))[:80]
)
def test_no_value_costs_a_turn_or_has_us_do_what_nobody_meant(
    lies: tuple[Lie, ...], tmp_path: Path
) -> None:
    assert harm_by(lies, tmp_path) == []
