"""A hosted game's table on a page: the lines of its drawing."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from cardsharp.host.house import house
from cardsharp.replay import Header, Step
from cardsharp.viewer.board import NOTHING, Board, Parts


def board_of(folder: str) -> Board:
    """How the table of the game in a folder is drawn."""
    game = house(folder)

    def parts(_header: Header, step: Step) -> Parts:
        return seen((), 0, game.codec.position(step.state)) if step.state else {"middle": NOTHING}

    def seen(_names: Sequence[str], _you: int, position: Any) -> Parts:  # noqa: ANN401 - any game's
        rows = (Markup("<p>{}</p>").format(row) for row in game.drawing.rows(position))
        return {"middle": NOTHING.join(rows)}

    return Board({}, parts, seen)
