"""Commands that games have alike: `workbench.cli.each:GAME_COMMAND` is one of them for a game.

So a command's module is imported when the command is called, and not before.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Annotated, Any

from cyclopts import Parameter

from cardsharp.errors import Malformed
from cardsharp.game import Game
from cardsharp.games import game

OneGame = Annotated[Game, Parameter(parse=False)]  # whose command it is: nothing that is typed

AnyGame = Annotated[Game | None, Parameter(parse=False)]
"""The same, or None where it is for matches of any game."""

FIRST = game(None)  # whose commands go without a game's name too

PLACES = {"try": "trying:again", "stats": "stats:of_game", "why": "show:why"}
"""Where those commands are that are not called as their modules."""


def __getattr__(name: str) -> Callable[..., Any]:
    """The command of that game."""
    of, _, command = name.partition("_")
    try:
        found = game(of)
    except Malformed as error:
        raise AttributeError(str(error)) from None
    module, _, function = PLACES.get(command, f"{command}:{command}").partition(":")
    return partial(getattr(import_module(f"workbench.cli.{module}"), function), game=found)
