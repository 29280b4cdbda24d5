"""Of boto3's data the layer keeps those of the services that functions ask, and these whole."""

import ast
import json
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
TRIM = ROOT / "layers" / "dependencies" / "trim.py"
SERVICES: frozenset[str] = runpy.run_path(str(TRIM))["SERVICES"]

ADDRESSES = """
import json, sys
from boto3.session import Session
told = {}
for region in ("eu-central-1", "us-east-1", "ap-southeast-7", "cn-north-1", "us-gov-west-1"):
    session = Session("a", "b", region_name=region)
    for service in sys.argv[1:]:
        client = session.client(service)
        told[region, service] = [client.meta.endpoint_url, *client.meta.method_to_api_mapping]
print(json.dumps(sorted(told.items())), Session.__module__)
"""


def test_the_services_are_those_that_the_deployed_code_asks() -> None:
    asked = {
        call.args[0].value
        for folder in ("functions", "layers/cardsharp")
        for file in (ROOT / folder).rglob("*.py")
        for call in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(call, ast.Call)
        and getattr(call.func, "attr", getattr(call.func, "id", "")) in {"client", "prepare"}
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }
    assert asked == SERVICES


def test_what_is_left_makes_the_same_clients_in_every_partition(tmp_path: Path) -> None:
    for name in ("boto3", "botocore"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        shutil.copytree(Path(spec.origin).parent, tmp_path / name)
    before = addresses(tmp_path)
    whole = size_of(tmp_path)
    subprocess.run([sys.executable, TRIM, tmp_path], check=True)  # noqa: S603 - our own script
    assert addresses(tmp_path) == before
    assert len(json.loads(before.rpartition(" ")[0])) == 5 * len(SERVICES)
    assert size_of(tmp_path) < whole / 3


def addresses(packages: Path) -> str:
    """Where clients of each service ask, in some regions, and what they can ask."""
    command = [sys.executable, "-c", ADDRESSES, *sorted(SERVICES)]
    environment = {"PYTHONPATH": str(packages)}
    return subprocess.check_output(command, env=environment, text=True)  # noqa: S603 - as above


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder but bytecode."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")
    return sum(file.stat().st_size for file in files)
