"""Tests that every long command ends in order on SIGTERM, as process 1 too."""

import os
import shutil
import signal
import subprocess
from functools import cache
from pathlib import Path

import pytest
from support.cli import Cli
from support.processes import run_command

CONTAINER = ("bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--as-pid-1")
"""Has a command run as process 1."""


@cache
def can_start_container() -> bool:
    """Return True if a container can be started on this machine."""
    is_installed = shutil.which(CONTAINER[0]) is not None
    return is_installed and subprocess.run([*CONTAINER, "true"], check=False).returncode == 0  # noqa: S603


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The data folder of every command that `running` starts in this folder."""
    return tmp_path / "home"


def create_contest(cli: Cli, folder: Path, game: str) -> str:
    """Create a contest whose teams are played locally, and return its folder."""
    cup = str(folder / "cup")
    strategies = ("draw-2", "draw-3") if game == "deadmansdraw" else ("greedy", "random")
    lines: list[tuple[str, ...]] = [
        ("new", cup, "--game", game, "--format", "round-robin", "--timeout", "600")
    ]
    lines += [("teams", "add", cup, name, "--strategy", name) for name in strategies]
    for line in lines:
        outcome = cli("contest", *line)
        assert outcome.code == 0, outcome.err
    return cup


LONG_COMMANDS = [
    ("contest run {blef}", "Ctrl-C stops it", "To continue, type: cardsharp contest run {blef}"),
    ("contest practice {deadmansdraw} --port 0", "Ctrl-C stops it", "To continue, type: cardsharp"),
    ("ladder draw-3 --rerun", "climbs the ladder", "To continue, type: cardsharp ladder draw-3"),
    (
        "lab duel third captain -n 1000000 --pure-python",
        "sample size",
        "To start again, type: cardsharp",
    ),
    (
        "lab duel third captain -n 1000000 --out {run}",
        "sample size",
        "To continue, type: cardsharp",
    ),
    ("bot --url http://127.0.0.1:9 --user us", "Trying again", "To continue, type: cardsharp bot"),
    ("blef serve --port 0", "Ctrl-C stops it", ""),
    ("arena --port 0", "http://", ""),
]


@pytest.fixture(autouse=True)
def bot_password(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the bot's password, because it has no terminal to ask for one."""
    del cli  # which removes all settings from the environment
    monkeypatch.setenv("CARDSHARP_PASSWORD", "secret")


CASES = [
    pytest.param(
        row,
        is_first,
        id=f"{'process 1' if is_first else ''}-{row[0]}",
        # In `make test` every second command is process 1, which has no default signal handlers.
        marks=[] if is_first == (number % 2 == 0) else pytest.mark.slow,
    )
    for number, row in enumerate(LONG_COMMANDS)
    for is_first in (False, True)
]


@pytest.mark.parametrize(("row", "first"), CASES)
def test_sigterm_ends_a_command_in_order(
    cli: Cli, tmp_path: Path, row: tuple[str, str, str], first: bool
) -> None:
    command, ready_text, message = row
    if first and not can_start_container():
        pytest.skip("no container can be made here")
    placeholders = {
        game: create_contest(cli, tmp_path, game)
        for game in ("blef", "deadmansdraw")
        if game in command
    }
    placeholders["run"] = str(tmp_path / "run.jsonl")
    arguments = command.format_map(placeholders).split()
    with run_command(tmp_path, *arguments, prefix=CONTAINER if first else ()) as run:
        run.wait_for_output(ready_text)
        os.kill(run.container_init_process() if first else run.process.pid, signal.SIGTERM)
        assert run.wait_for_exit_code() in {143, 0 if not message else 143}, run.read_output()
        assert message.format_map(placeholders) in run.read_output()
        assert "cut off" not in run.read_output()
        assert "Traceback" not in run.read_output()
        assert run.remaining_processes() == []


STRATEGY_SOURCE = """{before}
from cardsharp.games.blef.strategies import strategy

@strategy("own")
class Own:
    'Made for a test.'

    def __init__(self, rng):
        pass

    def decide(self, position):
        return None
"""


def test_a_contest_does_not_wait_for_a_team_that_is_still_being_imported(
    cli: Cli, tmp_path: Path
) -> None:
    """SIGTERM ends a contest at once, although a team's file is still being imported."""
    cup, pipe = create_contest(cli, tmp_path, "blef"), tmp_path / "imports"
    strategy_file = tmp_path / "own.py"
    os.mkfifo(pipe)
    strategy_file.write_text(STRATEGY_SOURCE.format(before=""))
    add_result = cli("contest", "teams", "add", cup, "Own", "--strategy", str(strategy_file))
    assert add_result.code == 0, add_result.err
    blocking_import = f"import time; open({str(pipe)!r}, 'w').close(); time.sleep(9999)"
    strategy_file.write_text(STRATEGY_SOURCE.format(before=blocking_import))
    with run_command(tmp_path, "contest", "run", cup) as run:
        pipe.read_bytes()
        run.process.send_signal(signal.SIGTERM)
        assert run.wait_for_exit_code() == 143, run.read_output()
        assert "cut off" not in run.read_output()
        assert run.remaining_processes() == []
