"""`cardsharp GAME serve`: a game's HTTP service on this machine."""

from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from cardsharp_tools.cli.console import print_json_or_lines, result_console
from cardsharp_tools.cli.game_commands import FIRST_GAME, RequiredGame
from cardsharp_tools.cli.options import Json, Port
from cardsharp_tools.local_play import game_service
from cardsharp_tools.local_server.http_server import HOST

Host = Annotated[str, Parameter(help="The address to listen on; 0.0.0.0 accepts other machines.")]
StoreName = Annotated[
    str,
    Parameter(
        help="Where games are stored: sqlite:FILE, or emulator for DynamoDB of an AWS emulator."
    ),
]


def serve(
    *,
    port: Port = 8000,
    host: Host = HOST,
    store: StoreName = game_service.IN_MEMORY,
    as_json: Json = False,
    game: RequiredGame = FIRST_GAME,
) -> None:
    """Serve the game's HTTP API until Ctrl-C. It is the code that runs in the cloud."""

    def announce(url: str) -> None:
        document = {"url": url, "openapi": f"{url}/openapi.json", "docs": f"{url}/docs"}
        lines = (
            f"{game.title} is served at {url}. API documentation: {url}/docs",
            Text("Ctrl-C stops it.", "dim"),
        )
        print_json_or_lines(document, *lines, as_json=as_json)

    game_service.serve(game, announce, store, (host, port))
    if not as_json:
        result_console().print(f"{game.title} is stopped.")
