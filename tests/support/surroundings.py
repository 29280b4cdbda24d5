"""Environments in which a command may be started, and a small selection covering all pairs."""

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

_LIMIT = 500  # seconds after which a command hangs, on a machine however busy


@cache
def lacking_user() -> str:
    """Return the reason why no command can run as another user, "" if it can."""
    if os.getuid() != 0:
        return "only root can start a command as another user"
    if shutil.which("setpriv") is None:
        return "setpriv, which starts a command as another user, is missing"
    line = [*_AS_UNPRIVILEGED_USER, sys.executable, "-c", "import cardsharp_tools"]
    done = subprocess.run(line, capture_output=True, check=False)  # noqa: S603 - our own words
    return done.stderr.decode(errors="replace")


@dataclass(frozen=True)
class Surroundings:
    """Environment of a command; the lists above have the possible values."""

    encoding: str
    stream: str
    home: str
    proxy: str
    user: str

    def __str__(self) -> str:
        return f"{self.encoding}, {self.stream}, home {self.home}, proxy {self.proxy}, {self.user}"


@dataclass(frozen=True)
class CompletedCommand:
    """A completed command: its exit code and its output; a terminal's output is in `out`."""

    code: int
    out: bytes
    err: bytes


def all_pairs(*factors: Sequence[str]) -> list[tuple[str, ...]]:
    """Rows in which each two values of two factors occur together, a few more than must be."""
    missing = {
        ((i, a), (j, b))
        for i, j in combinations(range(len(factors)), 2)
        for a, b in product(factors[i], factors[j])
    }

    def pairs(row: Iterable[str]) -> set[tuple[tuple[int, str], tuple[int, str]]]:
        return {*combinations(enumerate(row), 2)}

    every, rows = list(product(*factors)), list[tuple[str, ...]]()
    while missing:
        best = max(every, key=lambda row: len(pairs(row) & missing))
        rows.append(best)
        missing -= pairs(best)
    return rows


def run_in(
    around: Surroundings,
    words: Sequence[str],
    folder: Path,
    variables: Mapping[str, str],
    starter: Sequence[str] = (),
) -> CompletedCommand:
    """Run the command line there, from `folder`, to its end; by a `starter` that execs it."""
    line = [*starter, sys.executable, "-m", "cardsharp_tools.cli", *words]
    if around.user == "nobody":
        line = [*_AS_UNPRIVILEGED_USER, *line]
    closing = {"closed input": "<&-", "closed output": ">&-"}.get(around.stream)
    if closing is not None:
        line = ["sh", "-c", f'exec "$@" {closing}', "sh", *line]
    if around.stream == "terminal":
        return _in_terminal(line, folder, variables)
    done = subprocess.run(  # noqa: S603 - our own words
        line,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=folder,
        env=variables,
        check=False,
        timeout=_LIMIT,
    )
    return CompletedCommand(done.returncode, done.stdout, done.stderr)


def _in_terminal(
    line: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> CompletedCommand:
    """Run it in a terminal at which somebody types the end of the input at once."""
    master, slave = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - our own words
        line, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=variables
    )
    os.close(slave)
    os.write(master, b"\x04")
    out, alarm = bytearray(), Timer(_LIMIT, process.kill)
    alarm.start()
    with suppress(OSError):  # the end of the last who has the terminal
        while read := os.read(master, 65_536):
            out += read
    alarm.cancel()
    os.close(master)
    return CompletedCommand(process.wait(), bytes(out), b"")
