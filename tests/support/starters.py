"""The starters for the arena's API, each started as its team would."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KITS = Path(__file__).parents[2] / "starters/arena"
BOTS = {
    "python": [sys.executable, "python/bot.py"],
    "javascript": ["node", "javascript/bot.mjs"],
    "curl": ["bash", "curl/bot.sh"],
    "java": ["java", "java/Bot.java"],
}
NEEDS = {"curl": ["bash", "curl", "jq"]}

Bot = subprocess.Popen[str]


def missing(kit: str) -> list[str]:
    """The programs that a starter needs and this machine lacks."""
    return [one for one in NEEDS.get(kit, BOTS[kit][:1]) if shutil.which(one) is None]


def start(
    kit: str, url: str, player: str, *more: str, password: str, command: list[str] | None = None
) -> Bot:
    """A starter at work, in a group of processes of its own; skips the test where it cannot be.

    A `command` takes the place of the kit's.
    """
    if command is None and missing(kit):
        pytest.skip(f"{missing(kit)[0]} is not installed")
    return subprocess.Popen(  # noqa: S603 - our own starters
        [*(command or BOTS[kit]), url, player, *more],
        cwd=KITS,
        env=os.environ | {"ARENA_PASSWORD": password},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
