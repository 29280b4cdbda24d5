"""The arena as it runs in the cloud, for tests that hold it to what the one at home does."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from cardsharp.deadmansdraw.arena.assembly import DAYS
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from support.arena import ADMIN_PASSWORD, Client, write_players
from workbench.arena.server import ArenaServer
from workbench.cloud.emulator import Emulator
from workbench.deadmansdraw.emulated import CloudServer, new_table

LIFE = timedelta(days=DAYS)

Opened = Callable[..., AbstractContextManager[tuple[ArenaServer, Client]]]
"""As `support.arena.running_arena`."""


def in_cloud(emulator: Emulator) -> Opened:
    """What opens arenas in this emulator; `table` may be another arena's."""

    @contextmanager
    def opened(folder: Path, **settings: Any) -> Iterator[tuple[ArenaServer, Client]]:  # noqa: ANN401
        without = settings.pop("without", ())
        players = settings.pop("players", None) or write_players(folder, without)
        table = settings.pop("table", None) or new_table(emulator, players)
        settings.setdefault("admin_password", ADMIN_PASSWORD)
        with CloudServer(ArenaConfig(**settings), table) as server:
            client = Client(server.url)
            try:
                yield server, client
            finally:
                client.close()

    return opened
