"""Fixtures of the integration tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.store_fixtures import MatchLogFixture, moto_client, new_dynamodb_log, new_sqlite_log


@pytest.fixture(scope="module")
def moto() -> Iterator[object]:
    """An in-process DynamoDB client."""
    with moto_client() as client:
        yield client


@pytest.fixture(params=["sqlite", "ministack"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MatchLogFixture]:
    """A match log in SQLite, and one in DynamoDB."""
    if request.param == "sqlite":
        log_context = new_sqlite_log(tmp_path)
    else:
        log_context = new_dynamodb_log(request.getfixturevalue("emulator").client("dynamodb"))
    with log_context as log_bench:
        yield log_bench
