"""The table of a stored match as an arena begins a match with it: who decides there begins."""

from dataclasses import replace
from random import SystemRandom

from cardsharp.cloud.ports import Status
from cardsharp.deadmansdraw.arena.randomness import Randomness, draws_of, new_seed
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.wire import MatchParams
from cardsharp.errors import ConfigError
from workbench.table.branch import point_named


def _seed_of_first() -> str:
    """A seed by which the first player begins, at the original arena and at ours."""
    while True:
        seed = new_seed()
        if not any(draws_of(seed, one).below(2) for one in Randomness):
            return seed


def table_like(word: str) -> MatchParams:
    """The table at the decision that `MATCH@STEP` means; without a step the first one.

    The bank of whoever begins is the first.

    The draw pile of a match that is over is the one that was there, else one that may be. Raises
    `ConfigError` for no such decision, or where an effect waits for its answer.
    """
    point = point_named(word, GAME)
    point = replace(point, same=point.record.status is Status.FINISHED)
    table = point.opening(SystemRandom())[1].state
    if table.pending is not None:
        raise ConfigError(
            f"At step {point.number} the {table.pending.effect_type} waits for its answer, and no "
            "match begins so; take a step at which a card was drawn or the turn ended."
        )
    own, other = (tuple(table.banks[seat]) for seat in (point.seat, 1 - point.seat))
    return MatchParams(
        play_area=table.play_area,
        draw_pile=table.draw_pile,
        discard_pile=table.discard_pile,
        banks=(own, other),
        random_seed=_seed_of_first(),
    )
