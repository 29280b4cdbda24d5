"""Put matches that no worker attends on the queue, whatever their game."""

import logging
from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from cardsharp.cloud.messages import MatchMessage
from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.cloud.ports import Clock, MatchLog, MatchRecord, Outwaited, Queue, Status
from cardsharp.cloud.switches import Switchboard
from cardsharp.errors import StoreError


class Onlooker:
    """What one process has seen, and since when, in its own monotonic seconds.

    Machines do not agree on the time, and a clock can be an hour wrong. So nobody reads a moment
    that another machine has written: a lease or an announcement is over when an onlooker has seen
    it unchanged for as long as it lasts, by its own clock, from its own first look.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, float]] = {}

    def idle(self, match: MatchRecord, now: float) -> timedelta:
        """For how long, at least, nothing was written of a match that was just read."""
        beat, since = self._seen.get(match.match_id, (match.beat, now))
        self._seen[match.match_id] = match.beat, since if beat == match.beat else now
        return timedelta(seconds=now - self._seen[match.match_id][1])

    def outwaited(self, match: MatchRecord, now: float) -> Outwaited | None:
        """That nobody attends a match that was just read, None where somebody may."""
        idle = self.idle(match, now)
        return Outwaited(match.beat, idle) if match.ttl is None or idle >= match.ttl else None

    def forget_all_but(self, ids: Container[str]) -> None:
        """Forget the matches that nobody looks at any more."""
        self._seen = {name: seen for name, seen in self._seen.items() if name in ids}


MISSING = "unknown"  # the result of a match that the arena said it does not have
GIVEN_UP = "given up"  # the result of a match that was closed because it took longer than any may
SETTLED = timedelta(seconds=10)  # who names a match so long after its end has lost the end
_log = logging.getLogger("cardsharp.scout")


@dataclass(frozen=True, slots=True)
class Offering:
    """Everything that it takes to offer a match; made once a process, for it remembers its looks.

    `announce` is for how long a match is on its way. Where no worker came meanwhile, it is offered
    again for longer and longer, at most for `longest`. One that began longer than `oldest` ago and
    that no arena names is given up. `taken` are the ids of the matches that workers of this process
    have taken, in that order: other processes use the same log.
    """

    log: MatchLog
    queue: Queue
    clock: Clock
    announce: timedelta = timedelta(seconds=3)
    meter: Meter = field(default_factory=Meter)
    switchboard: Switchboard = field(default_factory=Switchboard)
    longest: timedelta = timedelta(seconds=30)
    oldest: timedelta = timedelta(days=7)
    onlooker: Onlooker = field(default_factory=Onlooker)
    left: set[str] = field(default_factory=set)
    taken: dict[str, None] = field(default_factory=dict)

    def offer(self, named: Iterable[str] = (), most: int | None = None) -> int:
        """Put each unattended match of `named` and of the log on the queue; how many.

        A named match that was closed is opened again where it goes on. Of those that do not run
        in the log no more are offered than an operator leaves room for, nor than `most` at once,
        which the limit of requests feeds.
        """
        running = {record.match_id: record for record in self.log.running()}
        self.meter.count(Metric.RUNNING, len(running))
        for game, number in Counter(filter(None, map(game_of, running.values()))).items():
            self.meter.count(Metric.RUNNING, number, game=game)
        named = tuple(named)
        known = {i: running.get(i) or self.log.match(i) for i in named} | running
        self.onlooker.forget_all_but(known)
        waiting = {
            i: one for i, one in known.items() if one is None or self._outwaited(one, i in named)
        }
        offered, room = 0, len(waiting)
        if not running.keys() >= waiting.keys():
            under_way = known.keys() - waiting.keys() | running.keys()
            room = self._room(len(under_way), room, most)
        for match_id, record in waiting.items():
            is_new = match_id not in running
            if is_new and not room:
                self._leave(match_id, most)
            elif self._offer(match_id, record, named=match_id in named):
                offered += 1
                room -= is_new
        return offered

    def _leave(self, match_id: str, most: int | None) -> None:
        """Say, once, that a match is left alone, as an operator or the limit of requests has it."""
        if match_id not in self.left:
            self.left.add(match_id)
            fed = "" if most is None else f" (the limit of requests feeds {most} at once)"
            _log.warning("left alone: paused, or enough run%s", fed, extra={"match_id": match_id})

    def _room(self, under_way: int, room: int, most: int | None) -> int:
        """How many matches may be taken up besides those that run or are on the queue, at most."""
        switches = self.switchboard.read()
        if switches.paused:
            return 0
        bounds = [at_once for at_once in (switches.at_once, most) if at_once is not None]
        return max(0, min(bounds) - under_way) if bounds else room

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
        """Put a match on the queue unless somebody may attend it or be on the way."""
        return self._send(match_id, game, self.announce)

    def hand_on(self, match_id: str, game: str) -> bool:
        """Offer a match that its worker has no time for any more, unless it is too old for that.

        The next look of the poller then gives it up, or goes on with it if the arena names it.
        """
        return not self._is_old(self.log.match(match_id)) and self.offer_one(match_id, game)

    def _is_old(self, record: MatchRecord | None) -> bool:
        return record is not None and self.clock.now() - record.started > self.oldest

    def _offer(self, match_id: str, record: MatchRecord | None, *, named: bool) -> bool:
        """Offer a match that nobody attends, as far as this record says."""
        if record is None:
            return self.offer_one(match_id)
        if record.status is Status.FINISHED:
            return self._reopened(record) and self.offer_one(match_id, game_of(record))
        if not named and self._is_old(record):
            return self._given_up(record)
        in_vain = record.ttl if record.announced else None
        ttl = self.announce if in_vain is None else min(2 * in_vain, self.longest)
        if not self._send(match_id, game_of(record), ttl, self._outwaited(record, named)):
            return False
        if in_vain is not None:
            self.meter.count(Metric.UNANSWERED)
            _log.warning("no worker came for %s", in_vain, extra={"match_id": match_id})
        return True

    def _send(
        self, match_id: str, game: str | None, ttl: timedelta, seen: Outwaited | None = None
    ) -> bool:
        """Announce a match for so long and put it on the queue, if it is free, or still as seen."""
        if not self.log.announce(match_id, ttl, seen):
            return False
        self.queue.send(MatchMessage(match_id=match_id, game=game).body)
        self.meter.count(Metric.OFFERS)
        _log.info("offered", extra={"match_id": match_id})
        return True

    def _outwaited(self, match: MatchRecord, named: bool = False) -> Outwaited | None:
        """That nobody attends a match; one that rests is wanted at once when it is named."""
        if named and match.rests:
            return Outwaited(match.beat, timedelta(0))
        return self.onlooker.outwaited(match, self.clock.monotonic())

    def _reopened(self, match: MatchRecord) -> bool:
        """Open a named match again if it was closed and yet goes on."""
        # It was closed as missing, or its end is lost.
        goes_on = (match.outcome or {}).get("result") == MISSING or (
            self.onlooker.idle(match, self.clock.monotonic()) >= SETTLED
        )
        if not goes_on or not self.log.reopen(match):
            return False
        _log.warning("opened again, for the arena names it", extra={"match_id": match.match_id})
        return True

    def _given_up(self, record: MatchRecord) -> bool:
        """Close a match that nobody attends, so that it takes no more workers; never offered."""
        if self.log.announce(record.match_id, self.announce, self._outwaited(record)):
            lease = self.log.take(record.match_id, GIVEN_UP, self.announce)
            if lease is not None:
                self.log.finish(lease, {"result": GIVEN_UP})
                _log.warning("given up after %s", self.oldest, extra={"match_id": lease.match_id})
        return False


def game_of(record: MatchRecord | None) -> str | None:
    """The game of a match as its header has it, None where it was not written down yet."""
    game = None if record is None else record.header.get("game")
    return game if isinstance(game, str) else None
