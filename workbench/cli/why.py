"""`cardsharp why`: each of our decisions in a turn, and what it was made of."""

from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter

from cardsharp.game import Game
from workbench.cli.each import for_each_game
from workbench.cli.opening import opened
from workbench.show.drawing import drawing_of
from workbench.show.lookup import game_of
from workbench.show.options import Json, Match, Store

OneTurn = Annotated[int, Parameter(help="The turn's number, counted from 1.")]


def why_of(game: Game | None) -> Callable[..., None]:
    """The command for a game alone, or for matches of any."""

    def why(match: Match, turn: OneTurn, /, *, store: Store = None, as_json: Json = False) -> None:
        """Print what we saw, weighed and chose at each decision of a turn."""
        record, moves, _ = opened(match, store, game)
        drawing_of(game_of(record)).why(record, moves, turn, as_json=as_json)

    return why


why = why_of(None)
__getattr__ = for_each_game(why_of)
