"""A match as long as one worker keeps its lease, whatever the game; all can be lost at any moment.

Three rules keep every action one that was decided on the state it met (docs/reliability.md).
The intent is in the match log before the action is sent, under a lease that is valid until it is
sent. An action is sent once and, after any doubtful answer, the state is read again, once the
action can no longer be under way. And whoever takes over a match waits as long for what its
predecessor may have sent, counted from the take: by its own clock, as all here.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

from cardsharp.cloud.attended import UNDER_WAY, Sight
from cardsharp.cloud.clock import beside
from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.cloud.ports import Body, Clock, Lease, MatchLog, MoveRecord, Remaining
from cardsharp.cloud.timing import Timing
from cardsharp.cloud.trouble import Denied, count_error, pause_after
from cardsharp.errors import ArenaError, Conflict, StoreError

_log = logging.getLogger("cardsharp.bot")

T = TypeVar("T")


@dataclass(slots=True)
class Hold:
    """One worker's hold on one match, and what of the turn protocol is the same in every game.

    The lease is valid from the monotonic second at which it was `asked` for, or renewed last. Once
    it is given back the match is to `rest` for so long.
    """

    log: MatchLog
    lease: Lease
    clock: Clock
    meter: Meter
    timing: Timing
    remaining: Remaining
    asked: float
    rest: timedelta | None = None
    taken: float = field(init=False)  # the monotonic second at which the lease was there
    _lost: Conflict | None = field(default=None, init=False)
    _guard: threading.Lock = field(init=False)

    def __post_init__(self) -> None:
        self.taken = self.clock.monotonic()
        self._guard = threading.Lock()

    @property
    def match_id(self) -> str:
        """The match."""
        return self.lease.match_id

    @property
    def worker(self) -> str:
        """The name under which it is held."""
        return self.lease.owner

    # --- the lease ---------------------------------------------------------------------------

    @property
    def left(self) -> timedelta:
        """For how long the lease is valid yet; negative when it has run out."""
        return self.timing.lease - timedelta(seconds=self.clock.monotonic() - self.asked)

    def ensure(self, margin: timedelta) -> Lease:
        """The lease, valid for `margin` or more, renewed if need be; raises `Conflict`."""
        with self._guard:
            if self._lost is None and self.left < margin:
                self._renew()
            if self._lost is not None:
                raise Conflict(str(self._lost)) from self._lost
            if self.left < margin:
                raise Conflict(f"The lease of match {self.lease.match_id} cannot be kept.")
            return self.lease

    @contextmanager
    def renewing(self) -> Iterator[None]:
        """Renew the lease in the background as long as the block runs, and give it back then.

        A block that fails lets it run out, so that a match that cannot be played is not taken again
        at once. The thread has ended either way.
        """
        with beside(self._keep, self.timing.renew, self.clock):
            yield
        if self._lost is None:
            with suppress(StoreError):  # without a release it runs out by itself
                self.log.release(self.lease, self.rest)

    def _keep(self) -> None:
        if self._lost is None:
            with self._guard:
                self._renew()

    def _renew(self) -> None:
        """Renew once; the guard is held. A failing store is tried again at the next turn."""
        asked = self.clock.monotonic()
        try:
            self.log.renew(self.lease, self.timing.lease)
            self.asked = asked
        except Conflict as conflict:
            self._lost = conflict
        except StoreError:
            pass

    # --- time --------------------------------------------------------------------------------

    def time_to_act(self) -> bool:
        """Whether a turn may begin: there is time to play it, and to hand the match on."""
        return self.remaining() >= self.timing.handover and self.time_to_decide()

    def time_to_decide(self) -> bool:
        """Whether another action of a turn that has begun may be decided and sent."""
        return self.remaining() > self.timing.decision + 2 * self.timing.act

    def time_to_wait(self) -> bool:
        """Whether a long poll may begin."""
        return self.remaining() > self.timing.long_poll + self.timing.handover

    def pause(self, wanted: timedelta) -> None:
        """Sleep as long as is wanted, but wake in time to hand the match on."""
        left = self.remaining() - self.timing.handover / 2
        self.clock.sleep(max(timedelta(0), min(wanted, left)))

    # --- looking -----------------------------------------------------------------------------

    def patiently(self, look: Callable[[], T], most: timedelta) -> T | None:
        """What `look` returns, asked again while the arena fails; None when the time is up.

        The arena can have us wait for `most` between two times. Raises `Rejected` if the arena said
        no, and nothing else for some seconds, and `Conflict` if the lease is lost.
        """
        denied = Denied()
        while self.remaining() >= self.timing.look:
            try:
                return look()
            except ArenaError as error:
                if denied.lasts(error, self.clock.monotonic()) >= self.timing.denial:
                    raise
                self.note_error(error)
                if self.remaining() < self.timing.handover:
                    return None
                self.pause(pause_after(error, self.timing.breath, most))
                self.ensure(timedelta(0))
        return None

    def outwait(self, moves: list[MoveRecord], sight: Sight[Any], since: float) -> bool:
        """Wait until no action that was meant for the next move or later can be under way.

        Later ones there are where the arena went back. Whether one could arrive after the
        monotonic second `since`, so that `sight`, which was asked for then, is out of date.
        """
        meant = [m.intent for m in moves if m.sequence >= sight.sequence and m.intent]
        said = () if sight.held_back else [intent.get(UNDER_WAY) for intent in meant]
        # Where an intent says nothing of that, the usual limit holds.
        slowed = (timedelta(seconds=one) for one in said if isinstance(one, int | float))
        limit = max((self.timing.act, *slowed))
        arrival = self.taken + (self.timing.renew + limit - self.lease.idle).total_seconds()
        if arrival <= since or not meant:
            return False
        self.clock.sleep(timedelta(seconds=arrival - self.clock.monotonic()))
        return True

    def note_error(self, error: ArenaError, action: object = None) -> None:
        """Count and log an answer that was none, or a refusal of that action."""
        count_error(self.meter, error)
        about = {} if action is None else {"action": str(action)}
        _log.warning("%s", error, extra={"match_id": self.match_id, **about})

    def note(self, kind: str, body: Body) -> None:
        """Keep a debugging note; a match does not fail for want of one."""
        try:
            self.log.note(self.match_id, kind, body)
        except StoreError as error:
            _log.warning("%s", error, extra={"match_id": self.match_id})

    # --- acting ------------------------------------------------------------------------------

    def note_decision(self, took: timedelta, fault: str | None) -> None:
        """Count a decision, and what went wrong with it."""
        self.meter.time(Metric.DECISION, took)
        if fault is not None:
            self.meter.count(Metric.SAFE_ACTIONS)
            _log.warning("%s", fault, extra={"match_id": self.match_id})

    def intend(self, sequence: int, intent: Body) -> bool:
        """Log an intent; False where that took so long that another may hold the match by now.

        The lease is ours for another `renew`, and in that time the action is sent, or not at all.
        """
        lease = self.ensure(self.timing.renew)
        last_moment = self.clock.monotonic() + self.timing.renew.total_seconds()
        self.log.intend(lease, sequence, intent)
        in_time = self.clock.monotonic() <= last_moment
        if not in_time:
            _log.warning("an intent took too long", extra={"match_id": self.match_id})
        return in_time

    def let_arrive(self, error: ArenaError, sent: float, most: timedelta) -> None:
        """After an action without an answer: pause until it can no longer be under way.

        The arena can have us wait for `most`.
        """
        arrival = self.timing.act - timedelta(seconds=self.clock.monotonic() - sent)
        least = max(arrival, timedelta(0)) if error.doubtful else self.timing.breath
        self.pause(pause_after(error, least, most))
