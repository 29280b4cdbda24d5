"""What a cold start pays for."""

import os
import subprocess
import sys

import pytest

_DEPLOYED = {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_LAMBDA_FUNCTION_NAME": "f",
    "CARDSHARP_STORE": "dynamodb:t",
    "CARDSHARP_QUEUE": "https://sqs.example/q",
    "CARDSHARP_SECRET_ID": "/stack/arena",
}


def ready_after_start(function: str, variables: dict[str, str]) -> list[str]:
    """The services of which a function has clients when it has started; pages if it draws any."""
    program = (
        f"import {function}.app, sys; from cardsharp.cloud import secrets;"
        "aws = sys.modules.get('cardsharp.cloud.aws');"
        "print(*[s for s, _ in (aws._prepared if aws else {})],"
        " *['ssm'] * secrets.provider.cache_info().currsize,"
        " *['pages'] * ('jinja2' in sys.modules))"
    )
    plain = {name: told for name, told in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program],
        env={**plain, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


OF_THE_BOT = ["dynamodb", "sqs", "ssm"]


@pytest.mark.parametrize(
    ("function", "without", "ready"),
    [
        *((one, (), OF_THE_BOT) for one in ("worker", "poller", "practice", "director")),
        ("web", ("CARDSHARP_QUEUE", "CARDSHARP_SECRET_ID"), ["dynamodb"]),
        ("viewer", ("CARDSHARP_QUEUE",), ["dynamodb", "ssm", "pages"]),
        ("worker", ("AWS_LAMBDA_FUNCTION_NAME",), []),
        ("worker", ("AWS_DEFAULT_REGION",), []),
    ],
    ids=["worker", "poller", "practice", "director", "web", "viewer", "at home", "no region"],
)
def test_r21_a_function_makes_its_clients_when_it_starts_and_only_where_it_is_deployed(
    function: str, without: tuple[str, ...], ready: list[str]
) -> None:
    """It starts with a whole processor, and answers with a fourteenth of one.

    Without a region it starts all the same: its first invocation says why it cannot be used.
    """
    variables = {name: told for name, told in _DEPLOYED.items() if name not in without}
    assert ready_after_start(function, {**variables, "HOME": "/nowhere"}) == ready


def test_the_bot_at_home_loads_what_plays_after_its_first_request() -> None:
    """Else its start takes long enough on a slow machine to cost a turn."""
    script = (
        "import sys, workbench.cli, workbench.deadmansdraw.bot\n"
        "later = {'worker.app', 'rich.progress', 'boto3', 'workbench.deadmansdraw.watching'}\n"
        "sys.exit(', '.join(later & sys.modules.keys()) or 0)\n"
    )
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", script], check=False, stderr=subprocess.PIPE
    )
    assert (done.returncode, done.stderr) == (0, b"")
