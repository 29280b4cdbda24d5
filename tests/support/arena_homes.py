"""What opens an arena in the cloud's home, as `running_arena` does in the other."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.arena.assembly import DAYS
from support.arena import Client, settled
from workbench.arena.server import ArenaServer
from workbench.cloud.emulator import Emulator
from workbench.deadmansdraw.emulated import CloudServer, new_table

LIFE = timedelta(days=DAYS)

Opened = Callable[..., AbstractContextManager[tuple[ArenaServer, Client]]]
"""As `support.arena.running_arena`."""


def in_cloud(emulator: Emulator) -> Opened:
    """What opens arenas in this emulator; `table` may be another arena's."""

    @contextmanager
    def opened(
        folder: Path,
        table: DynamoTable | None = None,
        **settings: Any,  # noqa: ANN401 - as of `running_arena`
    ) -> Iterator[tuple[ArenaServer, Client]]:
        config = settled(folder, **settings)
        server = CloudServer(config, table or new_table(emulator, config.players))
        with server as arena, closing(Client(arena.url)) as client:
            yield arena, client

    return opened
