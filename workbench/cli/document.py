"""Writes what of the documentation is generated: `python -m workbench.cli.document`.

The table of commands in docs/cli.md, and each service's docs/GAME-openapi.json.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from cardsharp.game import Game
from cardsharp.games import games
from workbench.cli.commands import RESEARCH, ROOMS, all_commands
from workbench.stage.serving import service_of

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "cli.md"
A_GAME = ("GAME", "A game's own, by its name: `deadmansdraw`, `blef`, `euchre` or yours.")
"""One line for all games, so that mounting another leaves the page true."""

BEGIN, END = "<!-- written by python -m workbench.cli.document -->\n", "<!-- end -->"


def written() -> str:
    """The page, with the table between its marks as the commands are today."""
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    rows = [(one.name, one.summary) for one in all_commands()]
    rows += [(name, summary) for name, _, summary in (*ROOMS, RESEARCH)]
    rows.append(A_GAME)
    lines = [f"| `cardsharp {name}` | {summary} |" for name, summary in rows]
    table = "\n".join(["| command | |", "|---|---|", *lines])
    return f"{before}{BEGIN}{table}\n{END}{rest.partition(END)[2]}"


def files_of(game: Game) -> Mapping[Path, str]:
    """What the files hold in which a game's documents are kept."""
    return {
        DOCS / f"{'-'.join(filter(None, (game.name, name)))}-openapi.json": (
            json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        )
        for name, document in service_of(game).documents().items()
    }


if __name__ == "__main__":
    PAGE.write_text(written(), "utf-8")
    for one in games():
        if one.service is not None:
            for file, text in files_of(one).items():
                file.write_text(text, "utf-8")
