"""Which command has a contest's folder, and how practice hands the folder over to the contest.

Who has it has locked a file, and who waits for it another one, at which a practice looks. The
death of a process gives its locks free.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO

from pydantic import TypeAdapter, ValidationError

from cardsharp.cloud.private import make_private
from cardsharp.errors import ConfigError
from workbench.stage.surroundings import Say

DIRECTOR, HEIR = "director", "heir"  # the files that the two have locked
ANSWER = 15.0  # seconds, beside those of a turn, in which a practice has handed its folder over

LOOK, TOLD = 0.05, 5.0
"""Seconds between two looks whether it has, and from one word about that to the next."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Which command has a contest's folder, since when and in which process, and its arena."""

    command: str
    since: datetime
    process: int
    url: str = ""

    def __str__(self) -> str:
        since = f"{self.since:%H:%M} in process {self.process}"
        return f"`contest {self.command}` has run since {since}"


_HOLDER = TypeAdapter(Holder)


@contextmanager
def directed(
    folder: Path, command: str, patience: float = 0, say: Say = print
) -> Iterator[Callable[[str], None]]:
    """Have a contest's folder for this process alone; its death gives it free.

    Where practice has it, `contest run` waits so many seconds until it is handed over. Yields what
    tells others where the arena is. Raises `ConfigError` if another process has it; says which, and
    how to stop it.
    """
    own = Holder(command, datetime.now().astimezone(), os.getpid())
    with _opened(folder / DIRECTOR) as file:
        if not _is_taken(file):
            _await_end(file, folder / HEIR, own, patience, say)

        def at(url: str) -> None:
            _write(file, replace(own, url=url))

        at("")
        yield at


def holder_of(folder: Path, file: str = DIRECTOR) -> Holder | None:
    """Which command of this machine has a contest's folder, or waits for it; None while none."""
    with suppress(FileNotFoundError), (folder / file).open("r+", encoding="utf-8") as known:
        return None if _is_taken(known, tries=1) else _read(known)
    return None


def _await_end(file: IO[str], heir: Path, own: Holder, patience: float, say: Say) -> None:
    """Wait until a practice has given the file free, and have it; raises as `directed`."""
    other = _read(file)
    if other is None or (own.command, other.command) != ("run", "practice") or not patience:
        raise _busy(other)
    with _opened(heir) as waiting:
        if not _is_taken(waiting):
            raise _busy(_read(waiting))
        _write(waiting, own)
        began = told = time.monotonic()
        say(f"{other}: it ends the matches that are played, and hands over.")
        while not _is_taken(file, tries=1):
            now = time.monotonic()
            if now - began > patience:
                raise _busy(other, f", and has not handed over within {patience:.0f} s")
            if now - told > TOLD:
                told = now
                say(f"waiting for practice to end, for {began + patience - now:.0f} s at most ...")
            time.sleep(LOOK)


def _busy(holder: Holder | None, more: str = "") -> ConfigError:
    who = "Another command has the contest" if holder is None else holder
    return ConfigError(f"{who}{more}: stop it there with Ctrl-C, and try again.")


def _opened(path: Path) -> IO[str]:
    make_private(path)
    return path.open("r+", encoding="utf-8")


def _is_taken(file: IO[str], tries: int = 3) -> bool:
    """Whether we have the file now; another process that only looks has it for a moment."""
    for left in reversed(range(tries)):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if left:
            time.sleep(LOOK / 5)
    return False


def _read(file: IO[str]) -> Holder | None:
    file.seek(0)
    with suppress(ValidationError):
        return _HOLDER.validate_json(file.read())
    return None


def _write(file: IO[str], holder: Holder) -> None:
    """Write who has it; at no moment is nothing there."""
    text = _HOLDER.dump_json(holder).decode()
    file.seek(0)
    file.write(text)
    file.flush()
    file.truncate(len(text))
