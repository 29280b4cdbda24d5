"""The emulator finds in its logs what CloudWatch Logs finds, by AWS's own examples."""

import pytest

from workbench.cloud.lifeline import matcher
from workbench.operate.story import PROBLEMS


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
