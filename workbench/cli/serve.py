"""`cardsharp GAME serve`: a game's HTTP service on this machine."""

from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.game import Game
from workbench.cli.each import for_each_game
from workbench.cloud.http_front import HOST
from workbench.show.options import Json
from workbench.show.output import print_json, results
from workbench.stage import serving

Port = Annotated[
    int,
    Parameter(validator=validators.Number(gte=0, lte=65535), help="The port; 0 for a free one."),
]
Host = Annotated[str, Parameter(help="The address to listen on; 0.0.0.0 for all.")]
Kept = Annotated[
    str, Parameter(help="sqlite:FILE keeps the games; emulator: DynamoDB of an AWS emulator.")
]


def serve_of(game: Game) -> Callable[..., None]:
    """The command for a game."""

    def serve(
        *,
        port: Port = 8000,
        host: Host = HOST,
        store: Kept = serving.IN_MEMORY,
        as_json: Json = False,
    ) -> None:
        """Serve games through the handler that the cloud runs, until Ctrl-C."""

        def announce(url: str) -> None:
            if as_json:
                print_json({"url": url, "openapi": f"{url}/openapi.json", "docs": f"{url}/docs"})
            else:
                results().print(f"{game.title} at {url}, its API at {url}/docs")
                results().print("Ctrl-C stops it.", style="dim")

        serving.serve(game, announce, store, serving.ServingPlace(host, port))
        if not as_json:
            results().print(f"{game.title} is closed")

    return serve


__getattr__ = for_each_game(serve_of)
