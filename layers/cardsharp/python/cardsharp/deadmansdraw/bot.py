"""Attend one match with everything it takes; which match, and since when, is never remembered.

The match is played from what the arena says and nothing else, so any worker can take it up at
any moment. The lease keeps it to one worker at a time; how a turn is played is in
`attendance.py`.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass, field

from cardsharp.cloud.attended import Attended
from cardsharp.cloud.hold import Hold
from cardsharp.cloud.lease import Keeping, LeaseKeeper
from cardsharp.cloud.metrics import Meter, Metric, NoMeter
from cardsharp.cloud.ports import Clock, Lease, MatchLog
from cardsharp.cloud.timing import Remaining, Timing
from cardsharp.deadmansdraw.attendance import Attendance
from cardsharp.deadmansdraw.briefing import BriefedPlayers
from cardsharp.deadmansdraw.logbook import missing_body
from cardsharp.deadmansdraw.seats import Players
from cardsharp.errors import Conflict, NotFound, Rejected, StoreError, Unauthorized

_log = logging.getLogger("cardsharp.bot")

NO_SUCH_MATCH = "Match does not exist."
"""The arena's own words (PROTOCOL.md section 4)."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A player with everything it needs: seats, match log, time; remembers no match."""

    players: Players
    log: MatchLog
    clock: Clock
    worker: str
    timing: Timing = field(default_factory=Timing)
    meter: Meter = field(default_factory=NoMeter)

    def attend(self, match_id: str, remaining: Remaining) -> Attended:
        """Play a match until it ends, the time is up, or another worker holds it.

        Raises:
            Unauthorized: the arena does not accept our credentials.
            StoreError: the match log failed; the lease runs out by itself.
        """
        known = self.log.match(match_id)
        lease = self.log.take(match_id, self.worker, self.timing.lease)
        if lease is None:
            return Attended.ELSEWHERE
        if known is not None and known.lease is not None:
            self.meter.count(Metric.LEASE_STEALS)
        described = known is not None and bool(known.header)
        try:
            finished = self._attend(lease, remaining, described=described)
        except Conflict as conflict:
            _log.warning("%s", conflict, extra={"match_id": match_id})
            return Attended.ELSEWHERE
        except Rejected as denied:
            self._set_aside(lease, denied, described=described)
            if isinstance(denied, Unauthorized):
                raise
            _log.warning("%s", denied, extra={"match_id": match_id})
            return Attended.UNKNOWN
        return Attended.FINISHED if finished else Attended.HANDED_ON

    def _attend(self, lease: Lease, remaining: Remaining, *, described: bool) -> bool:
        keeping = Keeping(self.timing.lease, self.timing.renew)
        players = BriefedPlayers(self.players.me, self.players.dummy, log=self.log)
        with LeaseKeeper(self.log, lease, keeping, self.clock) as keeper:
            hold = Hold(keeper, self.log, self.clock, self.meter, self.timing, remaining)
            return Attendance(hold, players, described=described).run()

    def _set_aside(self, lease: Lease, denied: Rejected, *, described: bool) -> None:
        """See to it that a match which the arena denies is not tried again and again.

        It is closed only where the arena itself says that there is none: a page of some gateway
        must not end a match that goes on. For the same reason a match that we have played is
        tried again as soon as its lease has run out; any other is kept, unplayed, for a while.
        """
        if isinstance(denied, NotFound) and denied.message == NO_SUCH_MATCH:
            self.log.finish(lease, missing_body())
        elif not described:
            with suppress(StoreError):
                self.log.renew(lease, self.timing.shelf)
