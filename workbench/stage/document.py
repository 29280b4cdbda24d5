"""Writes each service's docs/GAME-openapi.json: `python -m workbench.stage.document`."""

import json
from pathlib import Path

from cardsharp.game import Game
from cardsharp.games import games
from workbench.stage.serving import service_of

DOCS = Path(__file__).parents[2] / "docs"


def file_of(game: Game) -> Path:
    """Where a game's document is kept."""
    return DOCS / f"{game.name}-openapi.json"


def text_of(game: Game) -> str:
    """The document as the file holds it."""
    return json.dumps(service_of(game).document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for one in games():
        if one.service is not None:
            file_of(one).write_text(text_of(one))
