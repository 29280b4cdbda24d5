"""Starters for the arena's API, each started as a team would start it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

STARTERS_DIR = Path(__file__).parents[2] / "starters/arena"
START_COMMANDS = {
    "python": [sys.executable, "python/bot.py"],
    "javascript": ["node", "javascript/bot.mjs"],
    "curl": ["bash", "curl/bot.sh"],
    "java": ["java", "java/Bot.java"],
    "go": ["go", "run", "go/bot.go"],
}
REQUIRED_PROGRAMS = {"curl": ["bash", "curl", "jq"]}

StarterProcess = subprocess.Popen[str]


def missing_programs(starter: str) -> list[str]:
    """Return the programs that a starter needs and this machine lacks."""
    return [
        program
        for program in REQUIRED_PROGRAMS.get(starter, START_COMMANDS[starter][:1])
        if shutil.which(program) is None
    ]


def start_starter(
    starter: str,
    url: str,
    player: str,
    *extra_args: str,
    password: str,
    command: list[str] | None = None,
) -> StarterProcess:
    """Start a starter in a new process group; skip the test if a program is missing.

    A `command` replaces the starter's own command.
    """
    if command is None and missing_programs(starter):
        pytest.skip(f"{missing_programs(starter)[0]} is not installed")
    return subprocess.Popen(  # noqa: S603 - our own starters
        [*(command or START_COMMANDS[starter]), url, player, *extra_args],
        cwd=STARTERS_DIR,
        env=os.environ | {"ARENA_PASSWORD": password},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def stop_starters(starters: Iterable[StarterProcess]) -> None:
    """Kill starters with everything that they have started."""
    for starter in starters:
        with suppress(ProcessLookupError):
            os.killpg(starter.pid, signal.SIGKILL)
        starter.communicate()
