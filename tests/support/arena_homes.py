"""What opens an arena in the cloud's home, as `running_arena` does in the other."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.arena.assembly import DAYS
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from support.arena import Client, running_arena
from workbench.arena.server import ArenaServer
from workbench.cloud.emulator import Emulator
from workbench.deadmansdraw.emulated import CloudServer, new_table

LIFE = timedelta(days=DAYS)

Opened = Callable[..., AbstractContextManager[tuple[ArenaServer, Client]]]
"""As `support.arena.running_arena`."""


def in_cloud(emulator: Emulator) -> Opened:
    """What opens arenas in this emulator; `table` may be another arena's."""

    def opened(
        folder: Path,
        table: DynamoTable | None = None,
        **settings: Any,  # noqa: ANN401 - as of `running_arena`
    ) -> AbstractContextManager[tuple[ArenaServer, Client]]:
        def serve(config: ArenaConfig, _more: object) -> CloudServer:
            return CloudServer(config, table or new_table(emulator, config.players))

        return running_arena(folder, serve=serve, **settings)

    return opened
