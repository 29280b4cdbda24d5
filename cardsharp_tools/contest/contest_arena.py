"""Arena of a contest on this machine.

Arena and director run in one process. If it is killed, the next start continues from the arena's
data file.
"""

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from cardsharp.client.config import ServiceAddress
from cardsharp.core.credentials import Credentials
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig, with_contest_limits
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp_tools.cli.options import ArenaServerOptions
from cardsharp_tools.contest.local_players import LocalPlayers
from cardsharp_tools.contest.open_contest import OpenContest
from cardsharp_tools.contest.submission_pages import LocalContestPages
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.local_server.arena_server import ArenaServer

DEFAULT_LISTEN_OPTIONS = ArenaServerOptions()  # on this machine alone


@contextmanager
def run_arena_and_local_players(
    contest: OpenContest, listen_options: ArenaServerOptions
) -> Iterator[tuple[str, ArenaClient]]:
    """Run the contest's arena and the players of the local teams.

    Yields the arena's address and a client that has the organiser's rights. The arena stores its
    data beside the records. Raises `ConfigError` if it cannot run with these options.
    """
    teams, organiser = contest.records.teams(), secrets.token_urlsafe(18)
    for strategy in map(contest.strategy_of, teams):
        if strategy is not None and not strategy.is_user_code:
            register_strategy(strategy)  # so that an error is reported before anything begins
    players = LocalPlayers(contest)
    config = replace(
        build_arena_config(contest.arena_file, listen_options, len(teams)),
        load_players=lambda: players.accounts,
        unthrottled_users=players.passwords.keys(),
        admin_password=organiser,
    )
    certificate = None if listen_options.tls is None else listen_options.tls[0]
    with ExitStack() as stack:
        arena = stack.enter_context(ArenaServer(config, LocalContestPages(contest)))
        url = arena.url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        stack.callback(players.stop)
        players.start(url, certificate)
        address = ServiceAddress(url, certificate)
        client = stack.enter_context(ArenaClient(address, Credentials(ADMIN, organiser)))
        yield arena.url, client


def build_arena_config(
    data_file: Path, listen_options: ArenaServerOptions, team_count: int
) -> ArenaConfig:
    """Return the arena configuration for a contest of `team_count` teams, without its players."""
    config = ArenaConfig(
        **listen_options.arena_config_fields,
        data_file=data_file,
        watchdog_grace=timedelta(seconds=1),
    )
    return with_contest_limits(config, team_count)
