"""Ends by itself the turns that nobody ends: the original is told to by a call from outside."""

import logging
from datetime import timedelta

from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.errors import Conflict, StoreError

_log = logging.getLogger(__name__)

LOOK = timedelta(seconds=1)
"""How often it looks."""


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
