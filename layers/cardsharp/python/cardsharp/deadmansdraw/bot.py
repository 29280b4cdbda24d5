"""Attend one match with everything it takes; which match, and since when, is never remembered.

The match is played from what the arena says and nothing else, so any worker can take it up at
any moment. The lease keeps it to one worker at a time; how a turn is played is in
`attendance.py`.
"""

import logging
from dataclasses import dataclass, field
from enum import StrEnum

from cardsharp.cloud.lease import Keeping, LeaseKeeper
from cardsharp.cloud.metrics import Meter, Metric, NoMeter
from cardsharp.cloud.ports import Clock, MatchLog
from cardsharp.deadmansdraw.attendance import Attendance, Remaining, Timing, Worker
from cardsharp.deadmansdraw.seats import Players
from cardsharp.errors import Conflict, NotFound

__all__ = ["Attended", "Bot", "Remaining", "Timing"]

_log = logging.getLogger("cardsharp.bot")


class Attended(StrEnum):
    """How an attendance ended."""

    FINISHED = "finished"
    HANDED_ON = "handed on"
    ELSEWHERE = "attended elsewhere"
    UNKNOWN = "unknown to the arena"


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
        timing = self.timing
        lease = self.log.take(match_id, self.worker, timing.lease)
        if lease is None:
            return Attended.ELSEWHERE
        if lease.fence > 1:
            self.meter.count(Metric.LEASE_STEALS)
        try:
            with LeaseKeeper(
                self.log, lease, Keeping(timing.lease, timing.renew), self.clock
            ) as keeper:
                worker = Worker(self.players, self.log, self.clock, self.worker, self.meter)
                finished = Attendance(worker, timing, match_id, keeper, remaining).run()
                return Attended.FINISHED if finished else Attended.HANDED_ON
        except Conflict as conflict:
            _log.warning("%s", conflict, extra={"match_id": match_id})
            return Attended.ELSEWHERE
        except NotFound as unknown:
            _log.warning("%s", unknown, extra={"match_id": match_id})
            return Attended.UNKNOWN
