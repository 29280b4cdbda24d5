"""`cardsharp show` and `why`: a match turn by turn, and our decisions of one turn."""

from typing import Annotated

from cyclopts import Parameter

from cardsharp_tools.cli.game_commands import OptionalGame
from cardsharp_tools.cli.options import Json, MatchRef, Store
from cardsharp_tools.match_sources.match_names import LAST_MATCH

TurnNumber = Annotated[int | None, Parameter(help="Show only this turn. Turns count from 1.")]
RequiredTurnNumber = Annotated[int, Parameter(help="The number of the turn. Turns count from 1.")]


def show(
    match: MatchRef = LAST_MATCH,
    /,
    *,
    turn: TurnNumber = None,
    store: Store = None,
    as_json: Json = False,
    game: OptionalGame = None,
) -> None:
    """Print a match turn by turn: the moves, our reasons, and the score."""
    from cardsharp_tools.cli.match_display import show_match  # noqa: PLC0415 - slow to import

    show_match((match, store, game), turn, as_json=as_json)


def why(
    match: MatchRef,
    turn: RequiredTurnNumber,
    /,
    *,
    store: Store = None,
    as_json: Json = False,
    game: OptionalGame = None,
) -> None:
    """Print for each decision of a turn what we saw, considered and chose."""
    from cardsharp_tools.cli.match_display import explain_turn  # noqa: PLC0415 - as above

    explain_turn((match, store, game), turn, as_json=as_json)
