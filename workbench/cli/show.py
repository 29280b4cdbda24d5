"""`cardsharp show` and `why`: a whole match turn by turn, and our decisions in one turn."""

from typing import Annotated

from cyclopts import Parameter

from workbench.cli.each import AnyGame
from workbench.show.drawing import drawing_of
from workbench.show.lookup import LAST, game_of
from workbench.show.options import Json, Match, Store
from workbench.show.output import messages
from workbench.watch.sources import opened

TurnNumber = Annotated[int | None, Parameter(help="Only this turn, counted from 1.")]
OneTurn = Annotated[int, Parameter(help="The turn's number, counted from 1.")]


def show(
    match: Match = LAST,
    /,
    *,
    turn: TurnNumber = None,
    store: Store = None,
    as_json: Json = False,
    game: AnyGame = None,
) -> None:
    """Print a match from its log: who did what, why, and the score after each turn."""
    record, moves, withdrawn = opened(match, store, game)
    drawing_of(game_of(record)).show(record, moves, turn, as_json=as_json)
    if withdrawn:
        numbers = ", ".join(map(str, withdrawn))
        messages().print(f"the arena went back: the moves {numbers} were lost and played anew")


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
