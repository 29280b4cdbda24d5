"""`cardsharp doctor`: is everything right that a bot needs, and if not, what to do."""

import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

from cardsharp.bot.settings import PREFIX
from cardsharp.client.config import proxy_for_url
from cardsharp.client.remote_clock import NEVER_BOUNDS
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ArenaError, CardsharpError
from cardsharp.games.deadmansdraw.arena_bot.settings import ArenaBotSettings
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp_tools.cli.health_checks import (
    CheckResult,
    CheckSkipped,
    CheckStatus,
    print_checks,
    run_check,
)
from cardsharp_tools.cli.options import Json
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import parse_strategy
from cardsharp_tools.games.deadmansdraw.arena_environment import (
    bot_environment_from_options,
    single_attempt_client,
)
from cardsharp_tools.games.deadmansdraw.arena_options import ArenaOptions
from cardsharp_tools.match_sources.match_logs import open_log, resolve_match_log_location

MAX_CLOCK_SKEW = timedelta(seconds=5)  # beyond it a clock is wrong; dates are in whole seconds

_FROM_ENVIRONMENT = ArenaOptions()


def doctor(*, arena: ArenaOptions = _FROM_ENVIRONMENT, as_json: Json = False) -> int:
    """Print the result of every check. The exit code is 1 if a check fails."""
    return print_checks(run_all_checks(arena), as_json=as_json)


def run_all_checks(options: ArenaOptions) -> Iterator[CheckResult]:
    """Run all checks and yield their results; later checks build on earlier ones."""
    yield run_check("Python", platform.python_version)
    yield run_check("strategy", check_strategy)
    yield run_check("match log", check_match_log)
    if options.url is None and not any(name.startswith(PREFIX) for name in os.environ):
        text = (
            "no arena is set; `cardsharp play` needs none, `cardsharp bot` takes --url and --user"
        )
        yield CheckResult("arena", CheckStatus.SKIPPED, text)
        return
    loaded_settings: list[ArenaBotSettings] = []

    def settings() -> str:
        loaded_settings.append(ArenaBotSettings.load(bot_environment_from_options(options)))
        return f"{loaded_settings[0].arena_url} as {loaded_settings[0].user or 'the secret says'}"

    yield run_check("settings", settings)
    if loaded_settings:
        yield run_check("queue", lambda: check_queue(loaded_settings[0]))
        yield run_check("proxy", lambda: check_proxy_setting(loaded_settings[0]))
        yield run_check("arena", lambda: check_arena_responds(loaded_settings[0]))
        yield run_check("clock", lambda: check_clock(loaded_settings[0]))
        yield run_check("credentials", lambda: check_credentials(loaded_settings[0]))


def check_strategy() -> str:
    """Check that the configured strategy can be created."""
    return register_strategy(
        parse_strategy(os.environ.get("CARDSHARP_STRATEGY") or GAME.default_strategy)
    )


def check_match_log() -> str:
    """Check that the match log stores a note and returns it."""
    store = resolve_match_log_location(None)
    with open_log(store) as log:
        log.add_note("doctor", "check", {"by": "cardsharp doctor"})
        if not log.notes("doctor"):
            raise CardsharpError(f"{store} did not store what was written to it.")
    return f"{store} can be written"


def check_queue(settings: ArenaBotSettings) -> str:
    """Check that the queue can be reached; a queue in memory always can."""
    if settings.queue.startswith("memory:"):
        return "in this process"
    # boto3 is slow to import, and not needed at every start.
    from cardsharp.aws.client import RESPONSE_TIMEOUT_SECONDS, call_with_retries, client  # noqa: PLC0415

    response = call_with_retries(
        f"SQS queue {settings.queue}",
        client("sqs", RESPONSE_TIMEOUT_SECONDS).get_queue_attributes,
        QueueUrl=settings.queue,
        AttributeNames=["ApproximateNumberOfMessages"],
    )
    waiting = response["Attributes"].get("ApproximateNumberOfMessages", "?")
    return f"{settings.queue}, {waiting} messages wait"


_UNREAD = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


def check_proxy_setting(settings: ArenaBotSettings) -> str:
    """Return a sentence about the proxy to the arena; raise `ConfigError` if it is not allowed."""
    through = proxy_for_url(settings.arena_url, settings.proxy)
    if through is not None:
        return f"{through} leads to the arena"
    if settings.proxy is not None:
        raise CheckSkipped(f"{settings.proxy} is not used, because the arena is on this machine")
    variable = next((name for name in _UNREAD if os.environ.get(name)), None)
    if variable is None:
        raise CheckSkipped("none; set one with --proxy or CARDSHARP_PROXY")
    raise CheckSkipped(f"none; {variable} is ignored, set --proxy or CARDSHARP_PROXY instead")


def check_arena_responds(settings: ArenaBotSettings) -> str:
    """Check that an arena responds."""
    with single_attempt_client(settings) as client:
        return f'says "{client.hello()}"'


def check_clock(settings: ArenaBotSettings) -> str:
    """Check that our clock agrees with the dates of the arena's responses."""
    system, client = SystemClock(), single_attempt_client(settings)
    with suppress(ArenaError), client:
        client.hello()
    current_time = system.monotonic()
    arena_time = client.session_state.remote_clock.to_local_bounds(system.now(), current_time)
    if arena_time == NEVER_BOUNDS:
        raise CheckSkipped("the arena sends no time")
    skew = timedelta(seconds=(arena_time.earliest + arena_time.latest) / 2 - current_time)
    if abs(skew) > MAX_CLOCK_SKEW:
        direction = "ahead of" if skew > timedelta(0) else "behind"
        raise CardsharpError(
            f"Our clock is {abs(skew.total_seconds()):.0f} s {direction} the arena's. "
            "Set it by NTP, because AWS refuses requests with a wrong time."
        )
    return f"within {max(1, round(abs(skew.total_seconds())))} s of the arena's"


def check_credentials(settings: ArenaBotSettings) -> str:
    """Check that the arena accepts our credentials."""
    with single_attempt_client(settings) as client:
        me = client.whoami()
    return f"{me.name or me.username}, {me.role or 'player'}"
