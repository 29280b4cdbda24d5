"""Poller that finds matches waiting for us without a worker, and queues them.

The arena responds at once as long as it is our turn in any match. So while every listed match
is attended, the poller pauses between requests and checks the leases meanwhile (architecture,
"The life of a match"). A match whose worker died is found in two ways: the arena lists it when
it is our turn, and the match log has it as running with an expired lease.

A poller is relieved by a later one, and listens until it sees that one in the relay. A quiet
poller asks only once, without waiting, while no match runs and neither the calendar nor an
operator wants it awake. With scheduled polls it then queues the polls of the next minute, each
of which a worker takes by its `look` message: listening is billed by the second, a scheduled
poll by itself.

If the arena limits our requests, few of them are spent on the list while matches run. The
poller reads the full list once and then long-polls for newer matches, checking the leases
meanwhile. It does not do so while a match may be left to the poller.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from cardsharp.bot.control.poller_shift import PollerShift, PollerTiming
from cardsharp.bot.error_policy import DenialTracker, record_error, retry_delay_for
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.messages import PollMessage
from cardsharp.core.clock import RemainingTime, run_periodically
from cardsharp.core.metrics import Metric
from cardsharp.errors import ArenaError, StoreError, Unauthorized
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.settings import MIN_UNWATCHED_TURN
from cardsharp.store.match_log import MatchRecord

_log = logging.getLogger("cardsharp.scout")


POLLS_PER_FULL_LIST = (
    4  # polls for newer matches, of 30 s, after which the latest are asked for as a whole
)


@dataclass(slots=True)
class MatchPoller:
    """Poller of an arena for matches to play; `refresh_credentials` fetches the latest password."""

    arena_client: ArenaClient
    dispatcher: MatchDispatcher
    tags: tuple[str, ...] = ()
    timing: PollerTiming = field(default_factory=PollerTiming)
    shift: PollerShift = field(default_factory=PollerShift)
    refresh_credentials: Callable[[], None] = lambda: None
    _denied: DenialTracker = field(default_factory=DenialTracker)
    _refusal: ArenaError | None = None
    _listed_ids: frozenset[str] = frozenset()
    _has_new: bool = False  # whether the last answer named a match that the one before did not
    _newest: str | None = None  # the newest match that we know, where all are known
    _polls: int = 0
    _since: float = 0  # since when it listens
    _offered: int = 0  # how many matches it has put on the queue
    _turn: timedelta | None = None  # the shortest turn of late, from one move to the next

    def run(self, remaining_time: RemainingTime) -> int:
        """Queue matches until relieved or the time is nearly up; return how many were queued.

        Raises `RequestRejected` if the arena has rejected us repeatedly and up to the end.
        Raises `StoreError` if the match log or the queue failed at the first look; later such
        errors are tolerated.
        """
        self._offered, clock = self.dispatcher.dispatch_unattended(), self.dispatcher.clock
        began = self._since = clock.monotonic()
        if self._rests() and not self._ask(wait=False)[0]:
            self._leave_to_looks(began)
            return self._offered
        # Starting the shift relieves an earlier poller, so it comes only when this one listens from
        # here on. Each runs until it sees a later one: there is no moment without a poller.
        self.shift.start()
        due = clock.monotonic() + self.timing.shift_duration.total_seconds()
        while remaining_time() > self.timing.long_poll_timeout and not self.shift.is_relieved():
            match_ids, until = self._ask()
            self._look(match_ids)
            current = clock.monotonic()
            if current >= due:
                until = max(until, current + self.timing.min_request_interval.total_seconds())
            while (remaining := timedelta(seconds=until - clock.monotonic())) > timedelta(0):
                if (
                    remaining_time() <= 2 * self.timing.lease_check_interval
                    or self.shift.is_relieved()
                ):
                    break
                clock.sleep(min(self.timing.lease_check_interval, remaining))
                self._look(match_ids)
            if not match_ids and self._rests():
                self._leave_to_looks(began)
                break
        if self._refusal is not None:
            raise self._refusal
        return self._offered

    def poll_once(self, message: PollMessage) -> int:
        """Look once, as a message says that it is due; how many matches were put on the queue.

        Raises `StoreError` if the match log or the queue failed; the next look may find it well
        again.
        """
        if message.left:
            # The last message continues the chain by itself while no later poller has started, so
            # that a schedule that fails leaves no gap. It ends after `successor_timeout`.
            if self.shift.is_relieved(message.look):
                return 0
            following = PollMessage(look=message.look, left=message.left - 1)
            self.dispatcher.queue.send(following.to_json, self.timing.poll_interval)
        match_ids, _ = self._ask(wait=False)
        return self.dispatcher.dispatch_unattended(match_ids, self._fed)

    def _leave_to_looks(self, began: float) -> None:
        """Schedule a poll every few seconds until the successor is due, and beyond if it is late.

        The last of them polls only if there is no successor yet, and then schedules another
        one.
        """
        if not self.shift.has_scheduled_polls:
            return
        if not self.shift.generation:
            self.shift.start()
        timing, current = self.timing, self.dispatcher.clock.monotonic()
        remaining = timing.shift_duration - timedelta(seconds=current - began)
        delays = [
            timing.poll_interval * n
            for n in range(1, max(1, -(-remaining // timing.poll_interval)))
        ]
        look = PollMessage(look=self.shift.generation)
        last = look.model_copy(update={"left": timing.successor_timeout // timing.poll_interval})
        looks = [(look.to_json, delay) for delay in delays]
        self.dispatcher.queue.send_batch(
            [*looks, (last.to_json, max(timing.poll_interval, remaining))]
        )

    def _rests(self) -> bool:
        """Return True if the shift is quiet, no operator wants it awake and no match runs.

        Returns False if the store cannot be read.
        """
        current_time = self.dispatcher.clock.now()
        if not self.shift.may_be_quiet(current_time):
            return False
        try:
            until = self.dispatcher.runtime_settings.read().awake_until
            return (
                until is None or until <= current_time
            ) and not self.dispatcher.match_log.running_matches()
        except StoreError as error:
            _log.warning("%s", error)
            return False

    def _look(self, match_ids: Iterable[str] = ()) -> None:
        """Queue these matches and the unattended ones of the log.

        A store error is only logged: the next call may succeed.
        """
        try:
            self._offered += self.dispatcher.dispatch_unattended(match_ids, self._fed)
        except StoreError as error:
            _log.warning("%s", error)

    @property
    def _fed(self) -> int | None:
        """Number of matches that the request limit allows at once, None for any number."""
        return self.arena_client.session_state.request_budget.max_matches(self._turn)

    def _runs(self) -> bool:
        """Return True if a match of ours runs, or if that cannot be read."""
        try:
            return bool(self.dispatcher.match_log.running_matches())
        except StoreError:
            return True

    def _tags(self) -> tuple[str, ...]:
        try:
            override = self.dispatcher.runtime_settings.read().tags
        except StoreError as error:
            _log.warning("%s", error)
            override = None
        return self.tags if override is None else override

    def _knows_all(self) -> bool:
        """Return True if every match that runs is attended, so that only new matches matter.

        That needs an arena with a request limit. It is False while a match has long turns or is
        parked, because the poller must resume it. It is also False until each lease has been
        observed for its TTL: a worker may have died before this poller started.
        """
        if self.arena_client.session_state.request_budget.limit is None:
            return False
        try:
            running = {
                record.match_id: record for record in self.dispatcher.match_log.running_matches()
            }
        except StoreError:
            return False
        listened = timedelta(seconds=self.dispatcher.clock.monotonic() - self._since)
        is_covered = bool(running) and self._listed_ids <= running.keys()
        return is_covered and all(_stays(record, listened) for record in running.values())

    def _find(self, *, wait: bool) -> list[str]:
        """Return the ids of the matches that wait for us; only new ones while all are attended."""
        tags = self._tags()
        if not (wait and self._knows_all()):
            self._newest = None
            matches = self.arena_client.matches(tags, active=True, wait=wait)
        elif self._newest is None:
            matches = self.arena_client.latest_matches(tags)
            self._newest = max((match.id for match in matches), default=None)
        else:
            # The arena holds it back for 30 s, in which a worker may die.
            with run_periodically(
                self._look, self.timing.lease_check_interval, self.dispatcher.clock
            ):
                matches = self.arena_client.wait_for_newer_matches(self._newest, tags)
            self._polls += 1
            # Now and then, and where it does not keep to the newer ones, it is asked for all again.
            keeps = (
                all(match.id > self._newest for match in matches)
                and self._polls % POLLS_PER_FULL_LIST
            )
            self._newest = max([self._newest, *(m.id for m in matches)]) if keeps else None
        going_on = [match for match in matches if not match.finished]
        limits = [match.creation_params.timeout for match in going_on]
        self._turn = min((limit for limit in limits if limit is not None), default=self._turn)
        match_ids = [match.id for match in going_on]
        self._has_new = not self._listed_ids.issuperset(match_ids)
        self._listed_ids = frozenset(match_ids)
        return match_ids

    def _until_next(self) -> timedelta:
        """The least time until the next question, after one that was answered."""
        if self._newest is not None:
            return self.timing.backoff
        pace, counts = (
            self.timing.min_request_interval,
            self.arena_client.session_state.request_budget.limit is not None,
        )
        if not (counts and self._runs()):
            return pace
        # A new match is taken meanwhile, and then the next new one can be waited for.
        return self.timing.backoff if self._has_new else max(pace, self.timing.busy_max_retry_after)

    def _ask(self, *, wait: bool = True) -> tuple[list[str], float]:
        """Return the matches to attend, and the second before which the arena must not be polled.

        After a response the pause counts from the request, after an error from its arrival.
        """
        meter, clock = self.dispatcher.metrics, self.dispatcher.clock
        sent_at = clock.monotonic()
        try:
            match_ids = self._find(wait=wait)
        except ArenaError as error:
            record_error(meter, error)
            _log.warning("%s", error)
            lasts = self._denied.denied_for(error, clock.monotonic())
            self._refusal = error if lasts else None
            if isinstance(error, Unauthorized):
                self.refresh_credentials()
            min_delay = min(self.timing.min_request_interval + lasts, self.timing.max_backoff)
            max_delay = (
                self.timing.busy_max_retry_after if self._runs() else self.timing.max_backoff
            )
            return [], clock.monotonic() + retry_delay_for(
                error, min_delay, max_delay
            ).total_seconds()
        self._denied, self._refusal = DenialTracker(), None
        meter.count(Metric.POLLS)
        return match_ids, sent_at + self._until_next().total_seconds()


def _stays(match: MatchRecord, listened: timedelta) -> bool:
    """Return True if a running match has a worker that attends it to its end."""
    limit = match.header.get("timeoutSeconds")
    short = isinstance(limit, int | float) and limit < MIN_UNWATCHED_TURN.total_seconds()
    is_watched = match.ttl is None or listened >= match.ttl
    return short and is_watched and not match.is_parked
