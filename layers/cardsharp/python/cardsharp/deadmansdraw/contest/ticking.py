"""What an arena in the cloud does at each tick: end late turns, and direct its contests."""

import logging
from collections.abc import Callable, Iterable

from cardsharp.contest.director import Director
from cardsharp.contest.records import Records
from cardsharp.contest.tables import TableHost
from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.deadmansdraw.arena.ticks import Ticks
from cardsharp.deadmansdraw.arena.watchdog import Watchdog
from cardsharp.errors import CardsharpError

_log = logging.getLogger(__name__)


class Ticking:
    """The work of the ticks; `under_way` brings the contests that have begun and are not over."""

    def __init__(
        self,
        ticks: Ticks,
        referee: Referee,
        tables: TableHost,
        under_way: Callable[[], Iterable[Records]],
    ) -> None:
        self._ticks = ticks
        self._referee = referee
        self._watchdog = Watchdog(referee)
        self._tables = tables
        self._under_way = under_way

    def tick(self, ticket: int, holder: str) -> bool:
        """Do what is due, if the ticket is the holder's; whether another tick follows."""
        if not self._ticks.take(ticket, holder):
            return False
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
        self._watchdog.look()
        # All of them, and matches are looked for after that: a contest may have begun one.
        to_begin = [self._direct(records) for records in self._under_way()]
        return any(to_begin) or any(True for _ in self._referee.lobby.running())

    def _direct(self, records: Records) -> bool:
        """Let a contest take a step; whether it may begin matches after it."""
        try:
            is_over = Director(records, self._tables).step()
        except CardsharpError:
            _log.exception("The contest %s could not take a step", records.settings.name)
            return True
        return not is_over and not records.paused
