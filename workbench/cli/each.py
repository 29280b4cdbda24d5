"""A command that every game has, as an attribute of its module by the game's name."""

from collections.abc import Callable
from typing import TypeVar

from cardsharp.errors import Malformed
from cardsharp.game import Game
from cardsharp.games import game

T = TypeVar("T")


def for_each_game(make: Callable[[Game], T]) -> Callable[[str], T]:
    """The `__getattr__` of a module in which `module:GAME` is what `make` makes for that game.

    So a command's module is imported when the command is called, and not before.
    """

    def find(name: str) -> T:
        try:
            return make(game(name))
        except Malformed as error:
            raise AttributeError(str(error)) from None

    return find
