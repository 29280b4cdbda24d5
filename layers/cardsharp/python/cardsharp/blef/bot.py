"""Attend one seat with everything it takes; which seat, and since when, is never remembered.

The seat is played from what the service says, so any worker can take it up at any moment. The
lease keeps it to one worker at a time; how a turn is played is in `attendance.py`.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

from cardsharp.blef.attendance import Attendance
from cardsharp.blef.client import NO_SEAT, BlefClient
from cardsharp.blef.logbook import refused_body
from cardsharp.blef.seat import GAME, Seat, find_seat, header_body
from cardsharp.blef.strategies import build
from cardsharp.cloud.attended import Attended
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.hold import Hold
from cardsharp.cloud.lease import Keeping, LeaseKeeper
from cardsharp.cloud.metrics import Meter, Metric, NoMeter
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Clock, Lease, MatchLog
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.timing import Remaining, Timing, limits_of, timing_of
from cardsharp.cloud.vault import Vault
from cardsharp.cloud.wiring import build_log, build_pause, build_queue, build_vault
from cardsharp.errors import Conflict, Rejected, StoreError

_log = logging.getLogger("cardsharp.bot")

Connect = Callable[[str], AbstractContextManager[BlefClient]]
"""A session at the service of that address."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A player with everything it needs: vault, match log, time; remembers no game."""

    connect: Connect
    vault: Vault
    log: MatchLog
    clock: Clock
    worker: str
    timing: Timing = field(default_factory=Timing)
    meter: Meter = field(default_factory=NoMeter)

    def attend(self, match_id: str, remaining: Remaining) -> Attended:
        """Play a seat until its game ends, the time is up, or another worker holds it.

        Raises:
            StoreError: vault or match log failed; the lease runs out by itself.
            ConfigError: the seat's strategy does not exist.
        """
        seat = find_seat(self.vault, match_id)
        known = self.log.match(match_id)
        lease = self.log.take(match_id, self.worker, self.timing.lease, header_body(seat))
        if lease is None:
            return Attended.ELSEWHERE
        if known is not None and known.lease is not None:
            self.meter.count(Metric.LEASE_STEALS)
        try:
            finished = self._attend(lease, seat, remaining)
        except Conflict as conflict:
            _log.warning("%s", conflict, extra={"match_id": match_id})
            return Attended.ELSEWHERE
        except Rejected as denied:
            _log.warning("%s", denied, extra={"match_id": match_id})
            self._set_aside(lease, denied)
            return Attended.UNKNOWN
        return Attended.FINISHED if finished else Attended.HANDED_ON

    def _set_aside(self, lease: Lease, denied: Rejected) -> None:
        """Close the match where the service itself says that there is no seat for us in it.

        A page of some gateway must not end a game that goes on: after it we try again later.
        """
        if denied.message in NO_SEAT:
            self.log.finish(lease, refused_body(denied.message))
        else:
            with suppress(StoreError):
                self.log.renew(lease, self.timing.shelf)

    def _attend(self, lease: Lease, seat: Seat, remaining: Remaining) -> bool:
        keeping = Keeping(self.timing.lease, self.timing.renew)
        strategy = build(seat.strategy, Random())
        with (
            self.connect(seat.url) as client,
            LeaseKeeper(self.log, lease, keeping, self.clock) as keeper,
        ):
            hold = Hold(keeper, self.log, self.clock, self.meter, self.timing, remaining)
            return Attendance(hold, client, strategy, self.vault, seat).run()


@dataclass(frozen=True, slots=True)
class Assembly:
    """Bot and offering put together from settings."""

    settings: Workplace
    clock: Clock
    log: MatchLog
    vault: Vault
    offering: Offering
    meter: Meter

    @contextmanager
    def connect(self, url: str) -> Iterator[BlefClient]:
        """A session within the limits of the settings."""
        with BlefClient(url, limits_of(self.settings)) as client:
            yield client

    def bot(self, worker: str) -> Bot:
        """A bot that attends in the name of this worker."""
        timing = timing_of(self.settings)
        return Bot(self.connect, self.vault, self.log, self.clock, worker, timing, self.meter)

    def attend(self, match_id: str, worker: str, remaining: Remaining) -> Attended:
        """Play a seat, and offer it again where the time is up before the game is."""
        attended = self.bot(worker).attend(match_id, remaining)
        if attended is Attended.HANDED_ON:
            self.offering.offer_one(match_id, GAME)
        return attended


@lru_cache(maxsize=8)
def assemble(settings: Workplace, meter: Meter) -> Assembly:
    """The assembly for `settings`, made once a process: its stores keep their connections."""
    clock = SystemClock()
    log, queue = build_log(settings.store, clock), build_queue(settings.queue, clock)
    pause = build_pause(settings.store, clock)
    offering = Offering(log, queue, clock, settings.announce, meter, pause)
    return Assembly(settings, clock, log, build_vault(settings.store, clock), offering, meter)
