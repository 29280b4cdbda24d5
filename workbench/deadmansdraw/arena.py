"""`cardsharp arena`: an arena in the foreground."""

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from workbench.arena.config import ArenaConfig
from workbench.arena.ids import DUMMY_ID
from workbench.arena.players import ADMIN, DEFAULT_FILE, load_players
from workbench.arena.randomness import Randomness
from workbench.arena.server import run
from workbench.show.options import Json
from workbench.show.output import print_json, results

ADMIN_PASSWORD = "ARENA_ADMIN_PASSWORD"  # noqa: S105 - a variable's name
"""Not a CARDSHARP_ variable: those are the bot's, which refuses what it does not know."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """How the arena is run."""

    host: Annotated[str, Parameter(help="The address to listen on; 0.0.0.0 for all.")] = "127.0.0.1"
    port: Annotated[
        int,
        Parameter(
            validator=validators.Number(gte=0, lte=65535), help="The port; 0 for a free one."
        ),
    ] = 8080
    players: Annotated[
        Path,
        Parameter(help='JSON list of {"_id", "name", "password"}; else the dummy and two teams.'),
    ] = DEFAULT_FILE
    data: Annotated[
        Path | None,
        Parameter(
            help="SQLite file that keeps matches; without it, all stay in memory until the end."
        ),
    ] = None
    random: Annotated[
        Randomness, Parameter(help="original repeats the competition server's draws exactly.")
    ] = Randomness.FAIR
    poll_timeout: Annotated[
        float, Parameter(validator=validators.Number(gt=0), help="Seconds that a long poll lasts.")
    ] = 30.0
    slow_down: Annotated[
        bool, Parameter(negative=(), help="Delay who asks too often, as the original does.")
    ] = False
    as_json: Json = False


def arena(*, options: ServeOptions = ServeOptions()) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    config = ArenaConfig(
        host=options.host,
        port=options.port,
        players=options.players,
        data=options.data,
        randomness=options.random,
        poll_timeout=timedelta(seconds=options.poll_timeout),
        slow_down=options.slow_down,
        admin_password=os.environ.get(ADMIN_PASSWORD) or None,
    )
    run(config, lambda url: _announce(url, config, as_json=options.as_json))
    if not options.as_json:
        results().print("the arena is closed")


def _announce(url: str, config: ArenaConfig, *, as_json: bool) -> None:
    """Print where the arena is and who may enter, never a password."""
    players = load_players(config.players)
    if as_json:
        names = [{"id": player.id, "name": player.name} for player in players.values()]
        admin = config.admin_password is not None
        print_json({"url": url, "matches": f"{url}/matches", "players": names, "admin": admin})
        return
    console = results()
    console.print(f"arena at {url}", style="bold")
    console.print(f"  web page   {url}/matches")
    console.print(f"  API        {url}/docs")
    for number, player in enumerate(players.values()):
        remark = " (accepts any practice match)" if player.id == DUMMY_ID else ""
        title = "players    " if number == 0 else " " * 11
        console.print(f"  {title}{player.id} {player.name}{remark}")
    console.print(f"  passwords  in {config.players}", soft_wrap=True)
    organiser = f"user {ADMIN}, password from {ADMIN_PASSWORD}"
    if config.admin_password is None:
        organiser = f"none; set {ADMIN_PASSWORD} to have one, who creates matches between teams"
    console.print(f"  organiser  {organiser}")
    console.print(
        f"  matches    {f'in {config.data}' if config.data else 'in memory, gone at the end'}"
    )
    console.print("Ctrl-C stops it.", style="dim")
