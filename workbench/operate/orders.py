"""What an operator has a stack do: practise, and take a new password."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime

from cardsharp.cloud.aws import call
from cardsharp.cloud.redaction import register
from cardsharp.errors import CardsharpError, ConfigError
from workbench.operate.letters import drop
from workbench.operate.stack import Stack

ORGANISER = "admin"
"""Who has the secret of a service: the user name of an arena's organiser."""


def practise(stack: Stack, order: Mapping[str, object]) -> list[str]:
    """Have the practice function create matches; their ids.

    Raises:
        CardsharpError: it refused or failed, with its own sentence.
    """
    function = stack.output("PracticeName")
    # Invoked once: a repeat would create the matches twice.
    answer = stack.client("lambda").invoke(FunctionName=function, Payload=json.dumps(order))
    told = json.loads(answer["Payload"].read() or b"null")
    if answer.get("FunctionError"):
        raise CardsharpError(f"The practice function failed: {told.get('errorMessage', told)}")
    ids: list[str] = told["match_ids"]
    return ids


def rotate_secret(
    stack: Stack, username: str, password: str, check: Callable[[str, str], None]
) -> None:
    """Put user and password into the stack's secret, after `check` has tried them.

    Functions take the new ones within minutes, without a deploy.
    Ticks that failed for want of them are dropped, so that nobody is told of them any more.

    Raises:
        ConfigError: one of the two is empty.
        ArenaError: `check` found that the arena refuses them; the secret is as it was.
    """
    if not username or not password:
        raise ConfigError("User and password are both needed.")
    register(password)
    check(username, password)
    _put_secret(stack, stack.output("SecretName"), username, password)
    drop(stack, None, ticks=True)


def rotate_service_secret(stack: Stack, service: str, password: str) -> None:
    """Put the organiser's password of a service of the stack into its secret.

    Raises:
        ConfigError: it is empty, or the stack has no such service.
    """
    if f"{service}Name" not in stack.outputs:
        raise ConfigError(
            f"The stack {stack.name} has no service {service}; deploy it with Services={service}."
        )
    if not password:
        raise ConfigError("A password is needed.")
    register(password)
    _put_secret(stack, f"/{stack.name}/{service}", ORGANISER, password)


def _put_secret(stack: Stack, name: str, username: str, password: str) -> None:
    call(
        "secret",
        stack.client("ssm").put_parameter,
        Name=name,
        Value=json.dumps({"username": username, "password": password}),
        Type="SecureString",
        Overwrite=True,
    )


def ring(stack: Stack, now: datetime) -> str:
    """Set off the alarm TurnTimedOut, whose mail must then arrive; its name in CloudWatch.

    It goes off by itself within minutes, when it is next evaluated.
    """
    name = stack.ids["TurnTimedOut"]
    told = f"A test by cardsharp cloud test-alarm at {now:%H:%M} UTC; nothing is wrong."
    set_state = stack.client("cloudwatch").set_alarm_state
    call("alarm", set_state, AlarmName=name, StateValue="ALARM", StateReason=told)
    return name


def arena_url(stack: Stack) -> tuple[str, str]:
    """The arena's address and kind of authentication, as the deployed functions have them."""
    function = stack.output("PracticeName")
    found = call(
        "practice function",
        stack.client("lambda").get_function_configuration,
        FunctionName=function,
    )
    variables = found["Environment"]["Variables"]
    return variables["CARDSHARP_ARENA_URL"], variables.get("CARDSHARP_ARENA_AUTH", "basic")
