"""The protocol of attending a match, whatever its game: from the lease to the end or to handing on.

A game supplies an `AttendedMatch`: how it is looked at and waited for, and what a denial means.
Here a match is taken or stolen, set aside where it is denied, and handed on; `attendance` is what
happens between. Which match, and since when, is never remembered.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from cardsharp.cloud.attendance import Attendance, versioned
from cardsharp.cloud.attended import Attended, AttendedMatch, Meet
from cardsharp.cloud.hold import Hold
from cardsharp.cloud.line import OURS, Line
from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.namesake import SteppedBack
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Body, Lease, Remaining
from cardsharp.cloud.timing import Timing
from cardsharp.errors import Conflict, Rejected, StoreError, Unauthorized

_log = logging.getLogger("cardsharp.bot")


@dataclass(frozen=True, slots=True)
class Bot:
    """A worker with everything it needs to attend matches of one game; remembers no match."""

    game: str
    meet: Meet
    offering: Offering
    worker: str
    timing: Timing = field(default_factory=Timing)
    line: Line = OURS
    version: str | None = None  # the state of what plays, as the log is to say it

    def attend(self, match_id: str, remaining: Remaining) -> Attended:
        """Play a match until it ends, the time is up, or another worker holds it.

        Where the time is up before the match is, it is offered to other workers. One in which
        nothing has happened during a long poll is left to the poller, where that is told of it.
        Raises `Unauthorized` if the arena does not accept our credentials. Raises `StoreError` if a
        store failed; the lease runs out by itself. Raises `ConfigError` if the match is to be
        played by a strategy that does not exist.
        """
        with self.meet(match_id) as match:
            attended = self._attend(match, match_id, remaining)
        if attended is Attended.HANDED_ON:
            self.offering.hand_on(match_id, self.game)
        return attended

    def _attend(self, match: AttendedMatch[Any], match_id: str, remaining: Remaining) -> Attended:
        log, meter = self.offering.log, self.offering.meter
        clock, known = self.offering.clock, log.match(match_id)
        asked = clock.monotonic()
        header = match.header and versioned(match.header, self.version)
        lease = log.take(match_id, self.worker, self.timing.lease, header)
        if lease is None:
            return Attended.ELSEWHERE
        self.offering.taken.setdefault(match_id)
        if known is not None and known.lease is not None:
            meter.count(Metric.LEASE_STEALS)
        described = known is not None and bool(known.header)
        try:
            hold = Hold(log, lease, clock, meter, self.timing, remaining, asked)
            with hold.renewing():
                about = None if described else self.version or ""
                attended = Attendance(hold, match, self.line, about).run()
        except Conflict as conflict:
            _log.warning("%s", conflict, extra={"match_id": match_id})
            return Attended.ELSEWHERE
        except SteppedBack:
            with suppress(StoreError):
                log.renew(lease, self.timing.shelf)
            return Attended.ELSEWHERE
        except Rejected as denied:
            self._set_aside(lease, match.gone(denied))
            if isinstance(denied, Unauthorized):
                raise
            _log.warning("%s", denied, extra={"match_id": match_id})
            return Attended.UNKNOWN
        return attended

    def _set_aside(self, lease: Lease, outcome: Body | None) -> None:
        """See to it that a match which the arena denies is not tried again and again.

        It is closed only where the arena itself says that there is none. A match that we have
        played is tried again as soon as its lease has run out, any other after a while.
        """
        log = self.offering.log
        if outcome is not None:
            log.finish(lease, outcome)
            return
        with suppress(StoreError):
            if not log.moves(lease.match_id):
                log.renew(lease, self.timing.shelf)
