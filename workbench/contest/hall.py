"""A contest's folder while a command has it: its records, and the tables where it is played."""

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cardsharp.cloud.clock import utc_now
from cardsharp.cloud.private import make_private
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
class Hall:
    """A contest under way here; `pause` waits between two steps of a director."""

    records: Records
    tables: PracticeHost
    pause: Callable[[], None]

    def steps(self, step: Callable[[], bool]) -> Iterator[None]:
        """Take steps until one says that it was the last; yields after each."""
        return steps(step, self.pause)


def wait() -> None:
    """Wait between two steps of whoever looks at a contest."""
    time.sleep(PAUSE)


def steps(step: Callable[[], bool], pause: Callable[[], None]) -> Iterator[None]:
    """Take steps until one says that it was the last; yields after each, then waits."""
    over = False
    while not over:
        try:
            over = step()
        except ArenaError as error:
            _log.warning("The arena failed the director: %s", error)
        yield
        if not over:
            pause()


@contextmanager
def hall(folder: Path, command: str, place: ArenaPlace, say: Say) -> Iterator[Hall]:
    """Have a contest's folder for a command: with its arena running, or at tables of its own.

    Raises:
        ConfigError: another process has it, it has fewer than two teams, or no arena to place.
    """
    with (
        kept_in(folder) as records,
        directed(folder, command),
        telemetry_in(folder / "contest.log"),
        warnings_to(say, *WARNING),
    ):
        name, game = records.settings.name, records.settings.game
        if records.settings.has_arena:
            with opened(records, folder, place) as (url, arena):
                say(f"contest {name}: arena at {url}; Ctrl-C stops it.")
                yield Hall(records, KeptTables(arena, folder), wait)
            return
        if place != USUAL:
            raise ConfigError(f"A contest of {game} has no arena: leave its options out.")
        with HomeTables(records, folder, utc_now) as tables:
            say(f"contest {name}: {game}, played here; Ctrl-C stops it.")
            yield Hall(records, tables, tables.pause)


@contextmanager
def directed(folder: Path, command: str) -> Iterator[None]:
    """Have a contest's folder for this process alone; its death gives it free.

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
                f"`{file.read() or 'Another command'}: stop it there with Ctrl-C, and try again."
            ) from None
        file.truncate()
        now = datetime.now().astimezone()
        file.write(f"contest {command}` has run since {now:%H:%M} in process {os.getpid()}")
        file.flush()
        yield
