"""Arena as in the cloud, on this machine: its application in this process, an emulated table.

with emulated(ArenaConfig(admin_password="...")) as arena:
    requests.get(f"{arena.url}/api/hello")
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from pydantic import SecretStr
from starlette.types import ASGIApp

from cardsharp.aws.dynamodb_attributes import item_key, string_attribute
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.games.deadmansdraw.arena.access.dynamo_players import PLAYERS_PARTITION
from cardsharp.games.deadmansdraw.arena.access.users import load_players_by_id
from cardsharp.games.deadmansdraw.arena.bootstrap import DEFAULT_RETENTION_DAYS
from cardsharp.games.deadmansdraw.arena.cloud_arena import CloudArena
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.storage.match_repository import (
    MoveListener,
    ignore_move,
)
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.template_files import create_table
from cardsharp_tools.local_server.arena_server import ArenaServer
from cardsharp_tools.local_server.request_threads import run_in_threads


class DynamoArenaServer(ArenaServer):
    """Arena server over an emulated DynamoDB table, which several servers may share.

    `on_move` is called with moves. `run_blocking` is as in `ArenaServer`.
    """

    def __init__(
        self,
        config: ArenaConfig,
        table: DynamoTable,
        *,
        on_move: MoveListener = ignore_move,
        run_blocking: Callable[[ASGIApp], ASGIApp] = run_in_threads,
    ) -> None:
        password = config.admin_password
        secret = None if password is None else SecretStr(password)
        life = timedelta(days=DEFAULT_RETENTION_DAYS)
        arena = CloudArena(config, table, lambda: secret, retention=life, on_move=on_move)
        super().__init__(config, arena=arena, run_blocking=run_blocking)


def create_arena_table(emulator: Emulator, players: Path) -> DynamoTable:
    """Create the arena's table with the teams of a players' file."""
    client = emulator.client("dynamodb")
    table = DynamoTable(create_table(client, "ArenaTable"), client)
    for player in load_players_by_id(players).values():
        profile = {"name": player.name, "email": player.email, "country": player.country}
        attributes = {
            f"player_{name}": string_attribute(value) for name, value in profile.items() if value
        }
        table.put(
            {
                **item_key(PLAYERS_PARTITION, player.id),
                "player_ha1": string_attribute(player.password_ha1),
                **attributes,
            }
        )
    return table


@contextmanager
def unstarted_emulated_arena(config: ArenaConfig) -> Iterator[DynamoArenaServer]:
    """Yield an arena in an emulator of its own; it is not yet started."""
    with Emulator() as emulator:
        yield DynamoArenaServer(config, create_arena_table(emulator, config.players_file))
