"""The stores of a contest that tests run against."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.contest.dynamodb import DynamoContest
from cardsharp.deadmansdraw.contest.records import Settings
from cardsharp.deadmansdraw.contest.sqlite import SqliteContest
from workbench.cloud.tables import create_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from types_boto3_dynamodb.client import DynamoDBClient

    from cardsharp.deadmansdraw.contest.records import Store

    Found = Callable[[Settings], Store]

ARENA_TABLE = "deadmansdrawTable"


@contextmanager
def in_files(folder: Path) -> "Iterator[Found]":
    """Founds contests in folders of their own."""
    made: list[SqliteContest] = []

    def found(settings: Settings) -> SqliteContest:
        made.append(SqliteContest.found(folder / settings.name, settings))
        return made[-1]

    yield found
    for one in made:
        one.close()


@contextmanager
def arena_table(client: "DynamoDBClient") -> Iterator[DynamoTable]:
    """An arena's table, new and empty."""
    table = DynamoTable(create_table(client, ARENA_TABLE), client)
    yield table
    client.delete_table(TableName=table.name)


@contextmanager
def in_table(client: "DynamoDBClient") -> "Iterator[Found]":
    """Founds contests in one new table."""
    with arena_table(client) as table:
        yield lambda settings: DynamoContest.found(table, settings)
