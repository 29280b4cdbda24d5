"""`cardsharp arena`: an arena in the foreground, and matches for one that runs."""

import os
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.client.config import RequestLimits, ServiceAddress
from cardsharp.core.credentials import Credentials
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.access.users import (
    ADMIN,
    DEFAULT_FILE,
    DUMMY_ID,
    load_players_by_id,
)
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.options import ArenaServerOptions, CommandOptions, Json, ProxyAddress
from cardsharp_tools.games.deadmansdraw.arena_options import prompt_for_password
from cardsharp_tools.games.deadmansdraw.commands import COMMANDS
from cardsharp_tools.games.deadmansdraw.start_position import start_params_from_match
from cardsharp_tools.local_server.arena_server import run
from cardsharp_tools.proxy_option import resolve_proxy

ADMIN_PASSWORD = "ARENA_ADMIN_PASSWORD"  # noqa: S105 - a variable's name
"""Not a CARDSHARP_ variable: those are the bot's, which refuses what it does not know."""


def _check_watchdog(_kind: object, late: object) -> None:
    if isinstance(late, float) and late < 0:
        raise ValueError("Must be >= 0, or never.")


@dataclass(frozen=True, kw_only=True)
class ServeOptions(ArenaServerOptions):
    """Options of the arena server."""

    players: Annotated[
        Path,
        Parameter(
            show_default=False,
            help='The players: a JSON list of {"_id", "name", "password"}, where _id has 24 digits '
            "of 0-9a-f. Default: the dummy player and two teams.",
        ),
    ] = DEFAULT_FILE
    data: Path | None = None
    """SQLite file for the matches. Default: they are kept in memory until the arena stops."""
    random: RandomnessMethod = RandomnessMethod.FAIR
    """Random numbers of the deals. original repeats the competition server's draws exactly."""
    poll_timeout: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 30.0
    """Maximum duration of a long poll in seconds."""
    rate_limit: bool = False
    """Slow down clients that send too many requests, as the competition's server does: a player
    beyond 100 a minute, and an address beyond 1,000, of which no header tells."""
    watchdog: Annotated[float | Literal["never"], Parameter(validator=_check_watchdog)] = 5.0
    """Seconds after its time limit until the arena ends a turn; or never."""
    emulator: bool = False
    """Store matches in an emulated DynamoDB, as in the cloud."""
    as_json: Json = False


_COMMAND = next(command for command in COMMANDS if command.name == "arena")

arena = cyclopts.App(name="arena", help_epilogue=_COMMAND.epilogue)


@arena.default
def serve(*, options: ServeOptions = ServeOptions()) -> None:
    """Serve the arena until Ctrl-C or SIGTERM."""
    folder = None if options.data is None else options.data.absolute().parent
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"--data: there is no folder {folder}. Create it, or name another file.")
    config = ArenaConfig(
        **options.arena_config_fields,
        players_file=options.players,
        data_file=options.data,
        randomness=options.random,
        long_poll_timeout=timedelta(seconds=options.poll_timeout),
        throttle=options.rate_limit,
        watchdog_grace=None if options.watchdog == "never" else timedelta(seconds=options.watchdog),
        admin_password=os.environ.get(ADMIN_PASSWORD) or None,
    )
    if not options.emulator:
        run(config, lambda url: _print_arena_info(url, config, as_json=options.as_json))
    elif config.data_file is not None or config.tls_files is not None:
        raise ConfigError("--emulator cannot be combined with --data or --tls. Remove one of them.")
    else:  # boto3 is slow to import, and not needed otherwise
        from cardsharp_tools.games.deadmansdraw.emulated_arena import unstarted_emulated_arena  # noqa: PLC0415

        with unstarted_emulated_arena(config) as running:
            running.run_in_foreground(
                lambda: _print_arena_info(running.url, config, as_json=options.as_json)
            )
    if not options.as_json:
        result_console().print("The arena is stopped.")


@dataclass(frozen=True, kw_only=True)
class MatchOptions(CommandOptions):
    """Options for the matches to create, and the arena."""

    matches: Annotated[int, Parameter(alias="-n", validator=validators.Number(gte=1, lte=1000))] = 1
    """Number of matches."""
    tag: tuple[str, ...] = ()
    """A tag of the matches. Can be repeated."""
    timeout: Annotated[float | None, Parameter(validator=validators.Number(gt=0))] = None
    """Time limit of a turn in seconds."""
    seed: str | None = None
    """Random seed of the matches. Default: a seed for each."""
    from_position: str | None = None
    """Begin in the position of a stored match: MATCH@STEP, or MATCH. FIRST moves there."""
    url: str = "http://127.0.0.1:8080"
    """The arena's address."""
    insecure: bool = False
    """Allow to send the password over plain http. Only do this in a private network."""
    ca_file: Path | None = None
    """File with the certificates of a CA to trust."""
    proxy: ProxyAddress = None
    as_json: Json = False


@arena.command(name="match")
def create_matches(first: str, second: str, /, *, options: MatchOptions = MatchOptions()) -> None:
    """Create matches between two players of a running arena, as its organiser.

    FIRST and SECOND are ids or names of players. They change seats after every
    match. The password comes from ARENA_ADMIN_PASSWORD, or the command asks for it.
    """
    address = ServiceAddress(
        options.url, options.ca_file, options.insecure, resolve_proxy(options.proxy)
    )
    table = (
        MatchParams()
        if options.from_position is None
        else start_params_from_match(options.from_position)
    )
    password = os.environ.get(ADMIN_PASSWORD) or prompt_for_password(
        ADMIN_PASSWORD, "the organiser"
    )
    organiser = Credentials(ADMIN, password)
    with ArenaClient(address, organiser, RequestLimits(max_attempts=1)) as client:
        names_by_id = {player.id: player.name for player in client.players_with_idle_times()}
        match_params = replace(
            table,
            tags=options.tag,
            random_seed=options.seed or table.random_seed,
            timeout=None if options.timeout is None else timedelta(seconds=options.timeout),
        )
        pair = _find_player_id(first, names_by_id), _find_player_id(second, names_by_id)
        created = []
        for match_index in range(options.matches):
            seated = pair[::-1] if match_index % 2 else pair
            match_id = client.create_match(replace(match_params, player_ids=seated)).id
            created.append({"match": match_id, "players": list(seated)})
            if not options.as_json:
                pairing = " against ".join(names_by_id[player] for player in seated)
                result_console().print(f"created match {match_id}: {pairing}")
    if options.as_json:
        print_json(created)


def _find_player_id(name_or_id: str, names_by_id: dict[str, str]) -> str:
    matching_players = [
        player for player, name in names_by_id.items() if name_or_id in (player, name)
    ]
    if len(matching_players) != 1:
        many = "More than one player is" if matching_players else "No player of the arena is"
        raise ConfigError(
            f"{many} called {name_or_id}. Its players are {', '.join(names_by_id.values())}."
        )
    return matching_players[0]


def _print_arena_info(url: str, config: ArenaConfig, *, as_json: bool) -> None:
    """Print the arena's address and its players, never a password."""
    players = load_players_by_id(config.players_file)
    if as_json:
        player_documents = [{"id": player.id, "name": player.name} for player in players.values()]
        admin = config.admin_password is not None
        print_json(
            {"url": url, "matches": f"{url}/matches", "players": player_documents, "admin": admin}
        )
        return
    console = result_console()
    console.print(f"arena at {url}", style="bold")
    console.print(f"  web page   {url}/matches")
    console.print(f"  API        {url}/docs")
    for player_index, player in enumerate(players.values()):
        remark = " (accepts any practice match)" if player.id == DUMMY_ID else ""
        title = "players    " if player_index == 0 else " " * 11
        console.print(f"  {title}{player.id} {player.name}{remark}")
    console.print(f"  passwords  in {config.players_file}", soft_wrap=True)
    organiser = f"user {ADMIN}, password from {ADMIN_PASSWORD}"
    if config.admin_password is None:
        organiser = f"none; set {ADMIN_PASSWORD} to have one, who can create matches between teams"
    console.print(f"  organiser  {organiser}")
    if config.is_public:
        console.print("  spectators can watch without a password")
    console.print(
        "  matches    "
        f"{f'in {config.data_file}' if config.data_file else 'lost when the arena stops'}"
    )
    console.print("Ctrl-C stops it.", style="dim")
