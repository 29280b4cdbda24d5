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


def why(
    match: Match,
    turn: OneTurn,
    /,
    *,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Print what we saw, weighed and chose at each decision of a turn."""
    explain_turn(match, turn, store, as_json=as_json)


def explain_turn(
    match: str, turn: int, store: str | None, game: Game | None = None, *, as_json: bool
) -> None:
    """Print our decisions in a turn of the match that a word means."""
    record, moves, _ = opened(match, store, game)
    drawing_of(game_of(record)).why(record, moves, turn, as_json=as_json)


def why_of(game: Game) -> Callable[..., None]:
    """The command for a game alone."""

    def why(match: Match, turn: OneTurn, /, *, store: Store = None, as_json: Json = False) -> None:
        """Explain our decisions in one turn."""
        explain_turn(match, turn, store, game, as_json=as_json)

    return why


__getattr__ = for_each_game(why_of)
