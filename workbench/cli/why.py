"""`cardsharp why`: each of our decisions in a turn, and what it was made of."""

from typing import Annotated

from cyclopts import Parameter

from workbench.cli.each import AnyGame
from workbench.cli.opening import opened
from workbench.show.drawing import drawing_of
from workbench.show.lookup import game_of
from workbench.show.options import Json, Match, Store

OneTurn = Annotated[int, Parameter(help="The turn's number, counted from 1.")]


def why(
    match: Match,
    turn: OneTurn,
    /,
    *,
    store: Store = None,
    as_json: Json = False,
    game: AnyGame = None,
) -> None:
    """Print what we saw, weighed and chose at each decision of a turn."""
    record, moves, _ = opened(match, store, game)
    drawing_of(game_of(record)).why(record, moves, turn, as_json=as_json)
