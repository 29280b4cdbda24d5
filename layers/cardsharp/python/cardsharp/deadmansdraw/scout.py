"""Find matches that wait for us and that no worker attends, and put them on the queue.

The arena answers at once for as long as it is our turn anywhere, so while every match it names
is attended the scout asks at a calm pace and looks at the leases meanwhile (architecture, "The
life of a match"). A match whose worker died is found twice over: the arena names it when it is
our turn, and the match log knows it as running with a lease that ran out.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from cardsharp.cloud.metrics import Meter, Metric, NoMeter
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.pause import NeverPaused, PauseSwitch
from cardsharp.cloud.ports import Clock, MatchLog, Queue
from cardsharp.cloud.trouble import count_error, pause_after
from cardsharp.deadmansdraw.arena import ArenaClient
from cardsharp.errors import ArenaError, StoreError, Unauthorized

_log = logging.getLogger("cardsharp.scout")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoutTiming:
    """`pace`: least time between two questions to the arena; `watch`: between looks at leases.

    `announce` is how long a message on the queue counts as a worker on its way, and `long_poll`
    the limit of one question.
    """

    pace: timedelta = timedelta(seconds=3)
    watch: timedelta = timedelta(milliseconds=500)
    announce: timedelta = timedelta(seconds=3)
    long_poll: timedelta = timedelta(seconds=40)


@dataclass(frozen=True, slots=True)
class Scout:
    """Everything the poller needs to find work."""

    arena: ArenaClient
    log: MatchLog
    queue: Queue
    clock: Clock
    tags: tuple[str, ...] = ()
    timing: ScoutTiming = field(default_factory=ScoutTiming)
    meter: Meter = field(default_factory=NoMeter)
    pause: PauseSwitch = field(default_factory=NeverPaused)

    def listen(self, remaining: Callable[[], timedelta]) -> int:
        """Offer matches until the time is nearly up; how many were put on the queue.

        Raises:
            Unauthorized: the arena does not accept our credentials.
            StoreError: the match log or the queue failed at the first look; later it may.
        """
        offered = self.offer(())
        while remaining() > self.timing.long_poll:
            asked = self.clock.monotonic()
            named, pause = self._ask()
            offered += self._look(named)
            while self._since(asked) < pause and remaining() > 2 * self.timing.watch:
                self.clock.sleep(min(self.timing.watch, pause - self._since(asked)))
                offered += self._look(named)
        return offered

    def _look(self, named: Iterable[str]) -> int:
        """`offer`, but a failing store only makes it 0: the next look may find it well again."""
        try:
            return self.offer(named)
        except StoreError as error:
            _log.warning("%s", error)
            return 0

    def offer(self, named: Iterable[str]) -> int:
        """Put each unattended match of `named` and of the log on the queue; how many.

        While new matches are paused, only those of the log are.
        """
        return self._offering().offer(named)

    def offer_one(self, match_id: str) -> bool:
        """Put a match on the queue unless somebody attends it or is on the way."""
        return self._offering().offer_one(match_id)

    def _offering(self) -> Offering:
        announce, meter, pause = self.timing.announce, self.meter, self.pause
        return Offering(self.log, self.queue, self.clock, announce, meter, pause)

    def _since(self, moment: float) -> timedelta:
        return timedelta(seconds=self.clock.monotonic() - moment)

    def _ask(self) -> tuple[list[str], timedelta]:
        """The matches that wait for us, and the least time until the next question."""
        try:
            named = [match.id for match in self.arena.waiting_matches(self.tags)]
        except Unauthorized:
            raise
        except ArenaError as error:
            count_error(self.meter, error)
            _log.warning("%s", error)
            return [], pause_after(error, self.timing.pace)
        self.meter.count(Metric.POLLS)
        return named, self.timing.pace
