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


@pytest.mark.parametrize("function", ["worker", "poller", "practice", "director"])
def test_r21_a_deployed_function_makes_its_clients_when_it_starts(function: str) -> None:
    """It starts with a whole processor, and answers with a fourteenth of one."""
    assert ready_after_start(function, _DEPLOYED) == ["dynamodb", "sqs", "ssm"]


def test_r21_a_service_makes_its_client_when_it_starts() -> None:
    variables = {name: _DEPLOYED[name] for name in [*_DEPLOYED][:3]}
    assert ready_after_start("web", variables) == ["dynamodb"]


def test_r21_the_viewer_makes_its_clients_when_it_starts() -> None:
    variables = {name: told for name, told in _DEPLOYED.items() if name != "CARDSHARP_QUEUE"}
    assert ready_after_start("viewer", variables) == ["dynamodb", "ssm", "pages"]


def test_r21_at_home_none_are_made_before_they_are_needed() -> None:
    home = {name: told for name, told in _DEPLOYED.items() if not name.startswith("AWS_LAMBDA")}
    assert ready_after_start("worker", home) == []


def test_r21_without_a_region_a_function_starts_and_its_first_invocation_says_why() -> None:
    lost = {name: told for name, told in _DEPLOYED.items() if name != "AWS_DEFAULT_REGION"}
    assert ready_after_start("worker", {**lost, "HOME": "/nowhere"}) == []


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
