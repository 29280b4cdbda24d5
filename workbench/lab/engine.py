"""Who plays the lab's matches: plain Python, or its compiled twin where there is one."""

from collections.abc import Callable, Sequence
from functools import partial

from workbench.lab.players import player
from workbench.lab.selfplay import Pair, play_series
from workbench.lab.series import play_compiled, twin

Engine = Callable[[int, Sequence[int]], list[Pair]]
"""Plays the pairs of a series by the seed of the run and their numbers, which are consecutive."""


def engine_for(first: str, second: str, *, plain: bool) -> Engine:
    """What plays these two: the results are equal, only the speed differs.

    Raises:
        ConfigError: a player does not exist.
    """
    makers = player(first), player(second)
    if plain or twin(first) is None or twin(second) is None:
        return partial(play_series, makers)
    return partial(play_compiled, (first, second))
