"""Factory of arenas on DynamoDB in an emulator, the counterpart of `running_arena`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.games.deadmansdraw.arena.bootstrap import DEFAULT_RETENTION_DAYS
from cardsharp_tools.games.deadmansdraw.emulated_arena import (
    DynamoArenaServer,
    create_arena_table,
)
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_server.arena_server import ArenaServer
from support.api_gateway import run_as_function
from support.arena_server import ArenaHttpClient, arena_config

ITEM_TTL = timedelta(days=DEFAULT_RETENTION_DAYS)

ArenaFactory = Callable[..., AbstractContextManager[tuple[ArenaServer, ArenaHttpClient]]]
"""As `support.arena.running_arena`."""


def cloud_arena_factory(emulator: Emulator) -> ArenaFactory:
    """Return a factory of arenas in this emulator; `table` may be another arena's table.

    Requests reach the arena as events, so that the adapter of Lambda is tested with it.
    """

    @contextmanager
    def open_arena(
        folder: Path,
        table: DynamoTable | None = None,
        **settings: Any,  # noqa: ANN401 - as of `running_arena`
    ) -> Iterator[tuple[ArenaServer, ArenaHttpClient]]:
        config = arena_config(folder, **settings)
        server = DynamoArenaServer(
            config,
            table or create_arena_table(emulator, config.players_file),
            run_blocking=run_as_function,
        )
        with server as arena, closing(ArenaHttpClient(arena.url)) as client:
            yield arena, client

    return open_arena
