"""The protocol of a session on a match of any game, from the lease to its end or handover.

A game supplies a `BotMatch`: how to observe it, wait for a change and interpret a denial. This
module acquires or steals the lease, sets a denied match aside and hands a match over;
`match_session` is what happens between. A worker stores no state about its matches.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from cardsharp.bot.bot_match import BotMatch, OpenMatch
from cardsharp.bot.duplicate_bot import DuplicateBotError
from cardsharp.bot.fair_semaphore import CPU_SEMAPHORE, FairSemaphore
from cardsharp.bot.lease_keeper import LeaseKeeper
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.match_session import MatchSession, with_strategy_version
from cardsharp.bot.session_result import SessionResult
from cardsharp.bot.timing import SessionTiming
from cardsharp.core.clock import RemainingTime
from cardsharp.core.metrics import MetricName
from cardsharp.errors import RequestRejected, StoreError, Unauthorized, WriteConflict
from cardsharp.store.match_log import Body, Lease

_log = logging.getLogger("cardsharp.bot")


@dataclass(frozen=True, slots=True)
class Bot:
    """Bot of one game: what a worker needs to play sessions of its matches.

    It remembers no match.
    """

    game_name: str
    open_match: OpenMatch
    dispatcher: MatchDispatcher
    worker_id: str
    timing: SessionTiming = field(default_factory=SessionTiming)
    cpu_semaphore: FairSemaphore = CPU_SEMAPHORE
    strategy_version: str | None = None  # for the header of the match in the log

    def run_session(self, match_id: str, remaining_time: RemainingTime) -> SessionResult:
        """Play a match until it ends, the time is up, or another worker has its lease.

        If the time is up first, the match is queued for another worker. A match in which nothing
        has happened during a long poll is left to the poller, if the arena reports changes to
        it. Raises `Unauthorized` if the arena does not accept our credentials. Raises
        `StoreError` if a store failed; the lease then expires. Raises `ConfigError` if the
        match is to be played by a strategy that does not exist.
        """
        with self.open_match(match_id) as match:
            result = self._play_under_lease(match, match_id, remaining_time)
        # Only now that the lease is released: while it is held, the match cannot be marked as
        # queued, and it would wait until the poller sees the lease expired.
        if result is SessionResult.HANDED_OVER:
            self.dispatcher.hand_over(match_id, self.game_name)
        return result

    def _play_under_lease(
        self, match: BotMatch[Any], match_id: str, remaining_time: RemainingTime
    ) -> SessionResult:
        log, metrics = self.dispatcher.match_log, self.dispatcher.metrics
        clock, record = self.dispatcher.clock, log.match(match_id)
        # Our validity counts from before the request, as in `LeaseKeeper._renew`.
        requested_at = clock.monotonic()
        header = match.header and with_strategy_version(match.header, self.strategy_version)
        lease = log.acquire_lease(match_id, self.worker_id, self.timing.lease_ttl, header)
        if lease is None:
            return SessionResult.LEASED_BY_OTHER
        self.dispatcher.leased_ids.setdefault(match_id)
        if record is not None and record.lease is not None:
            metrics.count(MetricName.LEASE_STEALS)
        has_header = record is not None and bool(record.header)
        try:
            lease_keeper = LeaseKeeper(
                log, lease, clock, metrics, self.timing, remaining_time, requested_at
            )
            with lease_keeper.renew_during_block():
                strategy_version = None if has_header else self.strategy_version or ""
                result = MatchSession(
                    lease_keeper, match, self.cpu_semaphore, strategy_version
                ).run()
        except WriteConflict as conflict:
            _log.warning("%s", conflict, extra={"match_id": match_id})
            return SessionResult.LEASED_BY_OTHER
        except DuplicateBotError:
            # A longer lease without renewal keeps the match away from our own workers for a while.
            with suppress(StoreError):
                log.renew_lease(lease, self.timing.retry_delay)
            return SessionResult.LEASED_BY_OTHER
        except RequestRejected as rejection:
            self._close_or_postpone(lease, match.outcome_if_missing(rejection))
            if isinstance(rejection, Unauthorized):
                raise
            _log.warning("%s", rejection, extra={"match_id": match_id})
            return SessionResult.UNKNOWN_MATCH
        return result

    def _close_or_postpone(self, lease: Lease, outcome: Body | None) -> None:
        """Close or postpone a match that the arena denies, so that it is not tried endlessly.

        It is closed only if the arena itself says that there is no such match. Otherwise a match
        with moves of ours is tried again as soon as its lease expires, any other after
        `retry_delay`.
        """
        log = self.dispatcher.match_log
        if outcome is not None:
            log.finish(lease, outcome)
            return
        with suppress(StoreError):
            if not log.moves(lease.match_id):
                log.renew_lease(lease, self.timing.retry_delay)
