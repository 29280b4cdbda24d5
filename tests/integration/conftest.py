"""Fixtures of the integration tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.store_fixtures import LogBench, dynamo_log, moto_client, sqlite_log


@pytest.fixture(scope="module")
def moto() -> Iterator[object]:
    """DynamoDB in this process."""
    with moto_client() as client:
        yield client


@pytest.fixture(params=["sqlite", "ministack"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LogBench]:
    """A match log at each of its homes."""
    if request.param == "sqlite":
        opened = sqlite_log(tmp_path)
    else:
        opened = dynamo_log(request.getfixturevalue("emulator").client("dynamodb"))
    with opened as ready:
        yield ready
