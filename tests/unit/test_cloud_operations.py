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


class StackInMoto:
    """Stack in moto of which only some resources exist."""

    def __init__(self, dynamodb: Any) -> None:  # noqa: ANN401 - a boto3 client
        from boto3.session import Session  # noqa: PLC0415 - within moto's context

        session = Session(region_name="us-east-1")
        self.clients = {"dynamodb": dynamodb, "sqs": session.client("sqs")}
        self.table = create_table(dynamodb, "Matches")
        create_queue = self.clients["sqs"].create_queue
        self.urls = {
            name: create_queue(QueueName=name)["QueueUrl"] for name in ("queue", "letters", "ticks")
        }
        outputs = {
            "MatchTable": self.table,
            "MatchQueueUrl": self.urls["queue"],
            "DeadLetterUrl": self.urls["letters"],
            "DirectorName": "director",
            "TickLetterUrl": self.urls["letters"],
        }
        ids = {"Ticks": self.urls["ticks"]}
        updated_at = datetime(2026, 1, 1, tzinfo=UTC)
        parameters = {"MatchLimit": "6"}
        self.stack = Stack(
            name="stack",
            updated_at=updated_at,
            is_protected=False,
            parameters=parameters,
            outputs=outputs,
            ids=ids,
            client=self.clients.__getitem__,
        )

    def send_dead_letter(self, body: str) -> None:
        """Put a message on the dead-letter queue."""
        self.clients["sqs"].send_message(QueueUrl=self.urls["letters"], MessageBody=body)

    def receive_bodies(self, queue: str) -> list[str]:
        """Receive the bodies of all messages of a queue."""
        response = self.clients["sqs"].receive_message(
            QueueUrl=self.urls[queue], MaxNumberOfMessages=10
        )
        return sorted(message["Body"] for message in response.get("Messages", []))


@pytest.fixture
def stack_in_moto() -> Iterator[StackInMoto]:
    with moto_client() as dynamodb:
        yield StackInMoto(dynamodb)


def test_a_pause_returns_when_no_process_uses_older_settings(stack_in_moto: StackInMoto) -> None:
    """A process that read the settings just earlier has read them again by then."""
    clock = FakeClock()
    store = DynamoRuntimeSettings(
        DynamoTable(stack_in_moto.table, stack_in_moto.clients["dynamodb"])
    )
    settings_reader = CachedRuntimeSettings(store, clock)
    assert not settings_reader.read().paused
    pause_new_matches(stack_in_moto.stack, clock=clock)
    assert settings_reader.read().paused


INVALID_MESSAGES = (
    "this is no match message",
    "5",
    json.dumps({"match_id": 5}),
    json.dumps({"match_id": "two words"}),
    json.dumps({"match_id": "abc", "turn": 7}),
    json.dumps({"match_id": "abc", "game": "Whist!"}),
)


def test_a_redrive_leaves_what_no_function_can_read(stack_in_moto: StackInMoto) -> None:
    """An invalid message stays in the queue, since it would only become a dead letter again."""
    valid_message = json.dumps({"match_id": "abc", "game": "deadmansdraw"})
    for body in (*INVALID_MESSAGES, valid_message):
        stack_in_moto.send_dead_letter(body)
    assert [letter.body for letter in redrive(stack_in_moto.stack, None)] == [valid_message]
    assert stack_in_moto.receive_bodies("queue") == [valid_message]
    letters = list_dead_letters(stack_in_moto.stack)
    assert sorted(letter.body for letter in letters) == sorted(INVALID_MESSAGES)
    with pytest.raises(ConfigError, match=r"No function can read the message .* dlq drop"):
        redrive(stack_in_moto.stack, letters[0].letter_id)
    assert redrive(stack_in_moto.stack, None, DeadLetterQueueKind.DIRECTOR) == [], "none is a tick"
    assert stack_in_moto.receive_bodies("ticks") == []
    assert len(stack_in_moto.receive_bodies("letters")) == len(INVALID_MESSAGES)


def runbook_commands() -> Iterator[list[str]]:
    """Yield the arguments of each AWS command line in the runbook."""
    page = (REPOSITORY_ROOT / "docs" / "operations.md").read_text("utf-8")
    text = page.partition(RUNBOOK)[2].partition("\n## ")[0].replace("\\\n", " ")
    for line in re.findall(r"^ +(aws .*)$", text, re.MULTILINE):
        yield shlex.split(line)


def run_as_aws(client: Any, command: list[str]) -> Any:  # noqa: ANN401 - a boto3 client, AWS's answer
    """Run a command of AWS's command line by boto3, with the parameters that its API knows."""
    _, service, operation, *arguments = command
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
    stack_in_moto: StackInMoto,
) -> None:
    """The commands run as the runbook lists them; moto restores the current state."""
    client, table, backup = stack_in_moto.clients["dynamodb"], stack_in_moto.table, ""
    log = DynamoMatchLog(table, FakeClock(), client)
    lease = log.acquire_lease("abc", "worker", timedelta(minutes=1), {"game": "deadmansdraw"})
    assert lease is not None
    log.finish(lease, {"result": "won"})
    original_record = log.match("abc")
    for command in runbook_commands():
        arguments = [
            argument.replace("BACKUP-ARN", backup).replace("TABLE", table) for argument in command
        ]
        response = run_as_aws(client, arguments)
        if command[2] == "create-backup":
            backup = response["BackupDetails"]["BackupArn"]
        if command[2] == "delete-table" and command[-1] == "TABLE":
            assert client.list_tables()["TableNames"] == [f"{table}-restored"]
    assert client.list_tables()["TableNames"] == [table]
    assert log.match("abc") == original_record
    ttl = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    assert (ttl["AttributeName"], ttl["TimeToLiveStatus"]) == ("expires_at", "ENABLED")
    backups = client.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    recovery = backups["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
