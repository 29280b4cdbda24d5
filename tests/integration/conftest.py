"""What several tests of this room run against."""

from collections.abc import Iterator

import pytest
from support.cloud_benches import moto_client

from workbench.cloud.emulator import Emulator


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    """The cloud's services in a process of their own."""
    with Emulator() as running:
        yield running


@pytest.fixture(scope="module")
def moto() -> Iterator[object]:
    """DynamoDB in this process."""
    with moto_client() as client:
        yield client
