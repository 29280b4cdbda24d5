"""Imports at cold start, the layer's trimmed boto3, and the library without research/.

An installation may lack the folder cardsharp_tools/research/.
"""

import ast
import json
import os
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from support.cli import Cli

ROOT = Path(__file__).parents[2]
TRIM = ROOT / "layers" / "dependencies" / "trim.py"
SERVICES: frozenset[str] = runpy.run_path(str(TRIM))["SERVICES"]
BOT_SERVICES = ["dynamodb", "sqs", "ssm"]
DEPLOYED_ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_LAMBDA_FUNCTION_NAME": "f",
    "CARDSHARP_STORE": "dynamodb:t",
    "CARDSHARP_QUEUE": "https://sqs.example/q",
    "CARDSHARP_SECRET_ID": "/stack/arena",
}

CACHED_LOADER_CODE = """
import functools, botocore.session  # what AWS says of its services is read by one, not by each
botocore.session.create_loader = functools.cache(botocore.session.create_loader)
"""
PREPARED_CLIENTS_CODE = f"""{CACHED_LOADER_CODE}
import importlib, json, os, sys
import aws_lambda_powertools, boto3, pydantic, requests  # not ours, and the same for all
for service in ("dynamodb", "sqs", "ssm"):
    boto3.Session("a", "b", region_name="eu-central-1").client(service)
for function, variables in json.loads(sys.argv[1]):
    if os.fork() == 0:
        os.environ.update(variables)
        importlib.import_module(f"{{function}}.app")
        from cardsharp.aws import ssm_credentials
        aws = sys.modules.get("cardsharp.aws.client")
        ready = [service for service, _ in (aws._client_cache if aws else ())]
        ready += ["ssm"] * ssm_credentials.ssm_provider.cache_info().currsize
        print(*ready, *["pages"] * ("jinja2" in sys.modules), flush=True)
        os._exit(0)
    os.wait()
"""
LOCAL_IMPORTS_CODE = """
import sys, cardsharp_tools.cli, cardsharp_tools.games.deadmansdraw.commands.bot
later = {"worker.app", "rich.progress", "boto3", "cardsharp_tools.games.deadmansdraw.match_printer"}
print(*later & sys.modules.keys())
"""
ARENA_IMPORTS_CODE = """
import sys
import cardsharp.games.deadmansdraw.arena.app as arena
later = {f"{arena.__package__}.{name}" for name in ("api_types", "openapi", "pages")}
print(*later & sys.modules.keys())
"""
CLIENT_ADDRESSES_CODE = f"""{CACHED_LOADER_CODE}
import json, sys
from boto3.session import Session
told = {{}}
for region in ("eu-central-1", "us-east-1", "ap-southeast-7", "cn-north-1", "us-gov-west-1"):
    session = Session("a", "b", region_name=region)
    for service in sys.argv[1:]:
        client = session.client(service)
        told[region, service] = [client.meta.endpoint_url, *client.meta.method_to_api_mapping]
print(json.dumps(sorted(told.items())), Session.__module__)
"""
WITHOUT_RESEARCH_CODE = (
    "import sys; sys.modules['cardsharp_tools.research'] = None; from "
    "cardsharp_tools.cli import main; "
    "main(sys.argv[1:]); main(['--help'])"
)
"""An import of the folder fails as it does where there is none."""


def run_program(program: str, *arguments: str, env: dict[str, str] | None = None) -> str:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.check_output(command, cwd=ROOT, env=env, text=True)  # noqa: S603 - our own


EXPECTED_CLIENTS: tuple[tuple[str, tuple[str, ...], list[str]], ...] = (
    *((function, (), BOT_SERVICES) for function in ("worker", "poller", "practice", "director")),
    ("game_api", ("CARDSHARP_QUEUE", "CARDSHARP_SECRET_ID"), ["dynamodb"]),
    ("pages", ("CARDSHARP_QUEUE",), ["dynamodb", "ssm", "pages"]),
    ("worker", ("AWS_LAMBDA_FUNCTION_NAME",), []),
    ("worker", ("AWS_DEFAULT_REGION",), []),
)
"""Each function, the variables that it is without, and what is ready when it has started."""


def test_r21_a_function_prepares_its_clients_at_start_and_only_if_deployed() -> None:
    """A function prepares its clients at start, because it has more processor time then.

    Without a region it still starts; its first invocation reports why it cannot be used.
    """
    base_environment = {
        name: value for name, value in os.environ.items() if not name.startswith("AWS_")
    }
    function_environments = [
        (
            function,
            {
                name: value
                for name, value in DEPLOYED_ENVIRONMENT.items()
                if name not in missing_variables
            },
        )
        for function, missing_variables, _ in EXPECTED_CLIENTS
    ]
    output = run_program(
        PREPARED_CLIENTS_CODE,
        json.dumps(function_environments),
        env={**base_environment, "HOME": "/nowhere"},
    )
    assert [line.split() for line in output.splitlines()] == [
        expected_clients for *_, expected_clients in EXPECTED_CLIENTS
    ]


def test_the_local_bot_imports_play_modules_lazily() -> None:
    """Eager imports would make the start slow enough to cost a turn on a slow machine."""
    assert run_program(LOCAL_IMPORTS_CODE) == "\n"


def test_an_arena_starts_without_its_document_and_pages() -> None:
    """Both are made for the first request that needs them, because bots request neither."""
    assert run_program(ARENA_IMPORTS_CODE) == "\n"


def test_lab_works_without_the_research_package_and_hides_its_commands(cli: Cli) -> None:
    duel = ("lab", "duel", "draw-3", "draw-2", "--pairs", "3", "--workers", "1", "--json")
    output_without_research, help_text = run_program(WITHOUT_RESEARCH_CODE, *duel).split("\n", 1)
    assert cli(*duel).out == f"{output_without_research}\n"
    assert "research" in cli("--help").out
    assert "research" not in help_text


def test_the_layer_has_the_services_that_the_deployed_code_asks() -> None:
    requested_services = {
        call.args[0].value
        for folder in ("functions", "layers/cardsharp")
        for file in (ROOT / folder).rglob("*.py")
        if b"client(" in (source_bytes := file.read_bytes()) or b"prepare(" in source_bytes
        for call in ast.walk(ast.parse(source_bytes))
        if isinstance(call, ast.Call)
        and getattr(call.func, "attr", getattr(call.func, "id", "")) in {"client", "prepare"}
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }
    assert requested_services == SERVICES


def test_trimmed_boto3_builds_the_same_clients_in_every_partition(tmp_path: Path) -> None:
    def measure_clients() -> tuple[str, int]:
        """Return the clients' addresses and operations, and the file size without bytecode."""
        files = [file for file in tmp_path.rglob("*") if file.is_file() and file.suffix != ".pyc"]
        addresses = run_program(
            CLIENT_ADDRESSES_CODE, *sorted(SERVICES), env={"PYTHONPATH": str(tmp_path)}
        )
        return addresses, sum(file.stat().st_size for file in files)

    for name in ("boto3", "botocore"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        shutil.copytree(Path(spec.origin).parent, tmp_path / name)
    full_clients, full_size = measure_clients()
    subprocess.run([sys.executable, TRIM, tmp_path], check=True)  # noqa: S603 - our own script
    trimmed_clients, trimmed_size = measure_clients()
    assert trimmed_clients == full_clients
    assert len(json.loads(full_clients.rpartition(" ")[0])) == 5 * len(SERVICES)
    assert trimmed_size < full_size / 3
