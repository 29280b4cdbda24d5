"""The table of a stored match as an arena begins a match with it: who decides there begins."""

from dataclasses import replace
from random import SystemRandom
from typing import NamedTuple

from cardsharp.cloud.ports import Status
from cardsharp.deadmansdraw.arena.randomness import NO_RANDOM
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.game import GAME
from cardsharp.errors import ConfigError
from workbench.table.branch import BranchPoint, branch_point, point_named

Cards = tuple[Card, ...]

FIRST_BEGINS = NO_RANDOM
"""The seed with which an arena has the first player begin."""


class StartTable(NamedTuple):
    """The piles to begin with, and the banks, that of whoever begins first."""

    play_area: Cards
    draw_pile: Cards
    discard_pile: Cards
    banks: tuple[Cards, Cards]


def table_like(word: str) -> StartTable:
    """The table at the decision that `MATCH@STEP` means; without a step the first one.

    The draw pile of a match that is over is the one that was there, else one that may be.

    Raises:
        ConfigError: there is no such decision, or an effect waits for its answer there.
    """
    point = point_named(word, None, GAME)
    point = replace(point, same=point.record.status is Status.FINISHED)
    table = point.opening(SystemRandom())[1].state
    if table.pending is not None:
        effect = table.pending.effect_type
        raise ConfigError(
            f"At step {point.number} the {effect} waits for its answer, and no match begins so; "
            f"take {_next_free(point)}."
        )
    own, other = (tuple(table.banks[seat]) for seat in (point.seat, 1 - point.seat))
    area = () if table.between_turns else table.play_area
    return StartTable(area, table.draw_pile, table.discard_pile, (own, other))


def _next_free(point: BranchPoint) -> str:
    """The next step at which nothing waits for an answer, in words."""
    later = point
    try:
        while later.opening(SystemRandom())[1].state.pending is not None:
            later = branch_point(point.record, point.moves, later.number + 1)
    except ConfigError:
        return "an earlier step"
    return f"step {later.number}"
