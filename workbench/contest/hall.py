"""A contest's folder while a command has it: its records, and the tables where it is played."""

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from cardsharp.cloud.clock import utc_now
from cardsharp.cloud.private import make_private
from cardsharp.contest.acts import Desk
from cardsharp.contest.course import Course
from cardsharp.contest.meetings import Meeting
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import kept_in
from cardsharp.contest.tables import PracticeHost
from cardsharp.errors import ArenaError, ConfigError
from workbench.contest.home import USUAL, KeptTables, opened
from workbench.contest.tables import PAUSE, HomeTables
from workbench.show.options import ArenaPlace
from workbench.stage.surroundings import Say, telemetry_in, warnings_to

WARNING = ("cardsharp.deadmansdraw.arena", "workbench.contest")
"""Whose warnings are said while a contest is under way."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Holder:
    """Which command has a contest's folder, since when and in which process, and its arena."""

    command: str
    since: datetime
    process: int
    url: str = ""


_HOLDER = TypeAdapter(Holder)


@dataclass(frozen=True, slots=True)
class Hall:
    """A contest under way: `step` takes it further, where that is ours to do; `pause` waits.

    `meetings` are the matches of practice that have ended.
    """

    records: Records
    step: Callable[[], object]
    meetings: Callable[[], Iterable[Meeting]]
    pause: Callable[[], None]

    def steps(self, over: Callable[[], bool]) -> Iterator[None]:
        """Take steps until it is over; yields after each."""
        return steps(self.step, over, self.pause)


def wait() -> None:
    """Wait between two steps of whoever looks at a contest."""
    time.sleep(PAUSE)


def steps(
    step: Callable[[], object], over: Callable[[], bool], pause: Callable[[], None]
) -> Iterator[None]:
    """Take steps until it is over; yields after each, then waits."""
    while True:
        try:
            step()
            is_over = over()
        except ArenaError as error:
            _log.warning("The arena failed the director: %s", error)
            is_over = False
        yield
        if is_over:
            return
        pause()


@contextmanager
def hall(folder: Path, command: str, place: ArenaPlace, say: Say) -> Iterator[Hall]:
    """Have a contest's folder for a command: with its arena running, or at tables of its own.

    Raises:
        ConfigError: another process has it, it has fewer than two teams, or no arena to place.
    """
    with (
        kept_in(folder) as records,
        directed(folder, command) as at,
        telemetry_in(folder / "contest.log"),
        warnings_to(say, *WARNING),
    ):
        name, game = records.settings.name, records.settings.game
        Desk(records, utc_now).note(f"contest {command} begins")
        if records.settings.has_arena:
            with opened(records, folder, place) as (url, arena):
                at(url)
                say(f"contest {name}: arena at {url}; Ctrl-C stops it.")
                yield _directing(records, KeptTables(arena, folder), wait)
            return
        if place != USUAL:
            raise ConfigError(f"A contest of {game} has no arena: leave its options out.")
        with HomeTables(records, folder, utc_now) as tables:
            say(f"contest {name}: {game}, played here; Ctrl-C stops it.")
            yield _directing(records, tables, tables.pause)


def _directing(records: Records, tables: PracticeHost, pause: Callable[[], None]) -> Hall:
    course = Course(records, tables, utc_now)
    return Hall(records, course.step, lambda: course.meetings, pause)


@contextmanager
def directed(folder: Path, command: str) -> Iterator[Callable[[str], None]]:
    """Have a contest's folder for this process alone; its death gives it free.

    Yields what tells others where the arena is.

    Raises:
        ConfigError: another process has it; says which, and how to stop it.
    """
    path = folder / "director"
    make_private(path)
    with path.open("r+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"{_told(file.read())}: stop it there with Ctrl-C, and try again."
            ) from None
        file.truncate()
        holder = Holder(command, datetime.now().astimezone(), os.getpid())

        def at(url: str) -> None:
            file.seek(0)
            file.write(_HOLDER.dump_json(replace(holder, url=url)).decode())
            file.flush()

        at("")
        yield at


def holder_of(folder: Path) -> Holder | None:
    """Which command of this machine has a contest's folder; None while none has."""
    path = folder / "director"
    with suppress(FileNotFoundError, ValidationError), path.open("r+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _HOLDER.validate_json(file.read())
    return None


def _told(text: str) -> str:
    try:
        holder = _HOLDER.validate_json(text)
    except ValidationError:
        return "Another command has the contest"
    since = f"{holder.since:%H:%M} in process {holder.process}"
    return f"`contest {holder.command}` has run since {since}"
