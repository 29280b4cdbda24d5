"""Commands of an operator on single resources of a stack, in moto."""

import json
import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore import xform_name
from support.store_fixtures import FakeClock, moto_client

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.bot.control.dynamodb_control import DynamoRuntimeSettings
from cardsharp.bot.control.runtime_settings import CachedRuntimeSettings
from cardsharp.errors import ConfigError
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.local_cloud.template_files import create_table
from cardsharp_tools.operations.dead_letters import DeadLetterQueueKind, list_dead_letters, redrive
from cardsharp_tools.operations.stack import Stack
from cardsharp_tools.operations.stack_control import pause_new_matches

RUNBOOK = "## Restore the match log"


class Account:
    """A stack in moto, of which only some resources exist."""

    def __init__(self, dynamodb: Any) -> None:  # noqa: ANN401 - a boto3 client
        from boto3.session import Session  # noqa: PLC0415 - within moto's context

        session = Session(region_name="us-east-1")
        self.clients = {"dynamodb": dynamodb, "sqs": session.client("sqs")}
        self.table = create_table(dynamodb, "Matches")
        create = self.clients["sqs"].create_queue
        self.urls = {
            name: create(QueueName=name)["QueueUrl"] for name in ("queue", "letters", "ticks")
        }
        outputs = {
            "MatchTable": self.table,
            "MatchQueueUrl": self.urls["queue"],
            "DeadLetterUrl": self.urls["letters"],
            "DirectorName": "director",
            "TickLetterUrl": self.urls["letters"],
        }
        ids = {"Ticks": self.urls["ticks"]}
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        parameters = {"MatchLimit": "6"}
        self.stack = Stack(
            name="stack",
            updated_at=moment,
            is_protected=False,
            parameters=parameters,
            outputs=outputs,
            ids=ids,
            client=self.clients.__getitem__,
        )

    def send(self, body: str) -> None:
        """Put a message on the dead-letter queue."""
        self.clients["sqs"].send_message(QueueUrl=self.urls["letters"], MessageBody=body)

    def bodies(self, queue: str) -> list[str]:
        """Receive the bodies of all messages of a queue."""
        answer = self.clients["sqs"].receive_message(
            QueueUrl=self.urls[queue], MaxNumberOfMessages=10
        )
        return sorted(message["Body"] for message in answer.get("Messages", []))


@pytest.fixture
def account() -> Iterator[Account]:
    with moto_client() as dynamodb:
        yield Account(dynamodb)


def test_a_pause_returns_when_no_process_uses_older_settings(account: Account) -> None:
    """A process that has read the settings just before reads them again by then."""
    clock = FakeClock()
    store = DynamoRuntimeSettings(DynamoTable(account.table, account.clients["dynamodb"]))
    function = CachedRuntimeSettings(store, clock)
    assert not function.read().paused
    pause_new_matches(account.stack, clock=clock)
    assert function.read().paused


UNREADABLE = (
    "this is no match message",
    "5",
    json.dumps({"match_id": 5}),
    json.dumps({"match_id": "two words"}),
    json.dumps({"match_id": "abc", "turn": 7}),
    json.dumps({"match_id": "abc", "game": "Whist!"}),
)


def test_a_redrive_leaves_what_no_function_can_read(account: Account) -> None:
    """It would only come back as a dead letter."""
    good = json.dumps({"match_id": "abc", "game": "deadmansdraw"})
    for body in (*UNREADABLE, good):
        account.send(body)
    assert [letter.body for letter in redrive(account.stack, None)] == [good]
    assert account.bodies("queue") == [good]
    letters = list_dead_letters(account.stack)
    assert sorted(letter.body for letter in letters) == sorted(UNREADABLE)
    with pytest.raises(ConfigError, match=r"No function can read the message .* dlq drop"):
        redrive(account.stack, letters[0].letter_id)
    assert redrive(account.stack, None, DeadLetterQueueKind.DIRECTOR) == [], "none is a tick"
    assert account.bodies("ticks") == []
    assert len(account.bodies("letters")) == len(UNREADABLE)


def runbook_commands() -> Iterator[list[str]]:
    """Yield the words of the commands of AWS's command line in the runbook."""
    page = (REPOSITORY_ROOT / "docs" / "operations.md").read_text("utf-8")
    text = page.partition(RUNBOOK)[2].partition("\n## ")[0].replace("\\\n", " ")
    for line in re.findall(r"^ +(aws .*)$", text, re.MULTILINE):
        yield shlex.split(line)


def run_as_aws(client: Any, words: list[str]) -> Any:  # noqa: ANN401 - a boto3 client, AWS's answer
    """Run a command of AWS's command line by boto3, with the parameters that its API knows."""
    _, service, operation, *arguments = words
    assert service == "dynamodb"
    if operation == "wait":
        waiter, *arguments = arguments
        return client.get_waiter(waiter.replace("-", "_")).wait(TableName=arguments[1])
    method = operation.replace("-", "_")
    shape = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method])
    members = {xform_name(name, "-"): name for name in shape.input_shape.members}
    parameters: dict[str, object] = {}
    for option, value in zip(arguments[::2], arguments[1::2], strict=True):
        parameters[members[option.removeprefix("--")]] = (
            {
                key: {"true": True}.get(text, text)
                for key, text in re.findall(r"(\w+)=([^,]+)", value)
            }
            if "=" in value
            else value
        )
    return getattr(client, method)(**parameters)


def test_the_runbook_of_a_restored_table_leaves_the_stack_with_the_old_matches(
    account: Account,
) -> None:
    """Its commands as they are written; moto restores the present state at whatever moment."""
    client, table, backup = account.clients["dynamodb"], account.table, ""
    log = DynamoMatchLog(table, FakeClock(), client)
    lease = log.acquire_lease("abc", "worker", timedelta(minutes=1), {"game": "deadmansdraw"})
    assert lease is not None
    log.finish(lease, {"result": "won"})
    before = log.match("abc")
    for words in runbook_commands():
        names = [word.replace("BACKUP-ARN", backup).replace("TABLE", table) for word in words]
        answer = run_as_aws(client, names)
        if words[2] == "create-backup":
            backup = answer["BackupDetails"]["BackupArn"]
        if words[2] == "delete-table" and words[-1] == "TABLE":
            assert client.list_tables()["TableNames"] == [f"{table}-restored"]
    assert client.list_tables()["TableNames"] == [table]
    assert log.match("abc") == before
    ttl = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    assert (ttl["AttributeName"], ttl["TimeToLiveStatus"]) == ("expires_at", "ENABLED")
    backups = client.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    recovery = backups["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
