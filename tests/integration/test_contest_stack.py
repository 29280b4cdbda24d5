"""`cardsharp contest --stack`: the same commands on a contest that is deployed."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from boto3.session import Session
from support.cli import Cli
from support.cloud_benches import moto_client
from support.contests import arena_table, contests_in

from cardsharp.cloud.clock import utc_now
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.sqs import SqsQueue
from cardsharp.contest.entries import Result, Stage
from cardsharp.contest.facts import Facts
from cardsharp.contest.records import Records
from cardsharp.deadmansdraw.arena.ticks import Ticks
from workbench.operate.stack import Clients, Stack

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

NOW = timedelta()
STACK = ("--stack", "cardsharp-dev", "--region", "us-east-1")


class Deployed:
    """A stack with an arena's table and nothing that looks at it."""

    def __init__(self, table: DynamoTable, client: "DynamoDBClient") -> None:
        self._contests = contests_in(table, client)
        sqs = Session(region_name="us-east-1").client("sqs")
        url = sqs.create_queue(QueueName="ticks")["QueueUrl"]
        self._queue = SqsQueue(url, sqs)
        Ticks(table, self._queue, url).broken()

    def woken(self) -> bool:
        """Whether somebody had a tick come since this was asked last."""
        messages = list(iter(lambda: self._queue.receive(NOW), None))
        for message in messages:
            self._queue.delete(message)
        return bool(messages)

    @property
    def records(self) -> Records:
        """Those of the contest cup."""
        return self._contests.named("cup")


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    with moto_client() as client, arena_table(client) as table:
        outputs = {"deadmansdrawUrl": "https://arena.example"}
        ids = {"deadmansdrawTable": table.name}

        def found(name: str, clients: Clients) -> Stack:
            return Stack(name, utc_now(), False, {}, outputs, ids, clients)  # noqa: FBT003

        monkeypatch.setattr("workbench.operate.stack.find_stack", found)
        yield Deployed(table, client)


@pytest.fixture
def cli(cli: Cli, stack: Deployed, monkeypatch: pytest.MonkeyPatch) -> Cli:
    del stack
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    assert cli("contest", "new", "cup", "-n", "1", *STACK).code == 0
    return cli


def test_it_begins_is_looked_at_and_told_to_the_end(cli: Cli, stack: Deployed) -> None:
    """The director, which is not there, is asked to look whenever there is something to see."""
    for name in ("One", "Two"):
        cli("contest", "teams", "add", "cup", name, *STACK)
    records = stack.records
    one, two = (team.id for team in records.teams())
    assert "has not begun" in cli("contest", "status", "cup", *STACK).out
    assert not stack.woken()
    facts = Facts((12, 9), 0, 60.0, 30, (1, 2), (0, 0))
    first = Result("1", 1, "winners", (one, two), (1, 0), one, matches=("a" * 24,), facts=(facts,))
    records.keep([replace(first, decided=True)])
    records.begin()
    assert "has begun" in cli("contest", "teams", "add", "cup", "Late", *STACK).err
    assert cli("contest", "rule", "cup", "1", "Two", "--reason", "left", *STACK).code == 0
    assert records.rulings()["1"].winner == two
    assert stack.woken()
    assert cli("contest", "pause", "cup", *STACK).code == 0
    assert cli("contest", "status", "cup", "--json", *STACK).json()["paused"] is True
    assert cli("contest", "resume", "cup", *STACK).code == 0
    assert stack.woken()
    records.end(records.ruled)
    assert records.stage is Stage.OVER
    told = cli("contest", "run", "cup", *STACK)
    assert "arena at https://arena.example" in told.err
    assert told.out.startswith("pairing 1, winners: One - Two 1:0, One")
    assert stack.woken()
    (row,) = cli("contest", "results", "cup", "--json", *STACK).json()
    assert (row["winner"], row["points"]) == ("One", ["12:9"])
