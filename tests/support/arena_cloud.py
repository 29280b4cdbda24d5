"""The arena as it runs in the cloud: a function of this process, over an emulated table."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from pydantic import SecretStr

from cardsharp.cloud.dynamodb_items import key, text
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.arena.cloud import CloudArena
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.players import load_players
from cardsharp.deadmansdraw.arena.teams import PLAYERS
from cardsharp.web.asgi import handler_of
from support.arena import ADMIN_PASSWORD, Client, write_players
from workbench.arena.server import ArenaServer
from workbench.cloud.context import Function
from workbench.cloud.emulator import Emulator
from workbench.cloud.http_front import HttpFront
from workbench.cloud.tables import create_table

T = TypeVar("T")

LIFE = timedelta(days=90)
TIMEOUT = timedelta(seconds=29)

Opened = Callable[..., AbstractContextManager[tuple[ArenaServer, Client]]]
"""As `support.arena.running_arena`."""


class CloudServer(ArenaServer):
    """The same handles as those of a server at home."""

    def __init__(self, arena: CloudArena) -> None:
        self._arena: Any = arena
        self._front = HttpFront(Function("deadmansdraw", handler_of(arena.app), TIMEOUT))
        self.url = self._front.url

    def start(self) -> "CloudServer":
        self._front.start()
        return self

    def stop(self) -> None:
        self._arena.close()
        self._front.stop()

    @property
    def waiting(self) -> int:
        waiting: int = self._arena.polling.waiting
        return waiting

    def _call(self, work: Callable[[], T]) -> T:
        return work()


def new_table(emulator: Emulator, players: Path) -> DynamoTable:
    """A table of the template's with the teams of a players' file."""
    client = emulator.client("dynamodb")
    table = DynamoTable(create_table(client, "deadmansdrawTable"), client)
    for player in load_players(players).values():
        told = {"name": player.name, "email": player.email, "country": player.country}
        shown = {f"player_{name}": text(value) for name, value in told.items() if value}
        table.put({**key(PLAYERS, player.id), "player_ha1": text(player.proof), **shown})
    return table


def in_cloud(emulator: Emulator) -> Opened:
    """What opens arenas in this emulator; `table` may be another arena's."""

    @contextmanager
    def opened(folder: Path, **settings: Any) -> Iterator[tuple[ArenaServer, Client]]:  # noqa: ANN401
        without = settings.pop("without", ())
        players = settings.pop("players", None) or write_players(folder, without)
        table = settings.pop("table", None) or new_table(emulator, players)
        password = settings.pop("admin_password", ADMIN_PASSWORD)
        word = None if password is None else SecretStr(password)
        arena = CloudArena(ArenaConfig(**settings), table, lambda: word, life=LIFE)
        with CloudServer(arena) as server:
            client = Client(server.url)
            try:
                yield server, client
            finally:
                client.close()

    return opened
