"""Writes what of the documentation is generated: `python -m cardsharp_tools.cli.generate_docs`.

The table of commands in docs/cli.md, and each service's docs/GAME-openapi.json.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from cardsharp.play.catalog import all_games
from cardsharp.play.game import Game
from cardsharp_tools.cli.app import COMMAND_GROUPS, RESEARCH, all_commands
from cardsharp_tools.local_play.game_service import service_definition

DOCS = Path(__file__).parents[2] / "docs"
CLI_PAGE = DOCS / "cli.md"
GAME_ROW = ("GAME", "A game's own, by its name: `deadmansdraw`, `blef`, `euchre` or yours.")
"""One line for all games, so that mounting another leaves the page true."""

BEGIN, END = "<!-- written by python -m cardsharp_tools.cli.generate_docs -->\n", "<!-- end -->"


def generated_cli_page() -> str:
    """Return the page of the command line with an up-to-date table of the commands."""
    head, rest = CLI_PAGE.read_text("utf-8").split(BEGIN)
    rows = [(command.name, command.summary) for command in all_commands()]
    rows += [(name, summary) for name, _, summary in (*COMMAND_GROUPS, RESEARCH)]
    rows.append(GAME_ROW)
    lines = [f"| `cardsharp {name}` | {summary} |" for name, summary in rows]
    table = "\n".join(["| command | |", "|---|---|", *lines])
    return f"{head}{BEGIN}{table}\n{END}{rest.partition(END)[2]}"


def openapi_documents_by_file(game: Game) -> Mapping[Path, str]:
    """Return the contents of a game's generated API documents by file."""
    return {
        DOCS / f"{'-'.join(filter(None, (game.name, name)))}-openapi.json": (
            json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        )
        for name, document in service_definition(game).openapi_documents().items()
    }


if __name__ == "__main__":
    CLI_PAGE.write_text(generated_cli_page(), "utf-8")
    for game in all_games():
        if game.http_service is not None:
            for file, text in openapi_documents_by_file(game).items():
                file.write_text(text, "utf-8")
