"""What an operator has a stack do: practise, pause, switch, take a password, leave nothing."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from pydantic import Field

from cardsharp.cloud.aws import call
from cardsharp.cloud.redaction import register
from cardsharp.cloud.switches import Switches
from cardsharp.deadmansdraw.arena.players import ADMIN
from cardsharp.deadmansdraw.game import GAME
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.registry import strategies_of
from cardsharp.viewer.assembly import ADMISSION, pass_to
from workbench.operate.letters import LetterBox, drop
from workbench.operate.stack import Moment, OperatorView, Stack

VIEWER = "viewer"  # the pages' name, where a service is named by its game


def practise(stack: Stack, order: Mapping[str, object]) -> list[str]:
    """The ids of matches that the practice function made; raises `CardsharpError` if it failed."""
    failed, told = _invoked(stack, "PracticeName", order)
    if failed:
        raise CardsharpError(f"The practice function failed: {told.get('errorMessage', told)}")
    ids: list[str] = told["match_ids"]
    return ids


def _invoked(stack: Stack, output: str, event: Mapping[str, object]) -> tuple[bool, Any]:
    """Whether a function failed, and its answer; invoked once, for a repeat might do it twice."""
    function = stack.output(output)
    answer = stack.client("lambda").invoke(FunctionName=function, Payload=json.dumps(event))
    return bool(answer.get("FunctionError")), json.loads(answer["Payload"].read() or b"null")


def await_challenge(stack: Stack) -> None:
    """Have an arena ask who we are, for which it needs a password; raises `CardsharpError`."""
    event = {"requestContext": {"http": {"method": "GET"}}, "rawPath": "/api/sessioninfo"}
    failed, told = _invoked(stack, f"{GAME.name}Name", event)
    if failed or told.get("statusCode") != HTTPStatus.UNAUTHORIZED:
        raise CardsharpError(f"The arena failed: {told.get('errorMessage') or told.get('body')}")


def rotate_secret(
    stack: Stack, username: str, password: str, check: Callable[[str, str], None]
) -> None:
    """Put user and password into the stack's secret, after `check` has tried them.

    Functions take the new ones within minutes, without a deploy. Ticks that failed for want of them
    are dropped, so that nobody is told of them any more. Raises `ConfigError` if one of the two is
    empty, `ArenaError` if `check` found that the arena refuses them; the secret is as it was.
    """
    if not username or not password:
        raise ConfigError("User and password are both needed.")
    register(password)
    check(username, password)
    _put_secret(stack, stack.output("SecretName"), username, password)
    drop(stack, None, LetterBox.POLLER)


def rotate_service_secret(stack: Stack, service: str, password: str) -> None:
    """Put the password of a service or the pages into its secret; raises `ConfigError`."""
    if f"{service}Name" not in stack.outputs:
        asked_for = "DeployWeb=yes" if service == VIEWER else "the service of its game"
        raise ConfigError(
            f"The stack {stack.name} has no service {service}; deploy it with {asked_for}."
        )
    if not password:
        raise ConfigError("A password is needed.")
    register(password)
    _put_secret(stack, f"/{stack.name}/{service}", ADMIN, password)


def link_to(stack: Stack, match_id: str, until: datetime) -> str:
    """A match's page, with a pass until then where pages are private; raises `ConfigError`."""
    if "viewerUrl" not in stack.outputs:
        raise ConfigError(f"The stack {stack.name} has no pages; deploy it with DeployWeb=yes.")
    page = f"{stack.output('viewerUrl')}/matches/{match_id}"
    if stack.parameters.get("WebPublic") == "yes":
        return page
    ssm = stack.client("ssm")
    try:
        told = ssm.get_parameter(Name=f"/{stack.name}/{VIEWER}", WithDecryption=True)
    except ssm.exceptions.ParameterNotFound:
        raise ConfigError(
            "The pages have no password yet; set one with `cardsharp cloud rotate-secret "
            f"--service {VIEWER}`."
        ) from None
    password = str(json.loads(told["Parameter"]["Value"])["password"])
    register(password)
    return f"{page}?{ADMISSION}={pass_to(match_id, until, password)}"


def _put_secret(stack: Stack, name: str, username: str, password: str) -> None:
    value = json.dumps({"username": username, "password": password})
    told = {"Name": name, "Value": value, "Type": "SecureString", "Overwrite": True}
    call("secret", stack.client("ssm").put_parameter, **told)


def ring(stack: Stack, now: datetime) -> str:
    """Set off the alarm TurnTimedOut, which CloudWatch clears within minutes; its name there."""
    name = stack.ids["TurnTimedOut"]
    told = f"A test by cardsharp cloud test-alarm at {now:%H:%M} UTC; nothing is wrong."
    set_state = stack.client("cloudwatch").set_alarm_state
    call("alarm", set_state, AlarmName=name, StateValue="ALARM", StateReason=told)
    return name


def arena_url(stack: Stack) -> tuple[str, str]:
    """The arena's address and kind of authentication, as the deployed functions have them."""
    get = stack.client("lambda").get_function_configuration
    found = call("practice function", get, FunctionName=stack.output("PracticeName"))
    variables = found["Environment"]["Variables"]
    return variables["CARDSHARP_ARENA_URL"], variables.get("CARDSHARP_ARENA_AUTH", "basic")


_KEPT = (
    *("Name", "GroupName", "ScheduleExpression", "ScheduleExpressionTimezone"),
    *("FlexibleTimeWindow", "Target", "Description"),
)
"""What an update of a schedule must repeat, or it is forgotten."""


def pause(stack: Stack, *, stop_schedule: bool = False) -> None:
    """Let no new match be taken up from now on; those that run are watched over and finished.

    `stop_schedule` also stops the poller's schedule, for a time in which nothing is to be paid.
    Raises `ConfigError` if the schedule is to stop while matches run, which nobody would watch
    over.
    """
    change(stack, paused=True)
    if not stop_schedule:
        return
    running = stack.log.running()
    if running:
        names = ", ".join(record.match_id for record in running)
        raise ConfigError(f"Paused, but still playing {names}; stop the schedule afterwards.")
    _set_schedule(stack, "DISABLED")


def resume(stack: Stack) -> None:
    """Take up new matches again, with a schedule that runs."""
    change(stack, paused=False)
    _set_schedule(stack, "ENABLED")


def _set_schedule(stack: Stack, state: str) -> None:
    found = schedule_of(stack)
    if found["State"] != state:
        kept = {key: found[key] for key in _KEPT if found.get(key)}
        call("schedule", stack.client("scheduler").update_schedule, **kept, State=state)


def schedule_of(stack: Stack) -> Any:  # noqa: ANN401 - AWS's answer
    """The poller's schedule."""
    get = stack.client("scheduler").get_schedule
    return call("schedule", get, Name=stack.ids["PollerEveryMinute"])


PASSWORDS = ("arena", "viewer", "deadmansdraw")  # as `rotate-secret` calls its parameters


def forget(stack: Stack, *, matches: bool) -> list[str]:
    """Delete a stack's passwords, and where wanted its match log; the names of what went.

    Raises `ConfigError` if it is still playing, or its match log is protected against deletion.
    """
    table = stack.outputs.get("MatchTable")
    if table is not None and stack.log.running():
        raise ConfigError("It is still playing; `cardsharp cloud pause`, and wait for the end.")
    if matches and table is not None:
        dynamodb = stack.client("dynamodb")
        told = call("match log", dynamodb.describe_table, TableName=table)["Table"]
        if told.get("DeletionProtectionEnabled"):
            raise ConfigError(
                f"{table} is protected against deletion: aws dynamodb update-table "
                f"--table-name {table} --no-deletion-protection-enabled"
            )
        call("match log", dynamodb.delete_table, TableName=table)
    names = [f"/{stack.name}/{one}" for one in PASSWORDS]
    told = call("passwords", stack.client("ssm").delete_parameters, Names=names)
    return [*told["DeletedParameters"], *([table] if matches and table is not None else [])]


class Held(OperatorView):
    """What holds now: what is set, and the parameters of the deployment for what is not."""

    strategy: str
    tags: tuple[str, ...]
    at_once: int
    paused: bool = Field(exclude=True)
    listening: str
    windows: str
    awake_until: Moment | None
    by_hand: tuple[str, ...] = Field(serialization_alias="setByHand")
    """The names of those that an operator set."""

    def __str__(self) -> str:
        told = {
            "strategy": f"strategy {self.strategy}",
            "tags": f"tags {', '.join(self.tags)}" if self.tags else "all tags",
            "at_once": f"{self.at_once} at once",
        }
        return ", ".join(f"{one} (set)" if n in self.by_hand else one for n, one in told.items())

    @property
    def when(self) -> str:
        """Whether it listens at all times, and if not, when."""
        if self.listening == "always":
            return "always"
        until, told = self.awake_until, [self.listening, *filter(None, [self.windows])]
        awake = until is not None and until > datetime.now(UTC)
        return ", ".join([*told, f"always until {until:%Y-%m-%d %H:%M} UTC"] if awake else told)


def held(stack: Stack) -> Held:
    """What holds in a stack; raises `StoreError`."""
    switches, told = stack.switchboard.read(), stack.parameters.get
    tags = tuple(part.strip() for part in told("MatchTags", "").split(",") if part.strip())
    return Held(
        strategy=switches.strategy or told("Strategy") or GAME.default_strategy,
        tags=tags if switches.tags is None else switches.tags,
        at_once=switches.at_once or _most(stack),
        paused=switches.paused,
        listening=told("Listening", "always"),
        windows=told("ListeningWindows", ""),
        awake_until=switches.awake_until,
        by_hand=tuple(
            name for name in ("strategy", "tags", "at_once") if getattr(switches, name) is not None
        ),
    )


def change(stack: Stack, **changes: object) -> Switches:
    """Set switches, None as deployed; raises `ConfigError`, nothing changed, or `StoreError`."""
    switches = Switches.model_validate({**dict(stack.switchboard.read()), **changes})
    if changes.get("strategy") is not None:
        strategies_of(GAME.strategies).maker(str(switches.strategy))
    most = _most(stack)
    if changes.get("at_once") is not None and (switches.at_once or 0) > most:
        raise ConfigError(
            f"At most {most} can be played at once: that is MatchLimit. Deploy it with more."
        )
    stack.switchboard.set(switches)
    return switches


def _most(stack: Stack) -> int:
    """How many workers are started at once."""
    return int(stack.parameters["MatchLimit"])
