"""Ends by itself the turns that nobody ends: the original is told to by a call from outside."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.errors import Conflict, StoreError

_log = logging.getLogger(__name__)

LOOK = timedelta(seconds=1)
"""How often it looks."""


STANDSTILL = timedelta(seconds=2)
"""So long after the last look the whole process must have stood still, not only been busy."""


class Awake:
    """A clock that is looked at all the time, and calls `resumed` where it was not.

    A laptop was shut, or a machine stopped and went on: nobody could move meanwhile.
    """

    def __init__(self, clock: Callable[[], datetime], resumed: Callable[[datetime], None]) -> None:
        self._clock, self._resumed = clock, resumed
        self._seen = clock()

    def __call__(self) -> datetime:
        """What the clock says."""
        now = self._clock()
        stood_still, self._seen = now - self._seen > STANDSTILL, now
        if stood_still:
            _log.warning("The arena stood still; every turn has all its time again")
            self._resumed(now)
        return now


class Watchdog:
    """Ends a turn by force once it has been late for `grace`.

    Until then the late player's own action, or the organiser's call, ends it as in the original.
    """

    def __init__(self, referee: Referee, grace: timedelta = timedelta()) -> None:
        self._referee = referee
        self._grace = grace

    def look(self) -> int:
        """How many turns were ended now."""
        ended = 0
        origin = self._referee.origin(None)
        for match in list(self._referee.lobby.running()):
            if self._referee.is_late(match, origin.at, self._grace):
                try:
                    self._referee.end_turn(match, origin)
                except Conflict:
                    _log.info("Match %s has gone on meanwhile", match.id)
                except StoreError:
                    _log.exception("The late turn of match %s could not be ended", match.id)
                else:
                    ended += 1
        return ended
