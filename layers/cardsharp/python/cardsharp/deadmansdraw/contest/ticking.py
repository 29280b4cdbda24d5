"""What an arena in the cloud does at each tick: end late turns, and direct its contests."""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from cardsharp.contest.director import Course
from cardsharp.contest.records import Records
from cardsharp.contest.tables import PracticeHost
from cardsharp.deadmansdraw.arena.lobby import nobody_told
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.deadmansdraw.arena.ticks import Ticks
from cardsharp.errors import CardsharpError

FORGOTTEN = timedelta(seconds=15)
"""After which the message of a turn may be lost; another one does no harm."""

_log = logging.getLogger(__name__)


class Ticking:
    """The work of the ticks; `under_way` brings the contests that there are to direct.

    From one tick to the next it remembers their courses. Where another process took a tick between
    them it begins anew, as that one may have begun matches. Of a match in which nobody has moved
    for a while it is said again whose turn it is.
    """

    def __init__(
        self,
        ticks: Ticks,
        referee: Referee,
        tables: PracticeHost,
        under_way: Callable[[], Iterable[Records]],
        remind: Callable[[Match], None] = nobody_told,
    ) -> None:
        self._ticks = ticks
        self._referee = referee
        self._tables = tables
        self._under_way, self._remind = under_way, remind
        self._next = 0
        self._courses: dict[str, Course] = {}

    def tick(self, ticket: int, holder: str) -> bool:
        """Do what is due, if the ticket is the holder's; whether another tick follows."""
        if not self._ticks.take(ticket, holder):
            return False
        if ticket != self._next:
            self._courses.clear()
        self._next = ticket + 1
        goes_on = self._work()
        if goes_on:
            self._ticks.follow(ticket)
        return goes_on

    def look(self, holder: str) -> bool:
        """Begin the chain again if it is broken or there is none; whether another tick follows."""
        ticket = self._ticks.broken()
        return ticket is not None and self.tick(ticket, holder)

    def _work(self) -> bool:
        """Whether a match runs now, or a contest is to begin some."""
        self._referee.end_overdue_turns()
        # All of them, and matches are looked for after that: a contest may have begun one.
        to_begin = [self._direct(records) for records in self._under_way()]
        running = list(self._referee.lobby.running())
        for match in running:
            if self._now() - match.last_move_at > FORGOTTEN:
                self._remind(match)
        return any(to_begin) or bool(running)

    def _direct(self, records: Records) -> bool:
        """Let a contest take a step; whether it may begin matches after it."""
        name = records.settings.name
        if name not in self._courses:
            self._courses[name] = Course(records, self._tables, self._now)
        try:
            goes_on = self._courses[name].step()
        except CardsharpError:
            _log.exception("The contest %s could not take a step", name)
            del self._courses[name]
            return True
        return goes_on and not records.paused

    def _now(self) -> datetime:
        return self._referee.origin(None).at
