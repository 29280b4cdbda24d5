"""Put matches that no worker attends on the queue, whatever their game."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

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
    """Everything that it takes to offer a match; `announce` is for how long one is on its way."""

    log: MatchLog
    queue: Queue
    clock: Clock
    announce: timedelta = timedelta(seconds=3)
    meter: Meter = field(default_factory=NoMeter)
    pause: PauseSwitch = field(default_factory=NeverPaused)

    def offer(self, named: Iterable[str] = ()) -> int:
        """Put each unattended match of `named` and of the log on the queue; how many.

        A named match that was closed is opened again where it goes on. While new matches are
        paused, only those are offered that run in the log.
        """
        now = self.clock.now()
        running = {record.match_id: record for record in self.log.running()}
        self.meter.count(Metric.RUNNING, len(running))
        ids = dict.fromkeys((*named, *running))
        waiting = [i for i in ids if i not in running or not running[i].attended(now)]
        if not running.keys() >= set(waiting) and self.pause.is_on():
            waiting = [i for i in waiting if i in running]
        return sum(
            self.offer_one(i, game_of(running.get(i))) or (i not in running and self._reopen(i))
            for i in waiting
        )

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
        if not self.log.announce(match_id, self.announce):
            return False
        self.queue.send(MatchMessage(match_id=match_id, game=game).body)
        self.meter.count(Metric.OFFERS)
        _log.info("offered", extra={"match_id": match_id})
        return True

    def _reopen(self, match_id: str) -> bool:
        """Open a named match again and offer it, if it was closed and yet goes on."""
        match = self.log.match(match_id)
        if match is None or not self._goes_on(match) or not self.log.reopen(match):
            return False
        _log.warning("opened again, for the arena names it", extra={"match_id": match_id})
        return self.offer_one(match_id, game_of(match))

    def _goes_on(self, match: MatchRecord) -> bool:
        """Whether a closed match that the arena names was closed as missing, or its end is lost."""
        if match.outcome is None or match.finished is None:
            return False
        missing = match.outcome.get("result") == MISSING
        return missing or self.clock.now() - match.finished >= SETTLED


def game_of(record: MatchRecord | None) -> str | None:
    """The game of a match as its header has it, None where it was not written down yet."""
    game = None if record is None else record.header.get("game")
    return game if isinstance(game, str) else None
