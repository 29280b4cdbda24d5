"""Put matches that no worker attends on the queue, whatever their game."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cardsharp.cloud.messages import MatchMessage
from cardsharp.cloud.metrics import Meter, Metric, NoMeter
from cardsharp.cloud.pause import NeverPaused, PauseSwitch
from cardsharp.cloud.ports import Clock, MatchLog, MatchRecord, Queue
from cardsharp.errors import StoreError

MISSING = "unknown"
"""The result of a match that was closed because the arena said that there is none."""

SETTLED = timedelta(seconds=10)
"""Whoever names a match so long after its end has lost the end; before, the naming may be old."""

_log = logging.getLogger("cardsharp.scout")


@dataclass(frozen=True, slots=True)
class Offering:
    """Everything that it takes to offer a match.

    `announce` is for how long a match is on its way. Where no worker came meanwhile, it is offered
    again for longer and longer, at most for `longest`.
    """

    log: MatchLog
    queue: Queue
    clock: Clock
    announce: timedelta = timedelta(seconds=3)
    meter: Meter = field(default_factory=NoMeter)
    pause: PauseSwitch = field(default_factory=NeverPaused)
    longest: timedelta = timedelta(seconds=30)

    def offer(self, named: Iterable[str] = ()) -> int:
        """Put each unattended match of `named` and of the log on the queue; how many.

        A named match that was closed is opened again where it goes on. While new matches are
        paused, only those are offered that run in the log.
        """
        running = {record.match_id: record for record in self.log.running()}
        self.meter.count(Metric.RUNNING, len(running))
        known = {i: running.get(i) or self.log.match(i) for i in named} | running
        now = self.clock.now()
        waiting = {i: one for i, one in known.items() if one is None or not one.attended(now)}
        if not running.keys() >= waiting.keys() and self.pause.is_on():
            waiting = {i: one for i, one in waiting.items() if i in running}
        return sum(self._offer(i, record, now) for i, record in waiting.items())

    def watch(self, every: timedelta, remaining: Callable[[], timedelta]) -> int:
        """Offer what the log has until the time is nearly up; how many were put on the queue.

        A failing store only makes a look useless: the next may find it well again.
        """
        offered = 0
        while remaining() > every:
            try:
                offered += self.offer()
            except StoreError as error:
                _log.warning("%s", error)
            self.clock.sleep(every)
        return offered

    def offer_one(self, match_id: str, game: str | None = None) -> bool:
        """Put a match on the queue unless somebody attends it or is on the way."""
        return self._send(match_id, game, self.announce)

    def _offer(self, match_id: str, record: MatchRecord | None, now: datetime) -> bool:
        """Offer a match that nobody attended at `now`, as far as this record says."""
        if record is None:
            return self.offer_one(match_id)
        if record.outcome is not None:
            return self._reopened(record) and self.offer_one(match_id, game_of(record))
        alone = now - (record.left or record.started)
        ttl = min(self.announce + max(alone, timedelta(0)), self.longest)
        if not self._send(match_id, game_of(record), ttl):
            return False
        if record.announced_until is not None:
            self.meter.count(Metric.UNANSWERED)
            _log.warning("no worker came for %s", alone, extra={"match_id": match_id})
        return True

    def _send(self, match_id: str, game: str | None, ttl: timedelta) -> bool:
        """Announce a match for so long and put it on the queue, unless somebody else has."""
        if not self.log.announce(match_id, ttl):
            return False
        self.queue.send(MatchMessage(match_id=match_id, game=game).body)
        self.meter.count(Metric.OFFERS)
        _log.info("offered", extra={"match_id": match_id})
        return True

    def _reopened(self, match: MatchRecord) -> bool:
        """Open a named match again if it was closed and yet goes on."""
        if not self._goes_on(match) or not self.log.reopen(match):
            return False
        _log.warning("opened again, for the arena names it", extra={"match_id": match.match_id})
        return True

    def _goes_on(self, match: MatchRecord) -> bool:
        """Whether a closed match that the arena names was closed as missing, or its end is lost."""
        missing = (match.outcome or {}).get("result") == MISSING
        ended = match.finished or self.clock.now()
        return missing or self.clock.now() - ended >= SETTLED


def game_of(record: MatchRecord | None) -> str | None:
    """The game of a match as its header has it, None where it was not written down yet."""
    game = None if record is None else record.header.get("game")
    return game if isinstance(game, str) else None
