"""Find matches that wait for us and that no worker attends, and put them on the queue.

The arena answers at once for as long as it is our turn anywhere, so while every match it names
is attended the scout asks at a calm pace and looks at the leases meanwhile (architecture, "The
life of a match"). A match whose worker died is found twice over: the arena names it when it is
our turn, and the match log knows it as running with a lease that ran out.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Remaining
from cardsharp.cloud.trouble import count_error, pause_after
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.errors import ArenaError, StoreError, Unauthorized

_log = logging.getLogger("cardsharp.scout")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoutTiming:
    """`pace`: least time between two questions to the arena; `watch`: between looks at leases.

    `long_poll` is the limit of one question.
    """

    pace: timedelta = timedelta(seconds=3)
    watch: timedelta = timedelta(milliseconds=500)
    long_poll: timedelta = timedelta(seconds=40)


@dataclass(frozen=True, slots=True)
class Scout:
    """Everything the poller needs to find work."""

    arena: ArenaClient
    offering: Offering
    tags: tuple[str, ...] = ()
    timing: ScoutTiming = field(default_factory=ScoutTiming)

    def listen(self, remaining: Remaining) -> int:
        """Offer matches until the time is nearly up; how many were put on the queue.

        Raises:
            Unauthorized: the arena does not accept our credentials.
            StoreError: the match log or the queue failed at the first look; later it may.
        """
        offered, clock = self.offering.offer(), self.offering.clock
        while remaining() > self.timing.long_poll:
            asked = clock.monotonic()
            named, pause = self._ask()
            offered += self._look(named)
            while self._since(asked) < pause and remaining() > 2 * self.timing.watch:
                clock.sleep(min(self.timing.watch, pause - self._since(asked)))
                offered += self._look(named)
        return offered

    def _look(self, named: Iterable[str]) -> int:
        """`offer`, but a failing store only makes it 0: the next look may find it well again."""
        try:
            return self.offering.offer(named)
        except StoreError as error:
            _log.warning("%s", error)
            return 0

    def _since(self, moment: float) -> timedelta:
        return timedelta(seconds=self.offering.clock.monotonic() - moment)

    def _ask(self) -> tuple[list[str], timedelta]:
        """The matches that wait for us, and the least time until the next question."""
        meter = self.offering.meter
        try:
            named = [match.id for match in self.arena.waiting_matches(self.tags)]
        except Unauthorized:
            raise
        except ArenaError as error:
            count_error(meter, error)
            _log.warning("%s", error)
            return [], pause_after(error, self.timing.pace)
        meter.count(Metric.POLLS)
        return named, self.timing.pace
