"""Check of a deployed stack: it plays a practice match, and its log agrees with the arena."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from cardsharp.aws.client import call_with_retries
from cardsharp.client.config import ServiceAddress
from cardsharp.core.clock import Clock
from cardsharp.core.credentials import Credentials
from cardsharp.core.redaction import register_secrets
from cardsharp.errors import CardsharpError
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.store.match_log import MatchStatus
from cardsharp_tools.cli.health_checks import CheckResult, CheckStatus, run_check
from cardsharp_tools.games.deadmansdraw.run_report import build_match_report
from cardsharp_tools.operations.stack import Stack
from cardsharp_tools.operations.stack_control import (
    arena_address_and_auth,
    create_practice_matches,
    run_checks_in_deployed_functions,
)
from cardsharp_tools.operations.status import active_alarms
from cardsharp_tools.proxy_option import resolve_proxy

TAG = "verify"  # of the practice matches that a check creates

_LIST_POLL_INTERVAL = timedelta(seconds=2)


def run_deployment_checks(stack: Stack, timeout: timedelta, clock: Clock) -> Iterator[CheckResult]:
    """Yield the checks of a deployment; the match is left out if the functions are not ready.

    `timeout` is the longest wait for the match, and for alarms to be cleared.
    """
    are_ready = True
    for check in run_checks_in_deployed_functions(stack):
        are_ready = are_ready and check.status is not CheckStatus.FAILED
        yield check
    if stack.has_bot and are_ready:
        yield run_check("match", lambda: play_and_verify_practice_match(stack, timeout, clock))
    yield run_check("alarms", lambda: wait_until_alarms_clear(stack, timeout, clock))


def play_and_verify_practice_match(stack: Stack, timeout: timedelta, clock: Clock) -> str:
    """Have a match played to its end, and compare its log with the history at the arena.

    Raises `CardsharpError` if it does not end in time, if the two differ, or if a turn was lost.
    """
    (match_id,) = create_practice_matches(stack, {"tags": [TAG]})

    def is_finished() -> bool:
        record = stack.log.match(match_id)
        return record is not None and record.status is MatchStatus.FINISHED

    if not _wait_until(is_finished, clock.now() + timeout, clock):
        raise CardsharpError(
            f"The match {match_id} has not ended within {timeout}. See `cardsharp cloud logs "
            f"{match_id} --stack {stack.name}`."
        )
    url, auth = arena_address_and_auth(stack)
    address = ServiceAddress(url, proxy=resolve_proxy())
    with ArenaClient(
        address, _load_bot_credentials(stack), use_digest_auth=auth == "digest"
    ) as client:
        report = build_match_report(stack.log, client.get_match(match_id))
    if not report.log_comparison.is_complete:
        raise CardsharpError(f"The match {match_id} was played, but its {report.log_comparison}.")
    if report.forced_turns:
        raise CardsharpError(
            f"In the match {match_id} the arena ended {report.forced_turns} of our turns, because "
            "no move came in time."
        )
    return f"{match_id} was played to its end; {report.log_comparison}"


def wait_until_alarms_clear(stack: Stack, timeout: timedelta, clock: Clock) -> str:
    """Wait until no alarm is on; raises `CardsharpError` with those that stay on."""
    if not _wait_until(lambda: not active_alarms(stack), clock.now() + timeout, clock):
        raise CardsharpError(
            f"These alarms are on: {', '.join(active_alarms(stack))}. See docs/operations.md."
        )
    return "no alarm is on"


def _wait_until(condition: Callable[[], bool], deadline: datetime, clock: Clock) -> bool:
    """Return True when the condition holds, False if it does not hold before the deadline."""
    while not condition():
        if clock.now() >= deadline:
            return False
        clock.sleep(_LIST_POLL_INTERVAL)
    return True


def _load_bot_credentials(stack: Stack) -> Credentials:
    """Return the bot's user and password from the stack's secret."""
    get = stack.client("ssm").get_parameter
    parameter = call_with_retries(
        "secret", get, Name=stack.output("SecretName"), WithDecryption=True
    )
    secret = json.loads(parameter["Parameter"]["Value"])
    register_secrets(secret["password"])
    return Credentials(secret["username"], secret["password"])
