"""What an operator is told, as far as no stack is needed for it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

import boto3
import pytest
from moto import mock_aws
from support.cloud_clock import FakeClock

from cardsharp.errors import ConfigError
from workbench.cli import main
from workbench.operate.letters import replay
from workbench.operate.orders import rotate_service_secret
from workbench.operate.stack import Stack
from workbench.operate.status import spend
from workbench.operate.story import LogLine, follow

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def line(text: str, at: datetime) -> LogLine:
    return LogLine(at, "worker", text, {})


def test_following_tells_each_line_once_also_one_that_comes_late() -> None:
    clock = FakeClock()
    began = clock.now()
    first, late = line("first", began + SECOND), line("late", began)
    looks: Iterator[list[LogLine]] = iter([[first], [first], [late, first]])
    asked: list[datetime] = []

    def look(since: datetime) -> list[LogLine]:
        asked.append(since)
        return next(looks)

    assert list(islice(follow(look, began, clock), 2)) == [first, late]
    assert asked == [began] * 3, "each look goes back a while"


def test_what_was_spent_is_asked_for_by_our_tag_since_the_month_began() -> None:
    with mock_aws():
        told = spend(lambda name: boto3.client(name, "us-east-1"), NOW)
    assert told == "0.00 USD since 2026-11-01"


class DeadLetters:
    """A queue of dead letters, ten of which are received at a time."""

    def __init__(self, number: int) -> None:
        self.left = {str(i): {"MessageId": str(i), "ReceiptHandle": str(i)} for i in range(number)}
        self.sent: list[str] = []
        self._hidden: set[str] = set()

    def receive_message(self, **_asked: object) -> dict[str, object]:
        seen = [name for name in self.left if name not in self._hidden][:10]
        self._hidden |= set(seen)
        told = {"SentTimestamp": "0", "ApproximateReceiveCount": "6"}
        return {
            "Messages": [
                {**self.left[name], "Body": f'{{"match_id": "{name}"}}', "Attributes": told}
                for name in seen
            ]
        }

    def send_message(self, *, MessageBody: str, **_asked: object) -> None:  # noqa: N803 - boto3's
        self.sent.append(MessageBody)

    def delete_message(self, *, ReceiptHandle: str, **_asked: object) -> None:  # noqa: N803
        del self.left[ReceiptHandle]

    def change_message_visibility(self, **_asked: object) -> None:
        pass


def test_more_than_500_letters_are_all_listed_and_sent_again() -> None:
    queue = DeadLetters(777)
    outputs = {"DeadLetterUrl": "letters", "MatchQueueUrl": "matches"}
    stack = Stack(
        name="test",
        changed=NOW,
        protected=False,
        parameters={},
        outputs=outputs,
        ids={},
        client=lambda _service: queue,
    )
    assert len(replay(stack, None)) == 777
    assert len(set(queue.sent)) == 777
    assert not queue.left


def test_the_password_of_a_service_is_an_encrypted_parameter_of_its_stack() -> None:
    """And none is set for a service that is not there, or without a password."""
    with mock_aws():
        client = boto3.client("ssm", "us-east-1")
        stack = Stack(
            name="s",
            changed=NOW,
            protected=False,
            parameters={},
            outputs={"deadmansdrawName": "f"},
            ids={},
            client=lambda _name: client,
        )
        rotate_service_secret(stack, "deadmansdraw", "organising")
        kept = client.get_parameter(Name="/s/deadmansdraw", WithDecryption=True)["Parameter"]
        with pytest.raises(ConfigError, match="has no service blef"):
            rotate_service_secret(stack, "blef", "organising")
        with pytest.raises(ConfigError, match="password is needed"):
            rotate_service_secret(stack, "deadmansdraw", "")
    assert kept["Type"] == "SecureString"
    assert json.loads(kept["Value"]) == {"username": "admin", "password": "organising"}


@pytest.mark.parametrize("name", ["resume", "practice", "logs", "set"])
def test_a_command_of_the_cloud_has_examples_of_its_own(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    main(["cloud", name, "--help"])
    told = capsys.readouterr().out.partition("Examples:")[2]
    commands = [one for one in told.splitlines() if "cardsharp cloud" in one]
    assert commands
    assert all(f"cardsharp cloud {name}" in one for one in commands)
