"""Control of a deployed stack: practice, pausing, settings, passwords and deletion."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from pydantic import Field

from cardsharp.aws.client import call_with_retries
from cardsharp.bot.control.runtime_settings import SETTINGS_CACHE_TTL, RuntimeSettings
from cardsharp.core.clock import Clock, SystemClock
from cardsharp.core.redaction import register_secrets
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.play.strategy_registry import registry_for
from cardsharp.server.access_gate import TOKEN_PARAMETER, sign_access_token
from cardsharp_tools.cli.health_checks import CheckResult, run_check
from cardsharp_tools.local_cloud.template_files import service_resource_prefix
from cardsharp_tools.operations.dead_letters import DeadLetterQueueKind, drop
from cardsharp_tools.operations.stack import CamelCaseModel, Stack, Timestamp

VIEWER_SERVICE = "viewer"  # the pages' name, where a service is named by its game


def create_practice_matches(stack: Stack, event: Mapping[str, object]) -> list[str]:
    """Create practice matches and return their ids; raise `CardsharpError` on failure."""
    failed, payload = _invoke_once(stack, "PracticeName", event)
    if failed:
        raise CardsharpError(
            f"The practice function failed: {payload.get('errorMessage', payload)}"
        )
    ids: list[str] = payload["match_ids"]
    return ids


def _invoke_once(stack: Stack, output: str, event: Mapping[str, object]) -> tuple[bool, Any]:
    """Invoke a function once; return True if it failed, and its response.

    It is not retried, because a repeated invocation might have its effects twice.
    """
    function = stack.output(output)
    response = stack.client("lambda").invoke(FunctionName=function, Payload=json.dumps(event))
    return bool(response.get("FunctionError")), json.loads(response["Payload"].read() or b"null")


def run_checks_in_deployed_functions(stack: Stack) -> Iterator[CheckResult]:
    """Check settings, strategy and password from inside the deployed functions."""

    def check_bot() -> str:
        create_practice_matches(stack, {"matches": 0})
        return "settings, strategy and password are valid"

    def check_arena() -> str:
        check_arena_requires_login(stack)
        return "it answers and has the organiser's password"

    if stack.has_bot:
        yield run_check("functions", check_bot)
    if stack.has_director:
        yield run_check("arena", check_arena)


def check_arena_requires_login(stack: Stack) -> None:
    """Check that the arena answers 401 to a request without login, so it has a password."""
    event = {"requestContext": {"http": {"method": "GET"}}, "rawPath": "/api/sessioninfo"}
    failed, payload = _invoke_once(stack, "ArenaName", event)
    if failed or payload.get("statusCode") != HTTPStatus.UNAUTHORIZED:
        raise CardsharpError(
            f"The arena failed: {payload.get('errorMessage') or payload.get('body')}"
        )


def replace_arena_credentials(
    stack: Stack, username: str, password: str, verify: Callable[[str, str], None]
) -> None:
    """Store user and password in the stack's secret once `verify` has accepted them.

    Functions take the new ones within minutes, without a deploy. Ticks that failed for want of them
    are dropped, so that nobody is told of them any more. Raises `ConfigError` if one of the two is
    empty, `ArenaError` if `verify` found that the arena refuses them; the secret is as it was.
    """
    if not username or not password:
        raise ConfigError("User or password is empty. Give both.")
    register_secrets(password)
    verify(username, password)
    _put_secret(stack, stack.output("SecretName"), username, password)
    drop(stack, None, DeadLetterQueueKind.POLLER)


def store_service_password(stack: Stack, service: str, password: str) -> None:
    """Store the password of a service or the pages in its secret; raise `ConfigError`."""
    if f"{service_resource_prefix(service)}Name" not in stack.outputs:
        kind = "pages" if service == VIEWER_SERVICE else "arena"
        raise ConfigError(
            f"The stack {stack.name} has no service {service}. Name the stack of the {kind} with "
            f"--stack, such as cardsharp-{kind}."
        )
    if not password:
        raise ConfigError("The password is empty. Give one.")
    register_secrets(password)
    _put_secret(stack, f"/{stack.name}/{service}", ADMIN, password)


def match_link(stack: Stack, match_id: str, expires_at: datetime) -> str:
    """Return a match's page, with a pass until `expires_at` if the pages are private."""
    if "ViewerUrl" not in stack.outputs:
        raise ConfigError(
            f"The stack {stack.name} has no pages. Name the stack of the pages with --stack, such "
            "as cardsharp-pages."
        )
    page = f"{stack.output('ViewerUrl')}/matches/{match_id}"
    if stack.parameters.get("Public") == "yes":
        return page
    ssm = stack.client("ssm")
    try:
        parameter = ssm.get_parameter(Name=f"/{stack.name}/{VIEWER_SERVICE}", WithDecryption=True)
    except ssm.exceptions.ParameterNotFound:
        raise ConfigError(
            "The pages have no password yet; set one with `cardsharp cloud rotate-secret "
            f"--service {VIEWER_SERVICE}`."
        ) from None
    password = str(json.loads(parameter["Parameter"]["Value"])["password"])
    register_secrets(password)
    return f"{page}?{TOKEN_PARAMETER}={sign_access_token(match_id, expires_at, password)}"


def _put_secret(stack: Stack, name: str, username: str, password: str) -> None:
    value = json.dumps({"username": username, "password": password})
    request = {"Name": name, "Value": value, "Type": "SecureString", "Overwrite": True}
    call_with_retries("secret", stack.client("ssm").put_parameter, **request)


def trigger_test_alarm(stack: Stack, current_time: datetime) -> str:
    """Trigger the alarm TurnTimedOut, which clears within minutes; return its full name."""
    name = stack.ids["TurnTimedOut"]
    reason = f"A test by cardsharp cloud test-alarm at {current_time:%H:%M} UTC; nothing is wrong."
    set_state = stack.client("cloudwatch").set_alarm_state
    call_with_retries("alarm", set_state, AlarmName=name, StateValue="ALARM", StateReason=reason)
    return name


def arena_address_and_auth(stack: Stack) -> tuple[str, str]:
    """Return the arena's address and kind of authentication, as the functions have them."""
    get = stack.client("lambda").get_function_configuration
    configuration = call_with_retries(
        "practice function", get, FunctionName=stack.output("PracticeName")
    )
    variables = configuration["Environment"]["Variables"]
    return variables["CARDSHARP_ARENA_URL"], variables.get("CARDSHARP_ARENA_AUTH", "basic")


_SCHEDULE_FIELDS = (
    *("Name", "GroupName", "ScheduleExpression", "ScheduleExpressionTimezone"),
    *("FlexibleTimeWindow", "Target", "Description"),
)
"""Fields of a schedule that an update must repeat; a missing field is reset."""


SETTINGS_DELAY = SETTINGS_CACHE_TTL + timedelta(seconds=3)
"""Time after which every process has read new settings, also one whose read was just under way.

A function may use settings as old as `SETTINGS_CACHE_TTL`, and an eventually consistent read
may be a second
late.
"""


def pause_new_matches(
    stack: Stack, *, stop_schedule: bool = False, clock: Clock | None = None
) -> None:
    """Stop taking new matches, and return when every process knows; running ones are played on.

    `stop_schedule` also stops the poller's schedule, for a time in which nothing is to be paid.
    Raises `ConfigError` if the schedule is to stop while matches run, which nobody would watch
    over.
    """
    update_settings(stack, paused=True)
    (clock or SystemClock()).sleep(SETTINGS_DELAY)
    if not stop_schedule:
        return
    running = stack.log.running_matches()
    if running:
        match_ids_text = ", ".join(record.match_id for record in running)
        raise ConfigError(
            f"Paused, but {match_ids_text} are still running. Disable the schedule when "
            "they have ended."
        )
    _set_schedule(stack, "DISABLED")


def resume(stack: Stack) -> None:
    """Take new matches again, and enable the schedule."""
    update_settings(stack, paused=False)
    _set_schedule(stack, "ENABLED")


def _set_schedule(stack: Stack, state: str) -> None:
    schedule = get_poller_schedule(stack)
    if schedule["State"] != state:
        fields = {key: schedule[key] for key in _SCHEDULE_FIELDS if schedule.get(key)}
        call_with_retries(
            "schedule", stack.client("scheduler").update_schedule, **fields, State=state
        )


def get_poller_schedule(stack: Stack) -> Any:  # noqa: ANN401 - AWS's answer
    """Return the poller's schedule."""
    get = stack.client("scheduler").get_schedule
    return call_with_retries("schedule", get, Name=stack.ids["PollerEveryMinute"])


def set_deletion_protection(stack: Stack, *, is_on: bool = True) -> None:
    """Protect a stack and its match log against deletion, or remove the protection.

    The template does not set it: a stack whose creation failed could not be deleted then.
    """
    if stack.has_bot:
        call_with_retries(
            "match log",
            stack.client("dynamodb").update_table,
            TableName=stack.output("MatchTable"),
            DeletionProtectionEnabled=is_on,
        )
    call_with_retries(
        f"stack {stack.name}",
        stack.client("cloudformation").update_termination_protection,
        StackName=stack.name,
        EnableTerminationProtection=is_on,
    )


def is_table_protected(stack: Stack) -> bool:
    """Return True if the stack's match log cannot be deleted."""
    describe = stack.client("dynamodb").describe_table
    table = call_with_retries("match log", describe, TableName=stack.output("MatchTable"))["Table"]
    return bool(table.get("DeletionProtectionEnabled"))


PASSWORD_PARAMETERS = ("arena", "viewer", "deadmansdraw")  # as `rotate-secret` calls its parameters


def delete_passwords_and_log(stack: Stack, *, include_match_log: bool) -> list[str]:
    """Delete a stack's passwords and, if wanted, its match log; return the deleted names.

    Raises `ConfigError` if it is still playing, or its match log is protected against deletion.
    """
    table = stack.outputs["MatchTable"] if stack.has_bot else None
    if table is not None and stack.log.running_matches():
        raise ConfigError(
            "Matches are still running. Run `cardsharp cloud pause`, and wait for their end."
        )
    if include_match_log and table is not None:
        dynamodb = stack.client("dynamodb")
        if is_table_protected(stack):
            raise ConfigError(
                f"{table} is protected against deletion. Remove the protection: cardsharp cloud "
                f"protect --off --stack {stack.name}"
            )
        call_with_retries("match log", dynamodb.delete_table, TableName=table)
    parameter_names = [f"/{stack.name}/{parameter}" for parameter in PASSWORD_PARAMETERS]
    response = call_with_retries(
        "passwords", stack.client("ssm").delete_parameters, Names=parameter_names
    )
    return [
        *response["DeletedParameters"],
        *([table] if include_match_log and table is not None else []),
    ]


class EffectiveBotSettings(CamelCaseModel):
    """Effective settings of a bot: runtime settings, else the parameters of the deployment."""

    strategy: str
    tags: tuple[str, ...]
    at_once: int
    paused: bool = Field(exclude=True)
    windows: str
    awake_until: Timestamp | None
    by_hand: tuple[str, ...] = Field(serialization_alias="setByHand")
    """The names of those that an operator set."""

    def __str__(self) -> str:
        texts = {
            "strategy": f"strategy {self.strategy}",
            "tags": f"tags {', '.join(self.tags)}" if self.tags else "all tags",
            "at_once": f"{self.at_once} at once",
        }
        return ", ".join(
            f"{text} (set)" if n in self.by_hand else text for n, text in texts.items()
        )

    @property
    def listening_times_text(self) -> str:
        """Text that says when the bot listens."""
        if not self.windows:
            return "always"
        until = self.awake_until
        if until is None or until <= datetime.now(UTC):
            return self.windows
        return f"{self.windows}, until {until:%Y-%m-%d %H:%M} UTC by hand"


def read_effective_settings(stack: Stack) -> EffectiveBotSettings:
    """Return the effective settings of a stack; raises `StoreError`."""
    switches, get_parameter = stack.runtime_settings_store.read(), stack.parameters.get
    tags = tuple(tag.strip() for tag in get_parameter("MatchTags", "").split(",") if tag.strip())
    return EffectiveBotSettings(
        strategy=switches.strategy or get_parameter("Strategy") or GAME.default_strategy,
        tags=tags if switches.tags is None else switches.tags,
        at_once=switches.at_once or _read_max_concurrency(stack),
        paused=switches.paused,
        windows=get_parameter("ListeningWindows", ""),
        awake_until=switches.awake_until,
        by_hand=tuple(
            name for name in ("strategy", "tags", "at_once") if getattr(switches, name) is not None
        ),
    )


def update_settings(stack: Stack, **changes: object) -> RuntimeSettings:
    """Change runtime settings; None resets one. Raise `ConfigError` or `StoreError`."""
    switches = RuntimeSettings.model_validate(
        {**dict(stack.runtime_settings_store.read()), **changes}
    )
    if changes.get("strategy") is not None:
        registry_for(GAME.strategy_package).factory(str(switches.strategy))
    max_concurrency = _read_max_concurrency(stack)
    if changes.get("at_once") is not None and (switches.at_once or 0) > max_concurrency:
        raise ConfigError(
            f"--concurrency cannot exceed MatchLimit, which is {max_concurrency}. Deploy the stack "
            "with a higher MatchLimit."
        )
    stack.runtime_settings_store.set(switches)
    return switches


def _read_max_concurrency(stack: Stack) -> int:
    """Return the maximum number of concurrent workers."""
    return int(stack.parameters["MatchLimit"])
