"""What several tests of this room run against."""

from collections.abc import Iterator

import pytest
from support.cloud_benches import moto_client


@pytest.fixture(scope="module")
def moto() -> Iterator[object]:
    """DynamoDB in this process."""
    with moto_client() as client:
        yield client
