"""The stores of games that the contract suite runs against, each behind the same few handles."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cardsharp.blef.dynamodb import DynamoGames
from cardsharp.blef.sqlite import SqliteGames
from cardsharp.blef.store import GameStore
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sqlite_file import MEMORY
from support.cloud_clock import FakeClock
from workbench.cloud.tables import create_table

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


@dataclass(frozen=True)
class Bench:
    """A store, its clock, and `reopen` as another process would open it."""

    store: GameStore
    clock: FakeClock
    reopen: Callable[[], GameStore]


@contextmanager
def sqlite_games(folder: Path) -> Iterator[Bench]:
    clock = FakeClock()
    opened: list[SqliteGames] = []

    def reopen() -> GameStore:
        opened.append(SqliteGames(str(folder / "deep" / "games.db"), clock))
        return opened[-1]

    try:
        yield Bench(reopen(), clock, reopen)
    finally:
        for store in opened:
            store.close()


@contextmanager
def memory_games() -> Iterator[Bench]:
    clock = FakeClock()
    store = SqliteGames(MEMORY, clock)
    try:
        yield Bench(store, clock, lambda: store)
    finally:
        store.close()


@contextmanager
def dynamo_games(client: "DynamoDBClient", clock: Clock | None = None) -> Iterator[Bench]:
    fake = FakeClock()
    name = create_table(client, "BlefGames")
    try:
        yield Bench(
            DynamoGames(name, clock or fake, client), fake, lambda: DynamoGames(name, fake, client)
        )
    finally:
        client.delete_table(TableName=name)
