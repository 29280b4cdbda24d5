"""Put matches that no worker attends on the queue, whatever their game."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from cardsharp.bot.control.runtime_settings import RuntimeSettingsStore
from cardsharp.bot.lease_observer import LeaseObserver
from cardsharp.bot.queueing.messages import MatchMessage
from cardsharp.core.clock import Clock
from cardsharp.core.metrics import Metric, Metrics
from cardsharp.core.queue import Queue
from cardsharp.errors import StoreError
from cardsharp.store.match_log import ExpiredLease, MatchLog, MatchRecord, MatchStatus

MISSING_GAME = "unknown"  # the result of a match that the arena said it does not have
EXPIRED_RESULT = (
    "given up"  # the result of a match that was closed because it took longer than any may
)
REOPEN_GRACE = timedelta(seconds=10)  # who names a match so long after its end has lost the end
_log = logging.getLogger("cardsharp.scout")


@dataclass(frozen=True, slots=True)
class MatchDispatcher:
    """Dispatcher of matches to workers; one per process, because it remembers its observations.

    A match stays on the queue for `queue_ttl`. If no worker takes it, it is offered again with
    a doubled time, up to `max_queue_ttl`. A match that began longer than `max_age` ago and that
    no arena lists is closed. `taken` are the ids of the matches that workers of this process
    have taken, in that order, because other processes use the same log.
    """

    match_log: MatchLog
    queue: Queue
    clock: Clock
    queue_ttl: timedelta = timedelta(seconds=3)
    metrics: Metrics = field(default_factory=Metrics)
    runtime_settings: RuntimeSettingsStore = field(default_factory=RuntimeSettingsStore)
    max_queue_ttl: timedelta = timedelta(seconds=30)
    max_age: timedelta = timedelta(days=7)
    lease_observer: LeaseObserver = field(default_factory=LeaseObserver)
    skipped_ids: set[str] = field(default_factory=set)
    taken: dict[str, None] = field(default_factory=dict)

    def dispatch_unattended(
        self, listed_ids: Iterable[str] = (), max_new: int | None = None
    ) -> int:
        """Queue each unattended match of `listed_ids` and of the log; return how many.

        A listed match that was closed is reopened if it goes on. Matches that do not run in the
        log yet are limited by the operator's concurrency setting and by `max_new`, the number
        of matches that the rate limit can sustain.
        """
        running = {record.match_id: record for record in self.match_log.running_matches()}
        self.metrics.count(Metric.RUNNING, len(running))
        for game, number in Counter(filter(None, map(game_of, running.values()))).items():
            self.metrics.count(Metric.RUNNING, number, game=game)
        listed_ids = tuple(listed_ids)
        records = {i: running.get(i) or self.match_log.match(i) for i in listed_ids} | running
        self.lease_observer.retain_only(records)
        waiting = {
            i: candidate
            for i, candidate in records.items()
            if candidate is None or self._outwaited(candidate, i in listed_ids)
        }
        offered, room = 0, len(waiting)
        if not running.keys() >= waiting.keys():
            active_ids = records.keys() - waiting.keys() | running.keys()
            room = self._room(len(active_ids), room, max_new)
        for match_id, record in waiting.items():
            is_new = match_id not in running
            if is_new and not room:
                self._leave(match_id, max_new)
            elif self._offer(match_id, record, named=match_id in listed_ids):
                offered += 1
                room -= is_new
        return offered

    def _leave(self, match_id: str, max_new: int | None) -> None:
        """Log once that a match is skipped because of the operator or the rate limit."""
        if match_id not in self.skipped_ids:
            self.skipped_ids.add(match_id)
            fed = "" if max_new is None else f" (the limit of requests feeds {max_new} at once)"
            _log.warning("left alone: paused, or enough run%s", fed, extra={"match_id": match_id})

    def _room(self, active_count: int, room: int, max_new: int | None) -> int:
        """Return how many further matches may be started; at most `room`.

        `active_count` matches already run or are on the queue; an operator and `max_new` limit
        the total.
        """
        switches = self.runtime_settings.read()
        if switches.paused:
            return 0
        bounds = [at_once for at_once in (switches.at_once, max_new) if at_once is not None]
        return max(0, min(bounds) - active_count) if bounds else room

    def dispatch_until(self, interval: timedelta, remaining_time: Callable[[], timedelta]) -> int:
        """Dispatch matches of the log until the time is nearly up; return how many.

        A failing store only makes one pass useless: it may have recovered by the next.
        """
        offered = 0
        while remaining_time() > interval:
            try:
                offered += self.dispatch_unattended()
            except StoreError as error:
                _log.warning("%s", error)
            self.clock.sleep(interval)
        return offered

    def dispatch(self, match_id: str, game: str | None = None) -> bool:
        """Put a match on the queue unless somebody may attend it or be on the way."""
        return self._send(match_id, game, self.queue_ttl)

    def hand_over(self, match_id: str, game: str) -> bool:
        """Offer a match that its worker has no more time for, unless the match is too old.

        The poller then closes a match that is too old, or continues it if the arena lists it.
        """
        return not self._is_old(self.match_log.match(match_id)) and self.dispatch(match_id, game)

    def _is_old(self, record: MatchRecord | None) -> bool:
        return record is not None and self.clock.now() - record.started_at > self.max_age

    def _offer(self, match_id: str, record: MatchRecord | None, *, named: bool) -> bool:
        """Offer a match that nobody attends, as far as this record says."""
        if record is None:
            return self.dispatch(match_id)
        if record.status is MatchStatus.FINISHED:
            return self._reopened(record) and self.dispatch(match_id, game_of(record))
        if not named and self._is_old(record):
            return self._close_expired(record)
        in_vain = record.ttl if record.is_queued else None
        ttl = self.queue_ttl if in_vain is None else min(2 * in_vain, self.max_queue_ttl)
        if not self._send(match_id, game_of(record), ttl, self._outwaited(record, named)):
            return False
        if in_vain is not None:
            self.metrics.count(Metric.UNANSWERED_DISPATCHES)
            _log.warning("no worker came for %s", in_vain, extra={"match_id": match_id})
        return True

    def _send(
        self, match_id: str, game: str | None, ttl: timedelta, seen: ExpiredLease | None = None
    ) -> bool:
        """Announce a match for so long and put it on the queue, if it is free, or still as seen."""
        if not self.match_log.mark_queued(match_id, ttl, seen):
            return False
        self.queue.send(MatchMessage(match_id=match_id, game=game).to_json)
        self.metrics.count(Metric.DISPATCHES)
        _log.info("offered", extra={"match_id": match_id})
        return True

    def _outwaited(self, match: MatchRecord, named: bool = False) -> ExpiredLease | None:
        """Return the expired lease of a match, None if somebody may attend it.

        A parked match counts as expired at once when the arena lists it.
        """
        if named and match.is_parked:
            return ExpiredLease(match.lease_version, timedelta(0))
        return self.lease_observer.expired_lease(match, self.clock.monotonic())

    def _reopened(self, match: MatchRecord) -> bool:
        """Open a named match again if it was closed and yet goes on."""
        # It was closed as missing, or its end is lost.
        goes_on = (match.outcome or {}).get("result") == MISSING_GAME or (
            self.lease_observer.idle_for(match, self.clock.monotonic()) >= REOPEN_GRACE
        )
        if not goes_on or not self.match_log.reopen(match):
            return False
        _log.warning("opened again, for the arena names it", extra={"match_id": match.match_id})
        return True

    def _close_expired(self, record: MatchRecord) -> bool:
        """Close a match that nobody attends, so that it takes no more workers; never offered."""
        if self.match_log.mark_queued(record.match_id, self.queue_ttl, self._outwaited(record)):
            lease = self.match_log.acquire_lease(record.match_id, EXPIRED_RESULT, self.queue_ttl)
            if lease is not None:
                self.match_log.finish(lease, {"result": EXPIRED_RESULT})
                _log.warning("given up after %s", self.max_age, extra={"match_id": lease.match_id})
        return False


def game_of(record: MatchRecord | None) -> str | None:
    """The game of a match as its header has it, None where it was not written down yet."""
    game = None if record is None else record.header.get("game")
    return game if isinstance(game, str) else None
