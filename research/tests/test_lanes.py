"""Compiled lanes show a learner the same as plain ones, step by step."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from research.tests.decisions import needs_compiler
from research.twins import lanes
from workbench.env.batch import Lanes

STEPS, NUMBER = 500, 5


@needs_compiler
@pytest.mark.parametrize(
    ("game", "seats"), [("deadmansdraw", 2), ("blef", 2), ("blef", 5), ("blef", 8), ("euchre", 4)]
)
def test_compiled_lanes_are_the_plain_ones(game: str, seats: int) -> None:
    """2,500 random actions: observations, masks, who is to act, rewards and ends, to the bit."""
    assert lanes(game, NUMBER, seats) is not None
    ended = 0
    both = (_played(Lanes(NUMBER, game, seats, plain=plain)) for plain in (True, False))
    for plain, compiled in zip(*both, strict=True):
        for one, other in zip(plain, compiled, strict=True):
            np.testing.assert_array_equal(one, other)
        ended += int(plain[-1].sum())
    assert ended > NUMBER


def _played(played: Lanes) -> Iterator[list[NDArray[Any]]]:
    chance = np.random.default_rng(3)
    seen, infos = played.reset(seed=9)
    yield [*seen.values(), infos["to_act"], np.zeros(1)]
    for _ in range(STEPS):
        mask = seen["action_mask"]
        actions = (chance.random(mask.shape) * mask).argmax(axis=1)
        seen, rewards, ended, _, infos = played.step(actions)
        yield [*seen.values(), infos["to_act"], rewards, ended]
