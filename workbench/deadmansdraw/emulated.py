"""The arena as the cloud runs it, on this machine: a function of this process, an emulated table.

with emulated(ArenaConfig(admin_password="...")) as arena:
    requests.get(f"{arena.url}/api/hello")
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import SecretStr

from cardsharp.cloud.dynamodb_items import key, text
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.arena.app import check_openness
from cardsharp.deadmansdraw.arena.assembly import DAYS
from cardsharp.deadmansdraw.arena.cloud import CloudArena
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.lobby import Moved, nobody_told
from cardsharp.deadmansdraw.arena.players import load_players
from cardsharp.deadmansdraw.arena.teams import PLAYERS
from cardsharp.web.asgi import handler_of
from workbench.arena.server import ArenaServer
from workbench.cloud.emulator import Emulator
from workbench.cloud.events import Function, LambdaHandler
from workbench.cloud.http_front import HttpFront
from workbench.cloud.template import create_table

T = TypeVar("T")

TIMEOUT = timedelta(seconds=29)  # of the function, as template.yaml deploys it


class CloudServer(ArenaServer):
    """An arena in a table, which several may share; `moved` hears of moves, `around` wraps it."""

    def __init__(
        self,
        config: ArenaConfig,
        table: DynamoTable,
        *,
        moved: Moved = nobody_told,
        around: Callable[[LambdaHandler], LambdaHandler] = lambda handler: handler,
    ) -> None:
        check_openness(config)
        password = config.admin_password
        word = None if password is None else SecretStr(password)
        life = timedelta(days=DAYS)
        arena = CloudArena(config, table, lambda: word, life=life, moved=moved)
        self._arena: Any = arena
        function = Function("deadmansdraw", around(handler_of(arena.app)), TIMEOUT)
        self.front = HttpFront(function, config.port, config.host)
        self.url = self.front.url

    def start(self) -> Self:
        """Serve; returns when requests are answered."""
        self.front.start()
        return self

    def stop(self) -> bool:
        """End the long polls and finish what is being answered."""
        self._arena.close()
        return self.front.stop()

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


@contextmanager
def emulated(config: ArenaConfig) -> Iterator[CloudServer]:
    """Yield an arena in an emulator of its own, to be started."""
    with Emulator() as emulator:
        yield CloudServer(config, new_table(emulator, config.players))
