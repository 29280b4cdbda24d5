"""What keeps the contests that tests run against."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.contest.kept import ContestsKept
from cardsharp.keep.dynamodb import DynamoKeep
from workbench.cloud.template import create_table

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

ARENA_TABLE = "deadmansdrawTable"


@contextmanager
def arena_table(client: "DynamoDBClient") -> Iterator[DynamoTable]:
    """An arena's table, new and empty."""
    table = DynamoTable(create_table(client, ARENA_TABLE), client)
    yield table
    client.delete_table(TableName=table.name)


def contests_in(table: DynamoTable, client: "DynamoDBClient") -> ContestsKept:
    """The contests of an arena's table."""
    return ContestsKept(DynamoKeep(table.name, SystemClock(), client))
