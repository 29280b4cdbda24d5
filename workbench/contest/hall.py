"""A contest's folder while a command has it: its records, and the tables where it is played."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.acts import Desk
from cardsharp.contest.director import Course
from cardsharp.contest.entries import Meeting
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import kept_in
from cardsharp.contest.tables import PracticeHost
from cardsharp.errors import ArenaError, ConfigError
from workbench.contest.home import USUAL, KeptTables, opened
from workbench.contest.lease import ANSWER, HEIR, Holder, directed, holder_of
from workbench.contest.tables import PAUSE, HomeTables
from workbench.show.options import ArenaPlace
from workbench.stage.surroundings import Say, telemetry_in, warnings_to

WARNING = ("cardsharp.deadmansdraw.arena", "workbench.contest")
"""Whose warnings are said while a contest is under way."""

_log = logging.getLogger(__name__)


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


@contextmanager
def hall(folder: Path, command: str, place: ArenaPlace, say: Say) -> Iterator[Hall]:
    """Have a contest's folder for a command: with its arena running, or at tables of its own.

    Raises:
        ConfigError: another process has it, it has fewer than two teams, or no arena to place.
    """
    with (
        kept_in(folder) as records,
        directed(folder, command, records.settings.timeout + ANSWER, say) as at,
        telemetry_in(folder / "contest.log"),
        warnings_to(say, *WARNING),
    ):
        name, game = records.settings.name, records.settings.game
        Desk(records, utc_now).note(f"contest {command} begins")
        if records.settings.has_arena:
            with opened(records, folder, place) as (url, arena):
                at(url)
                say(f"contest {name}: arena at {url}; Ctrl-C stops it.")
                yield _directing(records, folder, KeptTables(arena, folder), wait)
            return
        if place != USUAL:
            raise ConfigError(f"A contest of {game} has no arena: leave its options out.")
        with HomeTables(records, folder, utc_now) as tables:
            say(f"contest {name}: {game}, played here; Ctrl-C stops it.")
            yield _directing(records, folder, tables, tables.pause)


def _directing(
    records: Records, folder: Path, tables: PracticeHost, pause: Callable[[], None]
) -> Hall:
    course, heir = Course(records, tables, utc_now), partial(holder_of, folder, HEIR)
    return Hall(records, course.step, lambda: course.meetings, pause, heir)
