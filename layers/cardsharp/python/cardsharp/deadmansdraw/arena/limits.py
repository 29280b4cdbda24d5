"""How much may be asked of an arena: how fast, how many wrong passwords, how much by one player.

The slow-down is the original's (docs/spec/arena.md section 2): nobody is refused, whoever asks too
much waits. In windows of 60 s it is 1000 requests an address and 100 an address and user, then
100 ms for each further request, at most 10 s; the admin is free of the second.

Who tries one wrong password after the other waits ever longer for the answer. They are counted by
address and by user. A right password is answered at once, whatever others try; only after very many
wrong ones does a user have to come from where it was let in before.

What one player may take is bounded, so that there is enough for all. Whoever is refused is told so
with a 429, and the organiser by a line in the log.
"""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from starlette.requests import Request
from starlette.responses import Response

from cardsharp.cloud.clock import Now
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.web.route import Refused

_MANY = 10_000  # entries in memory beyond which those that are over are forgotten
_log = logging.getLogger(__name__)


class Counted(NamedTuple):
    """How often something has happened in a stretch of time, and when that ends."""

    number: int
    ends: datetime


class Counts(Protocol):
    """Counts by key, each in stretches of a fixed length."""

    def count(self, key: str, length: timedelta) -> Counted:
        """Count one more; a stretch begins with the first that comes after the last one's end."""


class MemoryCounts:
    """Counts of this process alone."""

    def __init__(self, clock: Now) -> None:
        self._clock = clock
        self._counted: dict[str, Counted] = {}
        self._enough = _MANY

    def count(self, key: str, length: timedelta) -> Counted:
        """Count one more."""
        now = self._clock()
        before = self._counted.get(key)
        if before is None or before.ends <= now:
            if len(self._counted) >= self._enough:  # it has been asked for by many
                self._counted = {key: one for key, one in self._counted.items() if one.ends > now}
                # Where all of them still count, the next look is only worth it twice as late.
                self._enough = max(_MANY, 2 * len(self._counted))
            before = Counted(0, now + length)
        found = self._counted[key] = Counted(before.number + 1, before.ends)
        return found


WINDOW = timedelta(seconds=60)
STEP = timedelta(milliseconds=100)
LONGEST = timedelta(seconds=10)
PER_ADDRESS = 1000
PER_USER = 100


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a request has to wait, and the headers that tell how near the limit is."""

    delay: timedelta
    headers: dict[str, str]


class SlowDown:
    """Counts the requests of each key in fixed windows."""

    def __init__(self, limit: int, clock: Now) -> None:
        self._limit = limit
        self._counts = MemoryCounts(clock)

    def count(self, key: str) -> Pace:
        """Count one request of `key`; how long it has to wait."""
        number, ends = self._counts.count(key, WINDOW)
        return Pace(
            delay_for(number - self._limit),
            {
                "X-SlowDown-Limit": str(self._limit),
                "X-SlowDown-Remaining": str(max(0, self._limit - number)),
                "X-SlowDown-Reset": str(round(ends.timestamp())),
            },
        )


def delay_for(over: int) -> timedelta:
    """How long who is so many requests over a limit has to wait."""
    return min(max(0, over) * STEP, LONGEST)


FREE = 10  # wrong passwords a minute, of an address or for a user, that are answered at once
MOST, MOST_AT_ONCE = 1000, 100
"""Wrong passwords a minute, of an address or for a user, beyond which no new one is looked at.

The second is for where each is answered at once, as who waits would cost something.
"""


class Guesses:
    """Counts wrong passwords, in `counts`, and remembers from where right ones came."""

    def __init__(self, counts: Counts, clock: Now, *, waits: bool = True) -> None:
        self._counts = counts
        self._waits, self._most = waits, MOST if waits else MOST_AT_ONCE
        self._clock = clock
        self._shut: dict[str, datetime] = {}
        self._let_in: set[tuple[str, str]] = set()

    def check(self, address: str, user: str) -> None:
        """See whether a password may be looked at; raises `Refused` if too many were wrong."""
        shut = [self._shut[key] for key in _keys(address, user) if key in self._shut]
        if shut and (address, user) not in self._let_in and max(shut) > self._clock():
            raise Refused(429, "Too many wrong passwords; a minute later they are looked at again.")

    def right(self, address: str, user: str) -> None:
        """A password was right."""
        if len(self._let_in) >= _MANY:
            self._let_in.clear()
        self._let_in.add((address, user))

    def wrong(self, address: str, user: str) -> timedelta:
        """A password was wrong: how long its sender waits until that is told."""
        found = {key: self._counts.count(key, WINDOW) for key in _keys(address, user)}
        for key, counted in found.items():
            if counted.number in (FREE, self._most):
                _log.warning("%d wrong passwords within a minute: %s", counted.number, key)
            if counted.number >= self._most:
                self._shut[key] = counted.ends
        self._shut = {key: end for key, end in self._shut.items() if end > self._clock()}
        over = max(counted.number for counted in found.values()) - FREE
        return delay_for(over if self._waits else 0)


def _keys(address: str, user: str) -> tuple[str, str]:
    return f"from {address}", f"for {user}"


DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Quotas:
    """Of each player: matches that it creates in a day, and requests that wait at a time."""

    matches: int
    at_once: int


OF_A_TEAM = Quotas(matches=2_000, at_once=64)
"""In a contest and in the cloud: 30 times what a team played in the week of 2023."""

AT_HOME = Quotas(matches=100_000, at_once=2_000)  # of who has the machine for itself


class Shares:
    """Holds players to their quotas; the organiser has none."""

    def __init__(self, quotas: Quotas, counts: Counts) -> None:
        self._quotas, self._counts = quotas, counts
        self._answering: Counter[str] = Counter()
        self._told: set[str] = set()

    @contextmanager
    def answering(self, user: User) -> Iterator[None]:
        """While a request of this user is answered; raises `Refused` if too many of them are."""
        most = self._quotas.at_once
        if self._answering[user.id] >= most:
            raise self._refused(user, f"Only {most} requests of a player are answered at a time.")
        self._answering[user.id] += 1
        try:
            yield
        finally:
            self._answering[user.id] -= 1

    def creates(self, user: User) -> None:
        """A match is about to be created; raises `Refused` if there were too many today."""
        most = self._quotas.matches
        if user.plays and self._counts.count(f"matches {user.id}", DAY).number > most:
            raise self._refused(user, f"A player may create {most} matches in a day.")

    def _refused(self, user: User, told: str) -> Refused:
        """What is answered; the organiser reads once of each player who is refused."""
        if user.id not in self._told:
            self._told.add(user.id)
            _log.warning("%s (%s) was refused: %s", user.name, user.id, told)
        return Refused(429, told)


SPECTATOR = User("spectator", None, "spectator")

FRESH = timedelta(milliseconds=300)  # an answer serves so long: a card is there in a second
OF_SPECTATORS = 1200  # requests an address may send in a minute: ten who watch a match each
MOST_KEPT = 256  # answers that are kept at a time
MOST_BYTES = 1_000_000  # bytes of the largest answer that is kept


class Spectators:
    """Answers those who do not say who they are, where the organiser wants them: `--public`.

    They look at matches and pages and at nothing else, and never learn what a player does not know.
    An answer serves everybody who asks for the same within a moment, and whoever asks too much is
    refused, so that however many look on, the players are not kept waiting.
    """

    def __init__(self, clock: Now) -> None:
        self._clock = clock
        self._pace = SlowDown(OF_SPECTATORS, clock)
        self._kept: dict[str, tuple[datetime, Response]] = {}
        """By what was asked, until when an answer serves, and the answer."""

    async def answer(
        self, request: Request, address: str, made: Callable[[], Awaitable[Response]]
    ) -> Response:
        """The answer, perhaps one of a moment ago; raises `Refused` if asked for too often."""
        if self._pace.count(address).delay:
            raise Refused(429, "Too many requests; a minute later they are answered again.")
        key = f"{request.method} {request.url.path}?{request.url.query}"
        now = self._clock()
        until, response = self._kept.get(key, (now, None))
        if response is not None and now < until:
            return response
        response = await made()
        response.headers.setdefault("Cache-Control", "no-cache")
        if len(response.body) <= MOST_BYTES:
            if len(self._kept) >= MOST_KEPT:  # none of them serves for long
                self._kept.clear()
            self._kept[key] = now + FRESH, response
        return response
