"""`cardsharp GAME serve`: a game's HTTP service on this machine."""

from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from workbench.cli.games import FIRST, OneGame
from workbench.listening import HOST
from workbench.show.options import Json, Port
from workbench.show.output import results, tell
from workbench.stage import serving

Host = Annotated[str, Parameter(help="The address to listen on; 0.0.0.0 for all.")]
Kept = Annotated[
    str, Parameter(help="sqlite:FILE keeps the games; emulator: DynamoDB of an AWS emulator.")
]


def serve(
    *,
    port: Port = 8000,
    host: Host = HOST,
    store: Kept = serving.IN_MEMORY,
    as_json: Json = False,
    game: OneGame = FIRST,
) -> None:
    """Serve games through the handler that the cloud runs, until Ctrl-C."""

    def announce(url: str) -> None:
        told = {"url": url, "openapi": f"{url}/openapi.json", "docs": f"{url}/docs"}
        lines = (f"{game.title} at {url}, its API at {url}/docs", Text("Ctrl-C stops it.", "dim"))
        tell(told, *lines, as_json=as_json)

    serving.serve(game, announce, store, (host, port))
    if not as_json:
        results().print(f"{game.title} is closed")
