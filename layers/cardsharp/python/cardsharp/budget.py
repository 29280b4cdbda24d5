"""The budget of requests that a user has at a service: which request may go, and when.

A service that slows whoever asks too much down counts the requests of a user, in all his matches
together, and says in each answer how many are left and until when. So all matches of a process
share one budget, and each request has a purpose and a latest moment. As long as the budget has
plenty, requests go at once. What is left of it is spread over the time that is left: actions first,
then the looks that they need, then waiting, then the list; of two actions the more urgent one. What
has come to its latest moment goes in any case.

No limit is known by heart. Where other processes ask as the same user, the answers show that, and
only our share is spent. Where no answer tells a limit, but answers come later and later, requests
keep a distance that grows until they do not.

Pure: every moment is an argument, in monotonic seconds.
"""

import threading
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from math import inf
from typing import NamedTuple

AHEAD = 0.2  # so much faster than evenly a budget may be spent: a turn comes with several requests
FED = 0.65
"""The part of a turn's limit that an action may wait; the rest is for deciding and for the way."""

BORNE = 0.55  # that part if so many matches were played that all their actions waited so long
NOT_LONGER = 900  # seconds that a window may last: what is said to last longer is not believed
USUAL = 60  # seconds that a window is taken to last that did not begin with us
_STEP, _STEPS = 0.05, 4
"""So many answers one after another, each by so many seconds later than the last: we are slowed."""

_QUICKER, _SLOWEST, _LEAST = 0.97, 1.0, 0.1


class Purpose(IntEnum):
    """What a request is for; the first go first."""

    ACT = 0
    LOOK = 1
    WAIT = 2
    LIST = 3


class Ticket(NamedTuple):
    """A request that wants to go, by `latest` in any case; in the order in which they go."""

    purpose: Purpose
    latest: float
    number: int


class Allowance(NamedTuple):
    """What an answer says of the service's count: `left` of `limit` until its moment `reset`.

    That is the second `ends` of ours. `sent` is the number of the request that was answered.
    """

    limit: int
    left: int
    reset: float
    ends: float
    sent: int


@dataclass(slots=True)
class _Window:
    """The count as it was told last, and how many seconds windows last: `seen`, or taken so."""

    last: Allowance
    length: float
    is_seen: bool
    is_guessed: bool = False  # its time is over, and no answer has told of the next one yet

    def left(self, sent: int) -> int:
        """How many are left when so many were sent: the answers of some are still to come."""
        return self.last.left - (sent - self.last.sent)

    def free(self, sent: int, before: int, ahead: float) -> float:
        """When another request may go after so many `before` it.

        Then more is left than an even pace leaves, made smaller by the part `ahead`.
        """
        apart = self.length / (self.last.limit * (1 - ahead))
        return self.last.ends - max(self.left(sent) - 1 - before, 0) * apart


@dataclass(slots=True)
class Budget:
    """The requests of one user at one service; for any number of threads."""

    _window: _Window | None = None
    _sent: int = 0
    _apart: float = 0  # seconds between two requests where no limit is told and answers are slow
    _next: float = 0  # when the next request may go then
    _took: float = inf
    _later: int = 0
    _tickets: list[Ticket] = field(default_factory=list)
    _entered: int = 0
    _guard: threading.RLock = field(default_factory=threading.RLock)

    @property
    def limit(self) -> int | None:
        """Requests a window, None where the service tells no limit."""
        return None if self._window is None else self._window.last.limit

    def left(self, now: float) -> int | None:
        """How many requests are left until the window ends, None where no limit is told."""
        with self._guard:
            window = self._current(now)
            return None if window is None else window.left(self._sent)

    def feeds(self, turn: timedelta | None) -> int | None:
        """In how many matches no turn of that limit is lost for want of requests; None: in any."""
        with self._guard:
            if self._window is None or turn is None:
                return None
            a_second = self._window.last.limit / self._window.length
            return max(1, int(a_second * BORNE * turn.total_seconds()))

    # --- going -------------------------------------------------------------------------------

    def enter(self, purpose: Purpose, latest: float) -> Ticket:
        """A place in line for a request that is to go by `latest`; given back by `leave`."""
        with self._guard:
            self._entered += 1
            ticket = Ticket(purpose, latest, self._entered)
            self._tickets.append(ticket)
            self._tickets.sort()
            return ticket

    def leave(self, ticket: Ticket) -> None:
        """The request goes, or is not sent after all."""
        with self._guard:
            self._tickets.remove(ticket)

    def wait(self, ticket: Ticket, now: float) -> float:
        """Seconds until a request may go, as things stand; zero: now."""
        with self._guard:
            window, before = self._current(now), self._tickets.index(ticket)
            if window is None:
                free = self._next + before * self._apart
            else:
                ahead = 0 if ticket.purpose is Purpose.LIST else AHEAD
                free = window.free(self._sent, before, ahead)
            return max(0.0, min(free, ticket.latest) - now)

    def send(self, now: float) -> int:
        """A request goes out; its number."""
        with self._guard:
            self._next = max(self._next, now) + self._apart
            self._sent += 1
            return self._sent

    def _current(self, now: float) -> _Window | None:
        """The window; the next one, whole as far as we know, where its time is over."""
        window = self._window
        if window is not None and now >= window.last.ends:
            last = window.last
            fresh = Allowance(last.limit, last.limit, last.reset, now + window.length, self._sent)
            window.last, window.is_guessed = fresh, True
        return window

    # --- learning ----------------------------------------------------------------------------

    def told(self, told: Allowance, now: float) -> bool:
        """An answer told the count; whether it is the first to say that nothing is left."""
        lasts = told.ends - now
        if told.limit <= 0 or told.left < 0 or not 0 < lasts <= NOT_LONGER:
            return False
        with self._guard:
            window = self._current(now)
            if window is None or told.reset > window.last.reset:
                self._window = _Window(told, *_length(told, lasts, window))
                return told.left == 0
            stale = told.reset < window.last.reset or told.sent < window.last.sent
            if window.is_guessed or stale:
                return False
            news = told.left == 0 < window.last.left
            window.last, window.length = told, max(window.length, lasts)
            return news

    def answered(self, seconds: float) -> None:
        """A short answer took so long; where no limit is told, that says whether we are slowed."""
        with self._guard:
            if self._window is not None:
                self._apart = 0
                return
            self._later = self._later + 1 if seconds >= self._took + _STEP else 0
            self._took = seconds
            if self._later >= _STEPS:
                self._later = 0
                self._apart = min(max(2 * self._apart, _LEAST), _SLOWEST)
            elif not self._later:
                self._apart = self._apart * _QUICKER if self._apart > _LEAST / 2 else 0


def _length(told: Allowance, lasts: float, before: _Window | None) -> tuple[float, bool]:
    """How long windows last, at the first answer in a new one; and whether one was seen whole."""
    if before is not None and before.is_seen:
        return max(lasts, before.length), True
    begins = told.left >= told.limit - 1
    return (lasts, True) if begins else (max(lasts, USUAL), False)
