"""Dispatch of matches of any game that no worker attends: they are put on the queue."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from cardsharp.bot.control.runtime_settings import RuntimeSettingsStore
from cardsharp.bot.lease_observer import LeaseObserver
from cardsharp.bot.queueing.messages import MatchMessage
from cardsharp.core.clock import Clock
from cardsharp.core.metrics import MetricName, Metrics
from cardsharp.core.queue import Queue
from cardsharp.errors import StoreError
from cardsharp.store.match_log import ExpiredLease, MatchLog, MatchRecord, MatchStatus

MISSING_GAME = "unknown"  # the result of a match that the arena said it does not have
EXPIRED_RESULT = "given up"  # the result of a match that was closed at its `max_age`
REOPEN_GRACE = timedelta(seconds=10)
MAX_READ_DELAY = timedelta(seconds=2)  # from a list to the record of a match that it names
"""Time after its end from which an arena that still lists a match must have lost that end."""

_log = logging.getLogger("cardsharp.scout")


@dataclass(frozen=True, slots=True)
class MatchDispatcher:
    """Dispatcher of matches to workers; one per process, because it remembers its observations.

    A match stays on the queue for `queue_ttl`. If no worker takes it, it is queued again with a
    doubled time, up to `max_queue_ttl`. A match that began longer than `max_age` ago and that no
    arena lists is closed. `running_ids` are the ids of the matches that ran when the log was last
    read. `leased_ids` are the ids of the matches whose leases workers of this process have
    acquired, in that order; the log also has matches of other processes.
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
    running_ids: set[str] = field(default_factory=set)
    leased_ids: dict[str, None] = field(default_factory=dict)

    def dispatch_unattended(
        self,
        listed_ids: Iterable[str] = (),
        max_new: int | None = None,
        listed_at: float | None = None,
    ) -> int:
        """Queue each unattended match of `listed_ids` and of the log; return how many.

        A listed match that was closed is reopened if it goes on. Matches that do not run in the
        log yet are limited by the operator's concurrency setting and by `max_new`, the number
        of matches that the rate limit can sustain. `listed_at` is the monotonic second at which
        the arena named `listed_ids`; None is now.
        """
        listed_at = self.clock.monotonic() if listed_at is None else listed_at
        running = {record.match_id: record for record in self.match_log.running_matches()}
        self.running_ids.intersection_update(running)
        self.running_ids.update(running)
        self.metrics.count(MetricName.RUNNING, len(running))
        for game, match_count in Counter(filter(None, map(game_of, running.values()))).items():
            self.metrics.count(MetricName.RUNNING, match_count, game=game)
        listed_ids = tuple(listed_ids)
        records = {i: running.get(i) or self.match_log.match(i) for i in listed_ids} | running
        self.lease_observer.retain_only(records)
        unattended = {
            i: candidate
            for i, candidate in records.items()
            if candidate is None or self._find_expired_lease(candidate, i in listed_ids)
        }
        queued_count, free_slots = 0, len(unattended)
        if not running.keys() >= unattended.keys():
            active_ids = records.keys() - unattended.keys() | running.keys()
            free_slots = self._count_free_slots(len(active_ids), free_slots, max_new)
        for match_id, record in unattended.items():
            is_new = match_id not in running
            named_at = listed_at if match_id in listed_ids else None
            if is_new and not free_slots:
                self._log_skipped(match_id, max_new)
            elif self._queue_unattended(match_id, record, named_at):
                queued_count += 1
                free_slots -= is_new
        return queued_count

    def _log_skipped(self, match_id: str, max_new: int | None) -> None:
        """Log once that a match is skipped because of the operator or the rate limit."""
        if match_id not in self.skipped_ids:
            self.skipped_ids.add(match_id)
            reason = "" if max_new is None else f" (the request limit allows {max_new} at once)"
            _log.warning(
                "match not started: new matches are paused, or enough matches run%s",
                reason,
                extra={"match_id": match_id},
            )

    def _count_free_slots(self, active_count: int, free_slots: int, max_new: int | None) -> int:
        """Return the number of further matches that may be started; at most `free_slots`.

        `active_count` matches already run or are on the queue; an operator and `max_new` limit
        the total.
        """
        switches = self.runtime_settings.read()
        if switches.paused:
            return 0
        bounds = [at_once for at_once in (switches.at_once, max_new) if at_once is not None]
        return max(0, min(bounds) - active_count) if bounds else free_slots

    def dispatch_until(self, interval: timedelta, remaining_time: Callable[[], timedelta]) -> int:
        """Dispatch matches of the log until the time is nearly up; return how many.

        A failing store only makes one pass useless: it may have recovered by the next.
        """
        queued_count = 0
        while remaining_time() > interval:
            try:
                queued_count += self.dispatch_unattended()
            except StoreError as error:
                _log.warning("%s", error)
            self.clock.sleep(interval)
        return queued_count

    def dispatch(self, match_id: str, game: str | None = None) -> bool:
        """Queue a match unless a worker may be playing it or it is queued already."""
        return self._enqueue(match_id, game, self.queue_ttl)

    def hand_over(self, match_id: str, game: str) -> bool:
        """Queue a match for which its worker has no time left, unless the match is too old.

        The poller then closes a match that is too old, or continues it if the arena lists it.
        """
        return not self._is_old(self.match_log.match(match_id)) and self.dispatch(match_id, game)

    def _is_old(self, record: MatchRecord | None) -> bool:
        return record is not None and self.clock.now() - record.started_at > self.max_age

    def _queue_unattended(
        self, match_id: str, record: MatchRecord | None, listed_at: float | None
    ) -> bool:
        """Queue a match that no worker attends by its record; return True if it was queued.

        `listed_at` is the second at which the arena listed it, None if it did not.
        """
        if record is None:
            return self.dispatch(match_id)
        is_listed = listed_at is not None
        if record.status is MatchStatus.FINISHED:
            is_running = listed_at is not None and self._reopen_if_running(record, listed_at)
            return is_running and self.dispatch(match_id, game_of(record))
        if not is_listed and self._is_old(record):
            return self._close_expired(record)
        # The time doubles because a missing worker is usually a busy one: more messages would only
        # add to its backlog. The mark in the log makes sure that one dispatcher sends the message.
        unanswered_ttl = record.ttl if record.is_queued else None
        ttl = (
            self.queue_ttl
            if unanswered_ttl is None
            else min(2 * unanswered_ttl, self.max_queue_ttl)
        )
        if not self._enqueue(
            match_id, game_of(record), ttl, self._find_expired_lease(record, is_listed)
        ):
            return False
        if unanswered_ttl is not None:
            self.metrics.count(MetricName.UNANSWERED_DISPATCHES)
            _log.warning(
                "no worker came for this match within %s",
                unanswered_ttl,
                extra={"match_id": match_id},
            )
        return True

    def _enqueue(
        self,
        match_id: str,
        game: str | None,
        ttl: timedelta,
        expired_lease: ExpiredLease | None = None,
    ) -> bool:
        """Mark a match as queued for `ttl` and send its message; return False if it is attended."""
        # The mark comes before the message. If we die in between, the mark expires and another
        # dispatcher sends one; the other way round, every dispatcher could send its own.
        if not self.match_log.mark_queued(match_id, ttl, expired_lease):
            return False
        self.queue.send(MatchMessage(match_id=match_id, game=game).to_json)
        self.metrics.count(MetricName.DISPATCHES)
        _log.info("queued for a worker", extra={"match_id": match_id})
        return True

    def _find_expired_lease(
        self, match: MatchRecord, is_listed: bool = False
    ) -> ExpiredLease | None:
        """Return the expired lease of a match, None if a worker may still attend it.

        A parked match counts as expired at once when the arena lists it.
        """
        if is_listed and match.is_parked:
            return ExpiredLease(match.lease_version, timedelta(0))
        return self.lease_observer.expired_lease(match, self.clock.monotonic())

    def _reopen_if_running(self, match: MatchRecord, listed_at: float) -> bool:
        """Reopen a listed match that was closed although it still runs; return True if reopened."""
        # It was closed because the arena did not have it, or the arena has lost its end. A list
        # from before the closing says nothing about it. A record that is read for the first time
        # right after the list was closed before it, as a denial is not believed so soon.
        is_missing = (match.outcome or {}).get("result") == MISSING_GAME
        is_running = self.lease_observer.idle_for(match, listed_at) >= (
            -MAX_READ_DELAY if is_missing else REOPEN_GRACE
        )
        if not is_running or not self.match_log.reopen(match):
            return False
        _log.warning("reopened, because the arena lists it", extra={"match_id": match.match_id})
        return True

    def _close_expired(self, record: MatchRecord) -> bool:
        """Close a match that is too old, so that it takes up no more workers; return False."""
        if self.match_log.mark_queued(
            record.match_id, self.queue_ttl, self._find_expired_lease(record)
        ):
            lease = self.match_log.acquire_lease(record.match_id, EXPIRED_RESULT, self.queue_ttl)
            if lease is not None:
                self.match_log.finish(lease, {"result": EXPIRED_RESULT})
                _log.warning(
                    "closed, because it began more than %s ago",
                    self.max_age,
                    extra={"match_id": lease.match_id},
                )
        return False


def game_of(record: MatchRecord | None) -> str | None:
    """Return the game in a match's header; None if no worker has written it yet."""
    game = None if record is None else record.header.get("game")
    return game if isinstance(game, str) else None
