"""Arena of `cardsharp arena`: it serves in the foreground, and its organiser creates matches."""

import os
from dataclasses import replace
from datetime import timedelta

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
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.games.deadmansdraw.arena_environment import prompt_for_password
from cardsharp_tools.games.deadmansdraw.commands.arena import MatchOptions, ServeOptions
from cardsharp_tools.games.deadmansdraw.start_position import start_params_from_match
from cardsharp_tools.local_server.arena_server import run
from cardsharp_tools.proxy_option import resolve_proxy

ADMIN_PASSWORD = "ARENA_ADMIN_PASSWORD"  # noqa: S105 - a variable's name
"""Not a CARDSHARP_ variable: those are the bot's, which refuses what it does not know."""


def serve_arena(options: ServeOptions) -> None:
    """Serve the arena until Ctrl-C or SIGTERM."""
    folder = None if options.data is None else options.data.absolute().parent
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"--data: there is no folder {folder}. Create it, or name another file.")
    config = ArenaConfig(
        **options.arena_config_fields,
        players_file=options.players or DEFAULT_FILE,
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


def create_arena_matches(first: str, second: str, options: MatchOptions) -> None:
    """Create matches between two players of a running arena, as its organiser."""
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
