# ruff: noqa: INP001 - a script beside its makefile
"""Leave in a layer only what boto3 knows about the services that our functions ask.

`python3 trim.py FOLDER`, where FOLDER has boto3 and botocore. Code is not touched: a client of
another service says that its data are unknown. Run by the makefile, on any Python from 3.9 on.
"""

import json
import shutil
import sys
from pathlib import Path

SERVICES = frozenset({"apigatewaymanagementapi", "dynamodb", "sqs", "ssm"})
"""As `cardsharp.aws` asks for clients (tests/unit/test_cloud_imports.py)."""

_ENDPOINTS = SERVICES | {"execute-api"}
"""As `endpoints.json` calls them; the last is that of the feed."""


def trim(folder: Path) -> None:
    """Remove what describes other services, and what only documentation is made of."""
    data = folder / "botocore" / "data"
    for service in data.iterdir():
        if service.is_dir() and service.name not in SERVICES:
            shutil.rmtree(service)
    for examples in data.glob("*/*/examples-1.json"):
        examples.unlink()
    for unused in ("data", "examples"):  # resources, which nobody here has a use for
        shutil.rmtree(folder / "boto3" / unused)
    endpoints = data / "endpoints.json"
    told = json.loads(endpoints.read_text("utf-8"))
    for partition in told["partitions"]:
        known = partition["services"]
        partition["services"] = {name: known[name] for name in known if name in _ENDPOINTS}
    endpoints.write_text(json.dumps(told, separators=(",", ":")), "utf-8")


if __name__ == "__main__":
    trim(Path(sys.argv[1]))
