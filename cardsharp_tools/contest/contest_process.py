"""A contest's folder while a command runs it: the lock, the records, and the match host.

The command that runs the contest holds a lock on one file. A command that waits for it locks a
second file. `contest practice` watches that second file and then hands the folder over to
`contest run`. The kernel releases the locks of a process that dies, so no lock is ever stale.
"""

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import IO, Annotated

from pydantic import Field, TypeAdapter, ValidationError

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.contest_file import open_contest_in
from cardsharp.contest.director import ContestRunner
from cardsharp.contest.match_host import MatchHost
from cardsharp.contest.models import PracticeMatch
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import utc_now
from cardsharp.core.private_files import create_private_file
from cardsharp.core.time_zones import to_local
from cardsharp.errors import ArenaError, ConfigError
from cardsharp_tools.cli.options import ArenaServerOptions
from cardsharp_tools.contest.contest_arena import (
    DEFAULT_LISTEN_OPTIONS,
    LoggingMatchHost,
    run_arena_and_local_players,
)
from cardsharp_tools.contest.local_match_host import STEP_INTERVAL_SECONDS, LocalMatchHost
from cardsharp_tools.local_play.handler_environment import (
    Notify,
    forward_warnings,
    redirect_telemetry,
)

FORWARDED_LOGGERS = ("cardsharp.games.deadmansdraw.arena", "cardsharp_tools.contest")
"""Loggers whose warnings are printed while a contest runs."""

_log = logging.getLogger(__name__)


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
class ContestLoop:
    """Loop that runs a contest: `step` advances it, and `pause` waits between two steps.

    `practice_matches` returns the practice matches that have ended, and `next_lock` the
    command that waits to take over.
    """

    records: ContestRecords
    step: Callable[[], object]
    practice_matches: Callable[[], Iterable[PracticeMatch]]
    pause: Callable[[], None]
    next_lock: Callable[[], LockHolder | None] = lambda: None

    def iterate_steps_until(self, is_over: Callable[[], bool]) -> Iterator[None]:
        """Take steps until the contest is over; yield after each one."""
        return run_steps(self.step, is_over, self.pause)

    def iterate_practice_steps_until(self, end: datetime) -> Iterator[None]:
        """Take steps until practice ends by time, or because `contest run` waits for the folder.

        Running matches then get the time of one turn to end; the contest plays the others to their
        end. If the waiting command goes away, practice continues until `end`.
        """
        last_heir: LockHolder | None = None
        limit = timedelta(seconds=self.records.settings.timeout)

        def is_over() -> bool:
            nonlocal last_heir
            if self.records.practice_until is None:
                return True
            if (heir := self.next_lock()) != last_heir:
                last_heir = heir
                self.records.set_practice_until(end if heir is None else heir.since)
            return heir is not None and utc_now() > heir.since + limit

        return self.iterate_steps_until(is_over)


def sleep_between_steps() -> None:
    """Wait between two steps of an observer of a contest."""
    time.sleep(STEP_INTERVAL_SECONDS)


def run_steps(
    run_step: Callable[[], object], is_finished: Callable[[], bool], pause: Callable[[], None]
) -> Iterator[None]:
    """Take steps until `is_finished`; yield after each one, then wait."""
    while True:
        try:
            run_step()
            is_over = is_finished()
        except ArenaError as error:
            _log.warning("A request of the contest's director failed at the arena: %s", error)
            is_over = False
        yield
        if is_over:
            return
        pause()


def check_team_count(records: ContestRecords) -> None:
    """Raise `ConfigError` if a contest has too few teams to begin."""
    if len(records.teams()) < 2:  # noqa: PLR2004 - a pairing needs two
        raise ConfigError(
            "A contest needs at least two teams. Enter them with `cardsharp contest teams add`."
        )


@contextmanager
def open_contest(
    folder: Path, command: str, listen_options: ArenaServerOptions, notify: Notify
) -> Iterator[ContestLoop]:
    """Lock a contest's folder and start its arena or match host; raise `ConfigError` on failure."""
    with (
        open_contest_in(folder) as records,
        lock_contest(folder, command, records.settings.timeout + HANDOVER_SECONDS, notify) as at,
        redirect_telemetry(folder / "contest.log"),
        forward_warnings(notify, *FORWARDED_LOGGERS),
        ExitStack() as stack,
    ):
        name, game = records.settings.name, records.settings.game
        ContestAdmin(records, utc_now).add_history_entry(f"contest {command} begins")
        check_team_count(records)
        tables: MatchHost
        if records.settings.has_arena:
            url, arena = stack.enter_context(
                run_arena_and_local_players(records, folder, listen_options)
            )
            at(url)
            notify(f"contest {name}: arena at {url}; Ctrl-C stops it.")
            tables, pause = LoggingMatchHost(arena, folder), sleep_between_steps
        elif listen_options != DEFAULT_LISTEN_OPTIONS:
            raise ConfigError(
                f"A contest of {game} has no arena. Remove the options for its address."
            )
        else:
            tables = local_host = stack.enter_context(LocalMatchHost(records, folder, utc_now))
            notify(f"contest {name}: {game}, played here; Ctrl-C stops it.")
            pause = local_host.wait_for_match_end
        course, heir = (
            ContestRunner(records, tables, utc_now),
            partial(lock_holder, folder, NEXT_LOCK),
        )
        yield ContestLoop(records, course.step, lambda: course.ended_practice_matches, pause, heir)


@contextmanager
def lock_contest(
    folder: Path, command: str, handover_timeout: float = 0, notify: Notify = print
) -> Iterator[Callable[[str], None]]:
    """Lock a contest's folder for this process; the lock ends with the process.

    If practice holds it, `contest run` waits up to `handover_timeout` seconds for the handover.
    Yields a function that publishes the arena's address. Raises `ConfigError` if another process
    holds it, with its name and how to stop it.
    """
    holder = LockHolder(command, utc_now(), os.getpid())
    with _open_lock_file(folder / DIRECTOR) as file:
        if not _try_lock(file):
            _wait_for_handover(file, folder / NEXT_LOCK, holder, handover_timeout, notify)

        def at(url: str) -> None:
            _write_holder(file, replace(holder, url=url))

        at("")
        yield at


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
    create_private_file(path)
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
