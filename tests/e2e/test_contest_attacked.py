"""A contest goes on while faulty clients try to starve it: nobody's turn is late."""

import re
import resource
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.strangers import HABITS

from cardsharp.access import ha1
from cardsharp.contest.entries import Entrant, Settings
from cardsharp.contest.sqlite import found_in, kept_in

SUPPORT = Path(__file__).parents[1] / "support"
WORD = "a-long-word-of-the-team"
HANDLES = 1024
GOOD = [name for name, habit in HABITS.items() if not habit.hurries]
"""Eight of our own and unlike ours; who hurries is slowed, and may be late."""


@dataclass
class Seen:
    """What was seen of the contest's process: most handles, most memory in bytes, pages' times."""

    handles: int = 0
    memory: int = 0
    pages: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def look(self, process: int, url: str) -> None:
        self.handles = max(self.handles, len(list(Path(f"/proc/{process}/fd").iterdir())))
        status = Path(f"/proc/{process}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        if found is None:  # it has just ended
            return
        self.memory = max(self.memory, 1024 * int(found[1]))
        began = time.monotonic()
        with urllib.request.urlopen(f"{url}/contest", timeout=30) as page:  # noqa: S310 - ours
            page.read()
        self.pages.append(time.monotonic() - began)


@contextmanager
def program(*command: str, **settings: object) -> Iterator["subprocess.Popen[str]"]:
    """A program as long as the block runs."""
    process = subprocess.Popen(  # noqa: S603 - ours
        [sys.executable, *command], text=True, stdin=subprocess.DEVNULL, **settings
    )  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def attacked(folder: Path, teams: int, timeout: float, seconds: float, connections: int) -> Seen:
    """Hold a contest to its end under attack; what was seen meanwhile."""
    records = found_in(folder / "cup", Settings("cup", matches=1, timeout=timeout))
    ids = [f"{number:024x}" for number in range(1, teams + 1)]
    for user in ids:
        records.add(Entrant(user, f"Team {user[-2:]}", ha1(user, WORD)))
    records.close()
    seen = Seen()
    with ExitStack() as stack:
        error = stack.enter_context((folder / "contest.err").open("w"))
        contest = stack.enter_context(
            program(
                *("-m", "workbench.cli", "contest", "run", str(folder / "cup")),
                *("--port", "0", "--public"),
                stdout=subprocess.DEVNULL,
                stderr=error,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (HANDLES, HANDLES)),
            )
        )
        url = told_address(folder / "contest.err")
        attack = ("attackers.py", url, str(seconds), str(connections), ids[0])
        stack.enter_context(
            program(str(SUPPORT / attack[0]), *attack[1:], stdout=subprocess.DEVNULL)
        )
        for number, user in enumerate(ids):
            habit = GOOD[number % len(GOOD)]
            stack.enter_context(
                program(
                    *(str(SUPPORT / "strangers.py"), habit, url, user, "cup"),
                    env={"ARENA_PASSWORD": WORD},
                    stderr=subprocess.DEVNULL,
                )
            )
        while contest.poll() is None:
            try:
                seen.look(contest.pid, url)
            except OSError as error:
                seen.missed.append(repr(error))
        assert contest.returncode == 0
    return seen


def told_address(file: Path) -> str:
    """Where the contest's arena is, once it says so."""
    deadline = time.monotonic() + 30
    pause = 0.05
    while not (found := re.search(r"http://[\d.:]+", file.read_text())):
        assert time.monotonic() < deadline
        time.sleep(pause)
    return found[0]


def late_turns(folder: Path) -> list[tuple[int, int]]:
    """Of each match that was played, the turns of either side that ran out."""
    with kept_in(folder / "cup") as records:
        return [facts.late for result in records.results() for facts in result.facts]


@pytest.mark.slow
def test_a_small_contest_under_attack_is_played_without_a_late_turn(tmp_path: Path) -> None:
    """And its process takes no more handles than it may have, nor memory, nor room for its log."""
    seen = attacked(tmp_path, teams=4, timeout=20, seconds=8, connections=2 * HANDLES)
    late = late_turns(tmp_path)
    print(seen, late)  # noqa: T201 - the attack's figures
    assert len(late) >= 6
    assert set(late) == {(0, 0)}
    assert seen.handles < HANDLES
    assert seen.memory < 400_000_000
    assert (tmp_path / "cup/contest.log").stat().st_size < 100_000
