"""A hosted game's table on a page: the lines of its drawing."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from markupsafe import Markup

from cardsharp.host.house import House, house
from cardsharp.replay import Header, Step
from cardsharp.viewer.board import NOTHING, Board, Parts


def board_of(folder: str) -> Board:
    """How the table of the game in a folder is drawn."""
    game = house(folder)
    return Board({}, partial(_parts, game), partial(_seen, game))


def _parts(game: House, _header: Header, step: Step) -> Parts:
    return _rows(game, game.codec.position(step.state)) if step.state else {"middle": NOTHING}


def _seen(game: House, _names: Sequence[str], _you: int, position: Any) -> Parts:  # noqa: ANN401 - any game's
    return _rows(game, position)


def _rows(game: House, position: Any) -> Parts:  # noqa: ANN401 - as above
    line = Markup("<p>{}</p>")
    return {"middle": NOTHING.join(line.format(row) for row in game.drawing.rows(position))}
