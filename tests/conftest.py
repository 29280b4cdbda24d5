"""Fixtures and hooks for all tests."""

import gc
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import botocore.session
import pytest
from hypothesis import HealthCheck, settings
from support.arena_server import running_arena
from support.cli import Cli, isolate_environment
from support.cloud_arena import ArenaFactory, cloud_arena_factory

from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.loopback import loopback_environment

# Speed is measured by benchmarks; a busy machine must not fail a property: neither an example of it
# nor what makes them up has a limit on the clock.
settings.register_profile(
    "cardsharp", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cardsharp")

# What is collected lives to the end: until then looking for garbage would take a third of the time.
gc.disable()

# A job in the background ignores Ctrl-C, and so would every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Servers of tests are on this machine, whatever proxy the environment names.
os.environ.update(loopback_environment())

# Many tests begin a session of AWS: what it is told of the services is read once, not by each.
botocore.session.create_loader = cache(botocore.session.create_loader)


@pytest.fixture(scope="session")
def emulator() -> Iterator[Emulator]:
    """The cloud's services in a process of their own; shared, each test with tables of its own."""
    with Emulator() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Data folder of the program under test; a module can override this fixture."""
    return tmp_path / "data"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path) -> Cli:
    """The program, in this process, with a data folder of its own and no settings."""
    isolate_environment(monkeypatch, home)
    return Cli(capsys)


@pytest.fixture(scope="module", params=["home", pytest.param("cloud", marks=pytest.mark.slow)])
def opened(request: pytest.FixtureRequest) -> Iterator[ArenaFactory]:
    """Context manager that opens an arena, once for each place where arenas run."""
    if request.param == "home":
        yield running_arena
        return
    yield cloud_arena_factory(request.getfixturevalue("emulator"))


DEPLOYED = {"test_aws_cloud.py", "test_aws_build.py"}
"""Modules that share one build of SAM, and of which one has a deployment for all its tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the first worker begin with what is deployed, and then with the longest.

    What a worker begins with no other takes away; a stolen test of these would deploy anew. And
    nobody waits at the end for a test that takes long.
    """
    items.sort(
        key=lambda item: (
            item.path.name not in DEPLOYED,
            item.path.parent.name != "fault_simulation",
        )
    )


def pytest_collection_finish() -> None:
    """Leave what is imported by now out of every later collection of garbage, and have fewer.

    A collection before would take half a second in each worker, and free little.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
    gc.enable()
