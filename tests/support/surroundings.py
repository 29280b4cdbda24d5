"""Environments of a command, and a small selection that covers all pairs of their values."""

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from pathlib import Path
from threading import Timer

UNPRIVILEGED_UID = 65_534
_AS_UNPRIVILEGED_USER = (
    *("setpriv", f"--reuid={UNPRIVILEGED_UID}", f"--regid={UNPRIVILEGED_UID}", "--clear-groups"),
    # The interpreter and the project may lie in root's own folder; nothing can be written by this.
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)

ENCODINGS: Mapping[str, Mapping[str, str]] = {
    "utf-8": {"LC_ALL": "C.UTF-8"},
    "latin-1": {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "latin-1"},
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
"""Variables by encoding; ASCII is that of the whole process, its files and names included."""

STREAMS = ("terminal", "pipe", "closed input", "closed output")
HOMES = ("umlauts", "read-only", "unset")
PROXIES = ("none", "named")
USERS = ("root", "nobody")

_TIMEOUT_SECONDS = 500  # seconds after which a command hangs, on a machine however busy


@cache
def other_user_problem() -> str:
    """Return the reason why no command can run as another user, "" if it can."""
    if os.getuid() != 0:
        return "only root can start a command as another user"
    if shutil.which("setpriv") is None:
        return "setpriv, which starts a command as another user, is missing"
    command = [*_AS_UNPRIVILEGED_USER, sys.executable, "-c", "import cardsharp_tools"]
    completed = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own words
    return completed.stderr.decode(errors="replace")


@dataclass(frozen=True)
class CommandEnvironment:
    """Environment of a command; the constants of this module have the possible values."""

    encoding: str
    stream: str
    home: str
    proxy: str
    user: str

    def __str__(self) -> str:
        return f"{self.encoding}, {self.stream}, home {self.home}, proxy {self.proxy}, {self.user}"


@dataclass(frozen=True)
class CompletedCommand:
    """Completed command: its exit code and output; a terminal's output is in `out`."""

    code: int
    out: bytes
    err: bytes


def all_pairs(*factors: Sequence[str]) -> list[tuple[str, ...]]:
    """Return rows in which each two values of two factors occur together.

    There may be a few more rows than needed.
    """
    uncovered = {
        ((i, a), (j, b))
        for i, j in combinations(range(len(factors)), 2)
        for a, b in product(factors[i], factors[j])
    }

    def pairs(row: Iterable[str]) -> set[tuple[tuple[int, str], tuple[int, str]]]:
        return {*combinations(enumerate(row), 2)}

    all_rows, rows = list(product(*factors)), list[tuple[str, ...]]()
    while uncovered:
        best_row = max(all_rows, key=lambda row: len(pairs(row) & uncovered))
        rows.append(best_row)
        uncovered -= pairs(best_row)
    return rows


def run_in_environment(
    environment: CommandEnvironment,
    arguments: Sequence[str],
    folder: Path,
    variables: Mapping[str, str],
    starter: Sequence[str] = (),
) -> CompletedCommand:
    """Run a command line in that environment, from `folder`, to its end.

    A `starter` is a command that executes the command line.
    """
    command = [*starter, sys.executable, "-m", "cardsharp_tools.cli", *arguments]
    if environment.user == "nobody":
        command = [*_AS_UNPRIVILEGED_USER, *command]
    redirection = {"closed input": "<&-", "closed output": ">&-"}.get(environment.stream)
    if redirection is not None:
        command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *command]
    if environment.stream == "terminal":
        return _run_in_terminal(command, folder, variables)
    completed = subprocess.run(  # noqa: S603 - our own words
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=folder,
        env=variables,
        check=False,
        timeout=_TIMEOUT_SECONDS,
    )
    return CompletedCommand(completed.returncode, completed.stdout, completed.stderr)


def _run_in_terminal(
    command: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> CompletedCommand:
    """Run a command in a terminal where the end of the input is typed at once."""
    master, slave = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - our own words
        command, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=variables
    )
    os.close(slave)
    os.write(master, b"\x04")
    output, kill_timer = bytearray(), Timer(_TIMEOUT_SECONDS, process.kill)
    kill_timer.start()
    with suppress(OSError):  # the end of the last who has the terminal
        while chunk := os.read(master, 65_536):
            output += chunk
    kill_timer.cancel()
    os.close(master)
    return CompletedCommand(process.wait(), bytes(output), b"")
