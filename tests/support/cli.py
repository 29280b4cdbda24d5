"""The `cardsharp` command as tests call it: in this process, or as a separate program."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# Its handler keeps the stdout of the moment, which must not be that of one test.
import cardsharp.aws.telemetry  # noqa: F401
from cardsharp_tools.cli import main

TEAM_1_ID, TEAM_2_ID = "1" * 24, "2" * 24
TEAM_1_PASSWORD = "teamonepass"

STRATEGY = """{before}
from cardsharp.games.deadmansdraw.actions import END_TURN
from cardsharp.games.deadmansdraw import Decision, PointsOption, strategy

@strategy("{name}")
class Mine:
    'Made for a test.'

    def __init__(self, rng):
        pass

    def decide(self, position):
        {body}
"""


def write_strategy_file(folder: Path, name: str, body: str, preamble: str = "") -> str:
    """Write a strategy file and return its path.

    `body` is its line 13, the decision; `preamble` is its first line.
    """
    path = folder / f"{name}.py"
    path.write_text(STRATEGY.format(before=preamble, name=name, body=body))
    return str(path)


@dataclass(frozen=True)
class CommandResult:
    """Result of a command: its exit code, stdout and stderr."""

    code: int
    out: str
    err: str

    def json(self) -> Any:  # noqa: ANN401 - whatever the command prints
        return json.loads(self.out)


class Cli:
    """Runner of commands in this process, with a separate data folder and without settings."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> CommandResult:
        self._capsys.readouterr()
        code = main(arguments)
        output = self._capsys.readouterr()
        return CommandResult(code, output.out, output.err)


def add_team(cli: Cli, folder: str, name: str) -> tuple[str, str]:
    """Add a team and return its id and password."""
    output = cli("contest", "teams", "add", folder, name).out
    ((user, password),) = re.findall(r"id (\w+), password (\S+)", output)
    return user, password


def isolate_environment(patch: pytest.MonkeyPatch, data_home: Path) -> None:
    """Remove every setting from the environment, and put all data under `data_home`."""
    for name in list(os.environ):
        if name.startswith(("CARDSHARP_", "AWS_", "ARENA_")):
            patch.delenv(name)
    patch.setenv("XDG_DATA_HOME", str(data_home))
    patch.setenv("COLUMNS", "120")


def type_lines(patch: pytest.MonkeyPatch, *lines: str) -> None:
    """Make these lines the whole standard input."""
    patch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


@contextmanager
def start_program(
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    module: str = "cardsharp_tools.cli",
    errors: int = subprocess.PIPE,
) -> Iterator[subprocess.Popen[str]]:
    """Run our command, or another module, as a separate program; kill it at the end."""
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-u", "-m", module, *arguments],
        stdout=subprocess.PIPE,
        stderr=errors,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_line(stream: Any, text: str) -> str:  # noqa: ANN401 - a pipe of text
    """Return the first output line that contains `text`; fail when the output ends."""
    lines = []
    for line in stream:
        lines.append(line)
        if text in line:
            return str(line)
    raise AssertionError(f"no line with {text!r} in {lines}")
