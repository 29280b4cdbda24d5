"""A deployed stack, tested as it runs: `CARDSHARP_STACK=cardsharp-dev pytest -m deployed`.

The tests need a stack of a bot with its password set, and credentials for its account. They create
practice matches and pause the stack for some seconds. Never run them on a tournament day. They run
in the emulator too (tests/e2e/test_aws_cloud.py).
"""

import os
from datetime import UTC, datetime, timedelta

import pytest
from support.deployed_stack import STACK_VARIABLE

from cardsharp.core.clock import SystemClock
from cardsharp.errors import CardsharpError
from cardsharp_tools.cli.health_checks import CheckStatus
from cardsharp_tools.games.deadmansdraw.deployment_check import (
    play_and_verify_practice_match,
    run_deployment_checks,
    wait_until_alarms_clear,
)
from cardsharp_tools.operations.dead_letters import list_dead_letters
from cardsharp_tools.operations.function_logs import log_lines
from cardsharp_tools.operations.stack import Stack, account_clients, find_stack
from cardsharp_tools.operations.stack_control import (
    create_practice_matches,
    pause_new_matches,
    resume,
)
from cardsharp_tools.operations.status import read_status

NAME = os.environ.get(STACK_VARIABLE, "")
LIMIT = timedelta(minutes=10)

pytestmark = [
    pytest.mark.deployed,
    pytest.mark.skipif(
        not NAME, reason=f"{STACK_VARIABLE} names no deployed stack (docs/first-deployment.md)"
    ),
]


@pytest.fixture(scope="module")
def stack() -> Stack:
    return find_stack(NAME, account_clients())


def test_the_deployment_verifies_itself(stack: Stack) -> None:
    checks = list(run_deployment_checks(stack, LIMIT, SystemClock()))
    assert [check for check in checks if check.status is not CheckStatus.OK] == []


def test_a_match_leaves_no_dead_letter_and_no_problem_in_the_logs(stack: Stack) -> None:
    began = datetime.now(UTC)
    assert "log complete" in play_and_verify_practice_match(stack, LIMIT, SystemClock())
    assert list_dead_letters(stack) == []
    assert log_lines(stack, None, began) == []
    wait_until_alarms_clear(stack, LIMIT, SystemClock())


def test_a_pause_is_known_everywhere_when_it_returns(stack: Stack) -> None:
    assert not read_status(stack).bot.settings.paused, "somebody has paused the stack"
    try:
        pause_new_matches(stack)
        with pytest.raises(CardsharpError, match="New matches are paused"):
            create_practice_matches(stack, {})
    finally:
        resume(stack)
    assert read_status(stack).bot.schedule == "ENABLED"
