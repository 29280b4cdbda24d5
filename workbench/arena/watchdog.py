"""Ends by itself the turns that nobody ends: the original is told to by a call from outside."""

import logging
from datetime import timedelta

from cardsharp.errors import StoreError
from workbench.arena.referee import Referee

_log = logging.getLogger(__name__)

LOOK = timedelta(seconds=1)
"""How often it looks."""


class Watchdog:
    """Ends a turn by force once it has been late for `grace`.

    Until then the late player's own action, or the organiser's call, ends it as in the original.
    Nobody could move while the arena was not there, so at its start every turn has all its time
    again.
    """

    def __init__(self, referee: Referee, grace: timedelta) -> None:
        self._referee = referee
        self._grace = grace
        self._since = referee.origin(None).at

    def look(self) -> int:
        """How many turns were ended now."""
        ended = 0
        origin = self._referee.origin(None)
        for match in list(self._referee.lobby.running()):
            limit = match.params.limit()
            begun = max(match.last_move_at, self._since)
            if limit is not None and origin.at - begun > limit + self._grace:
                try:
                    self._referee.end_turn(match, origin)
                except StoreError:
                    _log.exception("The late turn of match %s could not be ended", match.id)
                else:
                    ended += 1
        return ended
