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
from workbench.cloud.lifeline import matcher
from workbench.operate.orders import rotate_service_secret
from workbench.operate.stack import Stack
from workbench.operate.story import PROBLEMS, LogLine, follow

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


# --- patterns of logs -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "line", "found"),
    [
        ("", "anything", True),
        ("ERROR", "[ERROR 400] BAD REQUEST", True),
        ("ERROR", "[error 400] BAD REQUEST", False),
        ("ERROR ARGUMENTS", "[ERROR 419] MISSING ARGUMENTS", True),
        ("ERROR ARGUMENTS", "[ERROR 400] BAD REQUEST", False),
        ("?ERROR ?ARGUMENTS", "[ERROR 400] BAD REQUEST", True),
        ("?ERROR ?ARGUMENTS", "[WARNING 400] INVALID ARGUMENTS", True),
        ("?ERROR ?ARGUMENTS", "[INFO] ALL IS WELL", False),
        ('"INTERNAL SERVER ERROR"', "[ERROR 500] INTERNAL SERVER ERROR", True),
        ('"INTERNAL SERVER ERROR"', "SERVER ERROR, INTERNAL", False),
        ("ERROR -ARGUMENTS", "[ERROR 401] UNAUTHORIZED REQUEST", True),
        ("ERROR -ARGUMENTS", "[ERROR 419] MISSING ARGUMENTS", False),
        ("?ARGUMENTS ERROR", "[ERROR 400] BAD REQUEST", True),
        (PROBLEMS, '{"level":"ERROR","message":"a poll failed"}', True),
        (PROBLEMS, "2026-11-23T18:00:00 abc Task timed out after 60.00 seconds", True),
        (PROBLEMS, '{"level":"INFO","message":"no error, no warning"}', False),
    ],
)
def test_a_pattern_finds_what_aws_says_it_finds(pattern: str, line: str, *, found: bool) -> None:
    def other(_pattern: str) -> None:
        pytest.fail("a pattern of terms")

    assert matcher(pattern, other)(line) is found  # type: ignore[arg-type]
