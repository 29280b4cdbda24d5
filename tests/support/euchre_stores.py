"""The stores that the contract suite of the deals runs against, behind the same few handles."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cardsharp.euchre.cards import Card
from cardsharp.euchre.dynamodb import DynamoDeals
from cardsharp.euchre.records import DealKey, Event, Record
from cardsharp.euchre.sqlite import SqliteDeals
from cardsharp.euchre.store import DealStore
from support.cloud_clock import FakeClock
from workbench.cloud.tables import create_table

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


@dataclass(frozen=True)
class Bench:
    """A store, its clock, and `reopen` as another process would open it."""

    store: DealStore
    clock: FakeClock
    reopen: Callable[[], DealStore]


@contextmanager
def sqlite_deals(folder: Path) -> Iterator[Bench]:
    clock = FakeClock()
    opened: list[SqliteDeals] = []

    def reopen() -> SqliteDeals:
        opened.append(SqliteDeals(str(folder / "deep" / "deals.db"), clock))
        return opened[-1]

    try:
        yield Bench(reopen(), clock, reopen)
    finally:
        for store in opened:
            store.close()


@contextmanager
def dynamo_deals(client: "DynamoDBClient") -> Iterator[Bench]:
    clock = FakeClock()
    name = create_table(client, "EuchreDeals")
    try:
        store = DynamoDeals(name, clock, client)
        yield Bench(store, clock, lambda: DynamoDeals(name, clock, client))
    finally:
        client.delete_table(TableName=name)


class Watched:
    """A store in which every call is counted and may be disturbed.

    `disturb` is called with the number of the call, from 0, before it is made and again after.
    """

    def __init__(self, store: DealStore, disturb: Callable[[int, bool], None]) -> None:
        self.store, self.disturb, self.calls = store, disturb, 0

    def begin(self, key: DealKey, cards: tuple[Card, ...]) -> None:
        self._around(lambda: self.store.begin(key, cards))

    def read(self, key: DealKey) -> Record | None:
        found: list[Record | None] = []
        self._around(lambda: found.append(self.store.read(key)))
        return found[0]

    def append(self, record: Record, event: Event) -> None:
        self._around(lambda: self.store.append(record, event))

    def _around(self, deed: Callable[[], None]) -> None:
        number, self.calls = self.calls, self.calls + 1
        self.disturb(number, False)  # noqa: FBT003 - before
        deed()
        self.disturb(number, True)  # noqa: FBT003 - after
