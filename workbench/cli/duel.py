"""`cardsharp GAME duel`: the lab's duel, for the strategies of one game."""

from collections.abc import Callable
from dataclasses import replace

from cardsharp.game import Game
from workbench.cli.each import for_each_game
from workbench.lab.commands import duel as run_duel
from workbench.lab.options import Player, RunOptions

_DEFAULTS = RunOptions()


def duel_of(game: Game) -> Callable[..., None]:
    """The command for a game."""

    def duel(first: Player, second: Player, *, options: RunOptions = _DEFAULTS) -> None:
        """Let two strategies play each deal from every side; prints FIRST's points."""
        run_duel(first, second, options=replace(options, game=game.name))

    return duel


__getattr__ = for_each_game(duel_of)
