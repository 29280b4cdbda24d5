"""A contest's folder while a command has it: its records, and the tables where it is played.

Who has it has locked a file, and who waits for it another one, at which a practice looks: so it
hands the folder over to the contest. The death of a process gives its locks free.
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
from typing import IO

from pydantic import TypeAdapter, ValidationError

from cardsharp.cloud.clock import utc_now
from cardsharp.cloud.private import make_private
from cardsharp.contest.acts import Desk
from cardsharp.contest.director import Course
from cardsharp.contest.entries import Meeting
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import kept_in
from cardsharp.contest.tables import TableHost
from cardsharp.errors import ArenaError, ConfigError
from cardsharp.time_zones import to_local
from workbench.contest.home import USUAL, KeptTables, opened
from workbench.contest.tables import PAUSE, HomeTables
from workbench.show.options import ArenaPlace
from workbench.stage.surroundings import Say, telemetry_in, warnings_to

WARNING = ("cardsharp.deadmansdraw.arena", "workbench.contest")
"""Whose warnings are said while a contest is under way."""

_log = logging.getLogger(__name__)


DIRECTOR, HEIR = "director", "heir"  # the files that the two have locked
ANSWER = 15.0  # seconds, beside those of a turn, in which a practice has handed its folder over
LOOK, TOLD = 0.05, 5.0  # seconds between looks whether it has, and between words about that


@dataclass(frozen=True, slots=True)
class Holder:
    """Which command has a contest's folder, since when and in which process, and its arena."""

    command: str
    since: datetime
    process: int
    url: str = ""

    def __str__(self) -> str:
        since = f"{to_local(self.since):%H:%M} in process {self.process}"
        return f"`contest {self.command}` has run since {since}"


_HOLDER = TypeAdapter(Holder)


@dataclass(frozen=True, slots=True)
class Hall:
    """A contest under way: `step` takes it further, where that is ours to do; `pause` waits.

    `meetings` are the matches of practice that have ended, and `heir` is who waits to take over.
    """

    records: Records
    step: Callable[[], object]
    meetings: Callable[[], Iterable[Meeting]]
    pause: Callable[[], None]
    heir: Callable[[], Holder | None] = lambda: None

    def steps(self, over: Callable[[], bool]) -> Iterator[None]:
        """Take steps until it is over; yields after each."""
        return steps(self.step, over, self.pause)

    def practice(self, end: datetime) -> Iterator[None]:
        """Take steps until practice is over: its time is, or `contest run` waits for the folder.

        Then the matches that are played have as long as a turn to end; the contest plays the others
        on. Should who waits go away, practice goes on until `end`.
        """
        known: Holder | None = None
        limit = timedelta(seconds=self.records.settings.timeout)

        def is_over() -> bool:
            nonlocal known
            if self.records.practises_until is None:
                return True
            if (heir := self.heir()) != known:
                known = heir
                self.records.practise(end if heir is None else heir.since)
            return heir is not None and utc_now() > heir.since + limit

        return self.steps(is_over)


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


def check_enough(records: Records) -> None:
    """Raise `ConfigError` where a contest has too few teams to begin."""
    if len(records.teams()) < 2:  # noqa: PLR2004 - nobody meets anybody
        raise ConfigError("A contest has two teams at least; `cardsharp contest teams add`.")


@contextmanager
def hall(folder: Path, command: str, place: ArenaPlace, say: Say) -> Iterator[Hall]:
    """Have a contest's folder, its arena running or tables of its own; raises `ConfigError`."""
    with (
        kept_in(folder) as records,
        directed(folder, command, records.settings.timeout + ANSWER, say) as at,
        telemetry_in(folder / "contest.log"),
        warnings_to(say, *WARNING),
        ExitStack() as stack,
    ):
        name, game = records.settings.name, records.settings.game
        Desk(records, utc_now).note(f"contest {command} begins")
        check_enough(records)
        tables: TableHost
        if records.settings.has_arena:
            url, arena = stack.enter_context(opened(records, folder, place))
            at(url)
            say(f"contest {name}: arena at {url}; Ctrl-C stops it.")
            tables, pause = KeptTables(arena, folder), wait
        elif place != USUAL:
            raise ConfigError(f"A contest of {game} has no arena: leave its options out.")
        else:
            tables = own = stack.enter_context(HomeTables(records, folder, utc_now))
            say(f"contest {name}: {game}, played here; Ctrl-C stops it.")
            pause = own.pause
        course, heir = Course(records, tables, utc_now), partial(holder_of, folder, HEIR)
        yield Hall(records, course.step, lambda: course.meetings, pause, heir)


@contextmanager
def directed(
    folder: Path, command: str, patience: float = 0, say: Say = print
) -> Iterator[Callable[[str], None]]:
    """Have a contest's folder for this process alone; its death gives it free.

    Where practice has it, `contest run` waits so many seconds until it is handed over. Yields what
    tells others where the arena is. Raises `ConfigError` if another process has it; says which, and
    how to stop it.
    """
    own = Holder(command, utc_now(), os.getpid())
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
