"""`cardsharp GAME duel`: the lab's duel, for the strategies of one game."""

from dataclasses import replace
from math import ceil
from typing import Annotated

from cyclopts import Parameter

from workbench.cli.games import FIRST, OneGame
from workbench.lab.commands import duel as run_duel
from workbench.lab.options import DuelOptions, Player, Positive

Games = Annotated[
    int | None,
    Parameter(validator=Positive, help="So many games in place of --pairs, in whole deals."),
]
_USUAL = DuelOptions()


def duel(
    first: Player,
    second: Player,
    *,
    options: DuelOptions = _USUAL,
    games: Games = None,
    game: OneGame = FIRST,
) -> None:
    """Let two strategies play each deal from every side; prints FIRST's points."""
    of_game = replace(options, game=game.name)
    if games is not None:
        of_game = replace(of_game, pairs=ceil(games / of_game.plan(first, second).matches_a_pair))
    run_duel(first, second, options=of_game)
