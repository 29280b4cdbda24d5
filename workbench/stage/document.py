"""Writes each service's docs/GAME-openapi.json: `python -m workbench.stage.document`."""

import json
from collections.abc import Mapping
from pathlib import Path

from cardsharp.game import Game
from cardsharp.games import games
from workbench.stage.serving import service_of

DOCS = Path(__file__).parents[2] / "docs"


def files_of(game: Game) -> Mapping[Path, str]:
    """What the files hold in which a game's documents are kept."""
    return {
        DOCS / f"{'-'.join(filter(None, (game.name, name)))}-openapi.json": (
            json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        )
        for name, document in service_of(game).documents().items()
    }


if __name__ == "__main__":
    for one in games():
        if one.service is not None:
            for file, text in files_of(one).items():
                file.write_text(text)
