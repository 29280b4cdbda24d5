"""Find matches that wait for us and that no worker attends, and put them on the queue.

The arena answers at once for as long as it is our turn anywhere, so while every match it names
is attended the scout asks at a calm pace and looks at the leases meanwhile (architecture, "The
life of a match"). A match whose worker died is found twice over: the arena names it when it is
our turn, and the match log knows it as running with a lease that ran out.

A scout is relieved by a later one, and listens until it sees that one in the relay. A quiet one
asks only once, without waiting, while no match is known and neither the calendar nor an operator
wants it awake. With `looks` it then puts the looks of the next minute on the queue, each of which
a worker takes by `look`: listening is paid by the second, a look by itself.

Where the arena counts our requests, those for the list are few while matches run: it is asked for
all and then polled for such as are newer, which is answered when there is one, while the leases are
looked at. Not so where a match may be left to the poller.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cardsharp.cloud.clock import beside
from cardsharp.cloud.messages import LookMessage
from cardsharp.cloud.metrics import Metric
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import MatchRecord, Relay, Remaining
from cardsharp.cloud.settings import Window
from cardsharp.cloud.trouble import Denied, count_error, pause_after
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.settings import NAMED_IN_TIME
from cardsharp.errors import ArenaError, StoreError, Unauthorized

_log = logging.getLogger("cardsharp.scout")


NEWER = 4  # polls for newer matches, of 30 s, after which the latest are asked for as a whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoutTiming:
    """`pace`: least time between two questions to the arena; `watch`: between looks at leases.

    `long_poll` is the limit of one question, `longest` the pause where the arena goes on refusing,
    and `busy` what it can ask for while a match of ours runs, and the least time between two
    questions for the whole list then where it counts them. `breath` is that between two for what
    is new.
    After `tick` the successor is due, and is waited for a moment before the next question.
    `between` lies from one look to the next; where no successor comes, looks go on for `patience`.
    """

    pace: timedelta = timedelta(seconds=3)
    watch: timedelta = timedelta(milliseconds=500)
    long_poll: timedelta = timedelta(seconds=40)
    longest: timedelta = timedelta(seconds=30)
    busy: timedelta = timedelta(seconds=5)
    breath: timedelta = timedelta(seconds=1)
    tick: timedelta = timedelta(minutes=1)
    between: timedelta = timedelta(seconds=5)
    patience: timedelta = timedelta(minutes=2)


@dataclass(slots=True)
class Post:
    """The scout's place in a relay in which so many `listeners` are to listen at any time.

    Where it is `quiet`, they are only to do so in its windows and while an operator wants it, and
    with `looks` somebody else looks meanwhile.
    """

    relay: Relay = field(default_factory=Relay)
    listeners: int = 1
    generation: int = 0
    quiet: bool = False
    looks: bool = False
    windows: tuple[Window, ...] = ()

    def take(self) -> None:
        """Begin a generation; raises `StoreError`."""
        self.generation = self.relay.begin()

    def may_rest(self, now: datetime) -> bool:
        """Whether the calendar lets it be quiet."""
        return self.quiet and not any(window.is_open(now) for window in self.windows)

    def is_relieved(self, generation: int | None = None) -> bool:
        """Whether enough later ones listen than this one; not so where nobody can tell."""
        mine = self.generation if generation is None else generation
        try:
            return self.relay.newest() - mine >= self.listeners
        except StoreError as error:
            _log.warning("%s", error)
            return False


@dataclass(slots=True)
class Scout:
    """Everything the poller needs to find work; `sign_in` fetches the newest password."""

    arena: ArenaClient
    offering: Offering
    tags: tuple[str, ...] = ()
    timing: ScoutTiming = field(default_factory=ScoutTiming)
    post: Post = field(default_factory=Post)
    sign_in: Callable[[], None] = lambda: None
    _denied: Denied = field(default_factory=Denied)
    _refusal: ArenaError | None = None
    _named: frozenset[str] = frozenset()
    _has_new: bool = False  # whether the last answer named a match that the one before did not
    _newest: str | None = None  # the newest match that we know, where all are known
    _polls: int = 0
    _since: float = 0  # since when it listens
    _offered: int = 0  # how many matches it has put on the queue
    _turn: timedelta | None = None  # the shortest turn of late, from one move to the next

    def listen(self, remaining: Remaining) -> int:
        """Offer matches until relieved or the time is nearly up; how many were put on the queue.

        Raises `Rejected` if the arena has refused us to the end, more than once. Raises
        `StoreError` if the match log or the queue failed at the first look; later it may.
        """
        self._offered, clock = self.offering.offer(), self.offering.clock
        began = self._since = clock.monotonic()
        if self._rests() and not self._ask(wait=False)[0]:
            self._leave_to_looks(began)
            return self._offered
        self.post.take()
        due = clock.monotonic() + self.timing.tick.total_seconds()
        while remaining() > self.timing.long_poll and not self.post.is_relieved():
            named, until = self._ask()
            self._look(named)
            now = clock.monotonic()
            if now >= due:
                until = max(until, now + self.timing.pace.total_seconds())
            while (left := timedelta(seconds=until - clock.monotonic())) > timedelta(0):
                if remaining() <= 2 * self.timing.watch or self.post.is_relieved():
                    break
                clock.sleep(min(self.timing.watch, left))
                self._look(named)
            if not named and self._rests():
                self._leave_to_looks(began)
                break
        if self._refusal is not None:
            raise self._refusal
        return self._offered

    def look(self, due: LookMessage) -> int:
        """Look once, as a message says that it is due; how many matches were put on the queue.

        Raises `StoreError` if the match log or the queue failed; the next look may find it well
        again.
        """
        if due.left:
            if self.post.is_relieved(due.look):
                return 0
            following = LookMessage(look=due.look, left=due.left - 1)
            self.offering.queue.send(following.body, self.timing.between)
        named, _ = self._ask(wait=False)
        return self.offering.offer(named, self._fed)

    def _leave_to_looks(self, began: float) -> None:
        """Have a look taken each few seconds until the successor is due, and beyond if it is not.

        The last of them looks only where there is no successor yet, and is followed by another.
        """
        if not self.post.looks:
            return
        if not self.post.generation:
            self.post.take()
        timing, now = self.timing, self.offering.clock.monotonic()
        left = timing.tick - timedelta(seconds=now - began)
        delays = [timing.between * n for n in range(1, max(1, -(-left // timing.between)))]
        look = LookMessage(look=self.post.generation)
        last = look.model_copy(update={"left": timing.patience // timing.between})
        looks = [(look.body, delay) for delay in delays]
        self.offering.queue.send_all([*looks, (last.body, max(timing.between, left))])

    def _rests(self) -> bool:
        """Whether it is quiet, nobody wants it awake and, as far as we can tell, no match runs."""
        now = self.offering.clock.now()
        if not self.post.may_rest(now):
            return False
        try:
            until = self.offering.switchboard.read().awake_until
            return (until is None or until <= now) and not self.offering.log.running()
        except StoreError as error:
            _log.warning("%s", error)
            return False

    def _look(self, named: Iterable[str] = ()) -> None:
        """Offer these and what the log has; where a store fails, the next look may do better."""
        try:
            self._offered += self.offering.offer(named, self._fed)
        except StoreError as error:
            _log.warning("%s", error)

    @property
    def _fed(self) -> int | None:
        """How many matches the limit of requests feeds at once, None for any number."""
        return self.arena.contact.budget.feeds(self._turn)

    def _runs(self) -> bool:
        """Whether a match of ours runs, as it does where nobody can tell."""
        try:
            return bool(self.offering.log.running())
        except StoreError:
            return True

    def _tags(self) -> tuple[str, ...]:
        try:
            wanted = self.offering.switchboard.read().tags
        except StoreError as error:
            _log.warning("%s", error)
            wanted = None
        return self.tags if wanted is None else wanted

    def _knows_all(self) -> bool:
        """Whether the arena counts, and no match that runs is left to the poller in any way.

        Not those either whose turns are long, or who rest. Nor are all known until leases that
        nobody holds any more have run out under our eyes: a worker may have died before we came.
        """
        if self.arena.contact.budget.limit is None:
            return False
        try:
            running = {record.match_id: record for record in self.offering.log.running()}
        except StoreError:
            return False
        listened = timedelta(seconds=self.offering.clock.monotonic() - self._since)
        held = bool(running) and self._named <= running.keys()
        return held and all(_stays(one, listened) for one in running.values())

    def _find(self, *, wait: bool) -> list[str]:
        """The matches that wait for us; or else, while all are known, those new by their ids."""
        tags = self._tags()
        if not (wait and self._knows_all()):
            self._newest = None
            found = self.arena.matches(tags, active=True, wait=wait)
        elif self._newest is None:
            found = self.arena.latest(tags)
            self._newest = max((one.id for one in found), default=None)
        else:
            # The arena holds it back for 30 s, in which a worker may die.
            with beside(self._look, self.timing.watch, self.offering.clock):
                found = self.arena.newer(self._newest, tags)
            self._polls += 1
            # Now and then, and where it does not keep to the newer ones, it is asked for all again.
            keeps = all(one.id > self._newest for one in found) and self._polls % NEWER
            self._newest = max([self._newest, *(m.id for m in found)]) if keeps else None
        going_on = [one for one in found if not one.finished]
        limits = [one.creation_params.timeout for one in going_on]
        self._turn = min((one for one in limits if one is not None), default=self._turn)
        named = [one.id for one in going_on]
        self._has_new = not self._named.issuperset(named)
        self._named = frozenset(named)
        return named

    def _until_next(self) -> timedelta:
        """The least time until the next question, after one that was answered."""
        if self._newest is not None:
            return self.timing.breath
        pace, counts = self.timing.pace, self.arena.contact.budget.limit is not None
        if not (counts and self._runs()):
            return pace
        # A new match is taken meanwhile, and then the next new one can be waited for.
        return self.timing.breath if self._has_new else max(pace, self.timing.busy)

    def _ask(self, *, wait: bool = True) -> tuple[list[str], float]:
        """The matches that are to be attended, and the second before which none is asked for.

        After an answer that is counted from the question, after a refusal from when it came.
        """
        meter, clock = self.offering.meter, self.offering.clock
        asked = clock.monotonic()
        try:
            named = self._find(wait=wait)
        except ArenaError as error:
            count_error(meter, error)
            _log.warning("%s", error)
            lasts = self._denied.lasts(error, clock.monotonic())
            self._refusal = error if lasts else None
            if isinstance(error, Unauthorized):
                self.sign_in()
            least = min(self.timing.pace + lasts, self.timing.longest)
            most = self.timing.busy if self._runs() else self.timing.longest
            return [], clock.monotonic() + pause_after(error, least, most).total_seconds()
        self._denied, self._refusal = Denied(), None
        meter.count(Metric.POLLS)
        return named, asked + self._until_next().total_seconds()


def _stays(match: MatchRecord, listened: timedelta) -> bool:
    """Whether a running match stays with its worker, whatever happens in it, and has one."""
    limit = match.header.get("timeoutSeconds")
    short = isinstance(limit, int | float) and limit < NAMED_IN_TIME.total_seconds()
    attended = match.ttl is None or listened >= match.ttl
    return short and attended and not match.rests
