"""Whole games of two between compiled players.

Each deal is played twice, once from either seat: with the same seed the same cards come up, who
ever holds them.
"""

from collections.abc import Sequence
from functools import cache
from random import Random
from statistics import fmean

from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.bayes import Bayes
from cardsharp.blef.strategies.greedy import Greedy
from cardsharp.blef.strategies.large import known
from cardsharp.blef.strategies.reader import Reader
from cardsharp.blef.strategies.solved import Solved
from cardsharp.blef.strategies.threshold import Threshold
from cardsharp.blef.strategies.trained import FILE
from cardsharp.blef.strategies.uniform import Uniform
from cardsharp.errors import ConfigError
from research.blef.compiled import CPlayer, play_game, player, solved_plans
from research.blef.large_rounds import known_in, teach
from research.blef.packing import tables_in
from research.blef.strangers import Stranger


@cache
def compiled(strategy: str) -> CPlayer:
    """The likeness of a strategy in C.

    Raises:
        ConfigError: there is none, or the tables are damaged.
    """
    match build(strategy, Random(0)):
        case Solved() | Reader() as knowing:
            kind = "tables" if isinstance(knowing, Solved) else "reader"
            return teach(player(kind, tables_in(FILE), solved_plans()), known_in(known()))
        case Stranger() as stranger:
            return player("stranger", check=stranger.number)
        case Bayes():
            return player("bayes", plans=solved_plans())
        case Threshold() as marks:
            return player("threshold", check=marks.check, bet=marks.bet)
        case Greedy():
            return player("threshold")
        case Uniform():
            return player("random")
    raise ConfigError(f"'{strategy}' is not compiled; only the strategies of Blef are.")


def shares_of(first: str, second: str, seeds: Sequence[int]) -> list[float]:
    """What the first wins of the two games of each seed."""
    ours, theirs = compiled(first), compiled(second)
    return [
        fmean(
            (
                play_game((ours, theirs), seed)[-1].loser != 0,
                play_game((theirs, ours), seed)[-1].loser != 1,
            )
        )
        for seed in seeds
    ]
