"""Imports of a cold start, boto3 in the layer, and what works without `research`."""

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
OF_THE_BOT = ["dynamodb", "sqs", "ssm"]
DEPLOYED = {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_LAMBDA_FUNCTION_NAME": "f",
    "CARDSHARP_STORE": "dynamodb:t",
    "CARDSHARP_QUEUE": "https://sqs.example/q",
    "CARDSHARP_SECRET_ID": "/stack/arena",
}

READ_ONCE = """
import functools, botocore.session  # what AWS says of its services is read by one, not by each
botocore.session.create_loader = functools.cache(botocore.session.create_loader)
"""
READY = f"""{READ_ONCE}
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
        ready = [service for service, _ in (aws._prepared if aws else ())]
        ready += ["ssm"] * ssm_credentials.ssm_provider.cache_info().currsize
        print(*ready, *["pages"] * ("jinja2" in sys.modules), flush=True)
        os._exit(0)
    os.wait()
"""
AT_HOME = """
import sys, cardsharp_tools.cli, cardsharp_tools.games.deadmansdraw.commands.bot
later = {"worker.app", "rich.progress", "boto3", "cardsharp_tools.games.deadmansdraw.match_printer"}
print(*later & sys.modules.keys())
"""
ADDRESSES = f"""{READ_ONCE}
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
WITHOUT = (
    "import sys; sys.modules['cardsharp_tools.research'] = None; from "
    "cardsharp_tools.cli import main; "
    "main(sys.argv[1:]); main(['--help'])"
)
"""An import of the folder fails as it does where there is none."""


def said(program: str, *words: str, env: dict[str, str] | None = None) -> str:
    command = [sys.executable, "-c", program, *words]
    return subprocess.check_output(command, cwd=ROOT, env=env, text=True)  # noqa: S603 - our own


READIES: tuple[tuple[str, tuple[str, ...], list[str]], ...] = (
    *((one, (), OF_THE_BOT) for one in ("worker", "poller", "practice", "director")),
    ("game_api", ("CARDSHARP_QUEUE", "CARDSHARP_SECRET_ID"), ["dynamodb"]),
    ("pages", ("CARDSHARP_QUEUE",), ["dynamodb", "ssm", "pages"]),
    ("worker", ("AWS_LAMBDA_FUNCTION_NAME",), []),
    ("worker", ("AWS_DEFAULT_REGION",), []),
)
"""Each function, the variables that it is without, and what is ready when it has started."""


def test_r21_a_function_makes_its_clients_when_it_starts_and_only_where_it_is_deployed() -> None:
    """It starts with a whole processor, and answers with a fourteenth of one.

    Without a region it starts all the same: its first invocation says why it cannot be used.
    """
    plain = {name: told for name, told in os.environ.items() if not name.startswith("AWS_")}
    asked = [
        (function, {name: told for name, told in DEPLOYED.items() if name not in without})
        for function, without, _ in READIES
    ]
    told = said(READY, json.dumps(asked), env={**plain, "HOME": "/nowhere"})
    assert [line.split() for line in told.splitlines()] == [ready for *_, ready in READIES]


def test_the_bot_at_home_loads_what_plays_after_its_first_request() -> None:
    """Else its start takes long enough on a slow machine to cost a turn."""
    assert said(AT_HOME) == "\n"


def test_without_the_folder_research_the_lab_plays_the_same_and_nobody_offers_it(cli: Cli) -> None:
    duel = ("lab", "duel", "draw-3", "draw-2", "--pairs", "3", "--workers", "1", "--json")
    without, left = said(WITHOUT, *duel).split("\n", 1)
    assert cli(*duel).out == f"{without}\n"
    assert "research" in cli("--help").out
    assert "research" not in left


def test_the_layer_has_the_services_that_the_deployed_code_asks() -> None:
    asked = {
        call.args[0].value
        for folder in ("functions", "layers/cardsharp")
        for file in (ROOT / folder).rglob("*.py")
        if b"client(" in (told := file.read_bytes()) or b"prepare(" in told
        for call in ast.walk(ast.parse(told))
        if isinstance(call, ast.Call)
        and getattr(call.func, "attr", getattr(call.func, "id", "")) in {"client", "prepare"}
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }
    assert asked == SERVICES


def test_what_is_left_of_boto3_makes_the_same_clients_in_every_partition(tmp_path: Path) -> None:
    def made() -> tuple[str, int]:
        """Where clients ask and what they can ask; and the bytes of all files but bytecode."""
        files = [file for file in tmp_path.rglob("*") if file.is_file() and file.suffix != ".pyc"]
        told = said(ADDRESSES, *sorted(SERVICES), env={"PYTHONPATH": str(tmp_path)})
        return told, sum(file.stat().st_size for file in files)

    for name in ("boto3", "botocore"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        shutil.copytree(Path(spec.origin).parent, tmp_path / name)
    before, whole = made()
    subprocess.run([sys.executable, TRIM, tmp_path], check=True)  # noqa: S603 - our own script
    after, size = made()
    assert after == before
    assert len(json.loads(before.rpartition(" ")[0])) == 5 * len(SERVICES)
    assert size < whole / 3
