"""`cardsharp GAME duel`: the lab's duel, for the strategies of one game."""

from dataclasses import replace
from math import ceil
from typing import Annotated

from cyclopts import Parameter

from cardsharp_tools.cli.game_commands import FIRST_GAME, RequiredGame
from cardsharp_tools.cli.options import Positive
from cardsharp_tools.lab.commands import duel as run_duel
from cardsharp_tools.lab.options import DuelOptions, Player

Games = Annotated[
    int | None,
    Parameter(
        validator=Positive, help="Number of games instead of --pairs; rounded up to whole deals."
    ),
]
_USUAL = DuelOptions()


def duel(
    first: Player,
    second: Player,
    *,
    options: DuelOptions = _USUAL,
    games: Games = None,
    game: RequiredGame = FIRST_GAME,
) -> None:
    """Let two strategies play each deal from every seat, and print FIRST's points."""
    of_game = replace(options, game=game.name)
    if games is not None:
        of_game = replace(of_game, pairs=ceil(games / of_game.plan(first, second).matches_per_pair))
    run_duel(first, second, options=of_game)
