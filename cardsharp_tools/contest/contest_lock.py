"""Lock of a contest's folder, which the command that runs the contest holds.

The command holds a lock on one file. A command that waits for it locks a second file.
`contest practice` watches that second file and then hands the folder over to `contest run`. The
kernel releases the locks of a process that dies, so no lock is ever stale.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Annotated

from pydantic import Field, TypeAdapter, ValidationError

from cardsharp.core.clock import utc_now
from cardsharp.core.private_files import ensure_private_file
from cardsharp.core.time_zones import to_local
from cardsharp.errors import ConfigError
from cardsharp_tools.local_play.handler_environment import Notify

DIRECTOR, NEXT_LOCK = "director", "heir"  # lock files of the holder and of the waiting command
HANDOVER_SECONDS = 15.0  # seconds, besides those of a turn, within which practice must hand over
LOCK_POLL_SECONDS, REMINDER_SECONDS = (
    0.05,
    5.0,
)  # seconds between two tries, and between two messages


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Holder of the lock of a contest's folder: command, start time, process and arena."""

    command: str
    since: datetime
    pid: Annotated[int, Field(alias="process")]
    url: str = ""

    def __str__(self) -> str:
        since = f"{to_local(self.since):%H:%M} in process {self.pid}"
        return f"`contest {self.command}` has been running since {since}"


_HOLDER_ADAPTER = TypeAdapter(LockHolder)


@dataclass(frozen=True, slots=True)
class ContestLock:
    """Lock of a contest's folder, held by a command of this process."""

    folder: Path
    holder: LockHolder
    file: IO[str]

    def publish_url(self, url: str) -> None:
        """Tell other commands the address of the contest's arena."""
        _write_holder(self.file, replace(self.holder, url=url))

    def waiting_command(self) -> LockHolder | None:
        """Return the command that waits to take over, or None."""
        return lock_holder(self.folder, NEXT_LOCK)


@contextmanager
def lock_contest(
    folder: Path, command: str, handover_timeout: float = 0, notify: Notify = print
) -> Iterator[ContestLock]:
    """Lock a contest's folder for this process; the lock ends with the process.

    If practice holds it, `contest run` waits up to `handover_timeout` seconds for the handover.
    Raises `ConfigError` if another process holds it, with its name and how to stop it.
    """
    holder = LockHolder(command, utc_now(), os.getpid())
    with _open_lock_file(folder / DIRECTOR) as file:
        if not _try_lock(file):
            _wait_for_handover(file, folder / NEXT_LOCK, holder, handover_timeout, notify)
        lock = ContestLock(folder, holder, file)
        lock.publish_url("")
        yield lock


def lock_holder(folder: Path, file: str = DIRECTOR) -> LockHolder | None:
    """Return the process that holds or, by the other file, waits for a folder; else None."""
    with suppress(FileNotFoundError), (folder / file).open("r+", encoding="utf-8") as lock_file:
        return None if _try_lock(lock_file, tries=1) else _read_holder(lock_file)
    return None


def _wait_for_handover(
    file: IO[str], next_lock: Path, holder: LockHolder, handover_timeout: float, notify: Notify
) -> None:
    """Wait until practice releases the file, then lock it; raise the errors of `lock_contest`."""
    other_holder = _read_holder(file)
    if (
        other_holder is None
        or (holder.command, other_holder.command) != ("run", "practice")
        or not handover_timeout
    ):
        raise _build_busy_error(other_holder)
    with _open_lock_file(next_lock) as waiting:
        if not _try_lock(waiting):
            raise _build_busy_error(_read_holder(waiting))
        _write_holder(waiting, holder)
        began = last_reminder = time.monotonic()
        notify(f"{other_holder}. It ends its running matches and then hands over.")
        while not _try_lock(file, tries=1):
            current_time = time.monotonic()
            if current_time - began > handover_timeout:
                raise _build_busy_error(
                    other_holder, f" and has not handed over within {handover_timeout:.0f} s"
                )
            if current_time - last_reminder > REMINDER_SECONDS:
                last_reminder = current_time
                notify(
                    "Waiting for practice to end, for at most "
                    f"{began + handover_timeout - current_time:.0f} s more ..."
                )
            time.sleep(LOCK_POLL_SECONDS)


def _build_busy_error(holder: LockHolder | None, suffix: str = "") -> ConfigError:
    owner = "Another command is running this contest" if holder is None else holder
    return ConfigError(f"{owner}{suffix}. Stop it there with Ctrl-C and try again.")


def _open_lock_file(path: Path) -> IO[str]:
    ensure_private_file(path)
    return path.open("r+", encoding="utf-8")


def _try_lock(file: IO[str], tries: int = 3) -> bool:
    """Lock the file for this process; return False if another process holds the lock.

    This is tried several times, because a process that only reads the lock holds it for a
    moment.
    """
    for remaining in reversed(range(tries)):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if remaining:
            time.sleep(LOCK_POLL_SECONDS / 5)
    return False


def _read_holder(file: IO[str]) -> LockHolder | None:
    file.seek(0)
    with suppress(ValidationError):
        return _HOLDER_ADAPTER.validate_json(file.read())
    return None


def _write_holder(file: IO[str], holder: LockHolder) -> None:
    """Write the lock's holder in such an order that the file is never empty."""
    text = _HOLDER_ADAPTER.dump_json(holder, by_alias=True).decode()
    file.seek(0)
    file.write(text)
    file.flush()
    file.truncate(len(text))
