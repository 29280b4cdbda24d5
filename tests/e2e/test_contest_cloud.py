"""A contest in a deployed stack, played to its end through an upgrade and a killed director."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.aws_build import native_build
from support.cli import Cli, line_with, program
from support.contest_stores import contests_in

from cardsharp.access import Address, Credentials
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.contest.entries import Settings
from cardsharp.contest.sqlite import found_in
from workbench.build.artifacts import Build
from workbench.build.deploy import STACK_SERVICES, deploy
from workbench.build.target import native_architecture
from workbench.cloud.emulator import Emulator
from workbench.cloud.template import ARENA
from workbench.contest.home import play_on
from workbench.operate.stack import Stack, find_stack
from workbench.stage.opponent import Order

NAME = "cup-stack"
TEAMS = ("draw-2", "draw-3", "third")
"""Strategies that do the same in the same position, as teams."""

SETTINGS = Settings("cup", matches=1, most=3, timeout=60, seed="a secret of this test")
LONG = 1200


def stack(emulator: Emulator, built: Build, log_level: str = "INFO") -> Stack:
    """The arena's stack, new or updated."""
    parameters = {
        "Architecture": native_architecture(),
        "LogLevel": log_level,
    }
    deploy(emulator, built, NAME, parameters, ARENA)
    return find_stack(NAME, emulator.client)


def kill_director(emulator: Emulator) -> int:
    """How many processes of the deployed director there were."""
    killed = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if str(emulator.folder).encode() in line and b"Director" in line:
            os.kill(int(folder.name), signal.SIGKILL)
            killed += 1
    return killed


@contextmanager
def at_play(emulator: Emulator, made: Stack, words: dict[str, Credentials]) -> Iterator[None]:
    """The teams at the deployed arena, which the emulator has below a path of its own."""
    api = made.outputs["deadmansdrawUrl"].partition("//")[2].partition(".")[0]
    url = f"{emulator.endpoint}/_aws/execute-api/{api}/$default"
    over = threading.Event()
    for name, who in words.items():
        play_on(Order(url, who.user, who.password, name, name), Address(url), over)
    yield
    over.set()


def results(cli: Cli, *contest: str) -> list[tuple[object, ...]]:
    """Who met whom, with the points of each match, and who won."""
    rows = cli("contest", "results", *contest, "--json").json()
    return [(row["pairing"], row["teams"], row["points"], row["winner"]) for row in rows]


@pytest.mark.slow
@pytest.mark.timeout(LONG)
def test_a_contest_survives_an_upgrade_and_a_killed_director(
    cli: Cli,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the results, to the points, of the same contest at home that nobody disturbs."""
    home = str(tmp_path / "cup")
    found_in(Path(home), SETTINGS).close()
    for name in TEAMS:
        cli("contest", "teams", "add", home, name, "--strategy", name)
    assert cli("contest", "run", home, "--port", "0").code == 0
    built = native_build(tmp_path_factory)
    with Emulator(STACK_SERVICES) as emulator:
        for name, value in emulator.environment.items():
            monkeypatch.setenv(name, value)
        made = stack(emulator, built)
        table = DynamoTable(made.ids["deadmansdrawTable"], emulator.client("dynamodb"))
        contests_in(table, emulator.client("dynamodb")).found(SETTINGS)
        words = {}
        for name in TEAMS:
            line = cli("contest", "teams", "add", "cup", name, "--stack", NAME).out
            team, _, password = line.partition("id ")[2].strip().partition(", password ")
            words[name] = Credentials(team, password)
        with (
            at_play(emulator, made, words),
            program("contest", "run", "cup", "--stack", NAME) as running,
        ):
            line_with(running.stdout, "pairing 1")
            assert kill_director(emulator) > 0
            line_with(running.stdout, "pairing 2")
            stack(emulator, built, "DEBUG")
            line_with(running.stdout, "won by")
            assert running.wait(timeout=10) == 0
        assert results(cli, "cup", "--stack", NAME) == results(cli, home)
