"""Stores that tests run against, each with its clock."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from cardsharp.cloud.ports import Clock
from support.cloud_clock import FakeClock
from workbench.cloud.template import create_table

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


S = TypeVar("S")


@dataclass(frozen=True)
class Bench(Generic[S]):
    """A store, its clock, and `reopen` as another process would open it."""

    store: S
    clock: FakeClock
    reopen: Callable[[], S]


@contextmanager
def in_file(kind: Callable[[str, Clock], S], folder: Path) -> Iterator[Bench[S]]:
    """A store in a file that is not there yet."""
    clock = FakeClock()
    with ExitStack() as stack:

        def reopen() -> S:
            return stack.enter_context(closing(kind(str(folder / "deep" / "store.db"), clock)))

        yield Bench(reopen(), clock, reopen)


@contextmanager
def in_table(
    kind: Callable[..., S], table: str, client: "DynamoDBClient", clock: Clock | None = None
) -> Iterator[Bench[S]]:
    """A store in a new table of DynamoDB."""
    fake, name = FakeClock(), create_table(client, table)
    try:
        yield Bench(kind(name, clock or fake, client), fake, lambda: kind(name, fake, client))
    finally:
        client.delete_table(TableName=name)
