"""Limits on the use of an arena: request rate, wrong passwords, and quotas of a player.

The slow-down is the original's (docs/spec/arena.md section 2): a request over the limit is not
refused but delayed. In windows of 60 s the limit is 1000 requests an address and 100 an address
and user; each further request waits 100 ms more, at most 10 s. The admin is exempt from the
limit by user.

Responses to a series of wrong passwords are delayed more and more. Wrong passwords are counted
by address and by user. A right password is answered at once, whatever others try. Only after
very many wrong ones must a user come from an address where it signed in earlier.

Quotas bound the use by one player, so that there is enough for all. A request over a quota gets
a 429 with the reason, and the log gets a line for the organiser.
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

from cardsharp.core.clock import TimeSource
from cardsharp.games.deadmansdraw.arena.access.users import User
from cardsharp.server.routing import HttpError

_MANY = 10_000  # entries in memory beyond which those that are over are forgotten
_log = logging.getLogger(__name__)


class WindowCount(NamedTuple):
    """Number of requests in a time window, and the end of that window."""

    request_count: int
    ends_at: datetime


class WindowCounter(Protocol):
    """Counts by key, each in stretches of a fixed length."""

    def count(self, key: str, window: timedelta) -> WindowCount:
        """Count one more; a stretch begins with the first that comes after the last one's end."""


class MemoryWindowCounter:
    """Counts of this process alone."""

    def __init__(self, clock: TimeSource) -> None:
        self._clock = clock
        self._counted: dict[str, WindowCount] = {}
        self._enough = _MANY

    def count(self, key: str, window: timedelta) -> WindowCount:
        """Count one more."""
        current_time = self._clock()
        previous = self._counted.get(key)
        if previous is None or previous.ends_at <= current_time:
            if len(self._counted) >= self._enough:  # it has been asked for by many
                self._counted = {
                    key: window_count
                    for key, window_count in self._counted.items()
                    if window_count.ends_at > current_time
                }
                # Where all of them still count, the next look is only worth it twice as late.
                self._enough = max(_MANY, 2 * len(self._counted))
            previous = WindowCount(0, current_time + window)
        updated = self._counted[key] = WindowCount(previous.request_count + 1, previous.ends_at)
        return updated


WINDOW = timedelta(seconds=60)
DELAY_STEP = timedelta(milliseconds=100)
MAX_DELAY = timedelta(seconds=10)
MAX_PER_ADDRESS = 1000
MAX_PER_USER = 100


@dataclass(frozen=True, slots=True)
class ThrottleResult:
    """Delay of a request, and the headers that tell how near the limit is."""

    delay: timedelta
    headers: dict[str, str]


class RequestThrottle:
    """Counts the requests of each key in fixed windows."""

    def __init__(self, limit: int, clock: TimeSource) -> None:
        self._limit = limit
        self._counts = MemoryWindowCounter(clock)

    def count(self, client_key: str) -> ThrottleResult:
        """Count one request of `key`; how long it has to wait."""
        number, ends = self._counts.count(client_key, WINDOW)
        return ThrottleResult(
            throttle_delay(number - self._limit),
            {
                "X-SlowDown-Limit": str(self._limit),
                "X-SlowDown-Remaining": str(max(0, self._limit - number)),
                "X-SlowDown-Reset": str(round(ends.timestamp())),
            },
        )


def throttle_delay(excess: int) -> timedelta:
    """Return the delay of a request that is `excess` requests over a limit."""
    return min(max(0, excess) * DELAY_STEP, MAX_DELAY)


FREE_GUESSES = (
    10  # wrong passwords a minute, of an address or for a user, that are answered at once
)
MAX_GUESSES_PER_ADDRESS, MAX_GUESSES_UNDELAYED = 1000, 100
"""Wrong passwords a minute, of an address or for a user, beyond which no new one is looked at.

The second is for where each is answered at once, as who waits would cost something.
"""


class LoginThrottle:
    """Counter of wrong passwords, in `counts`, that remembers where right ones came from."""

    def __init__(
        self, counts: WindowCounter, clock: TimeSource, *, delays_response: bool = True
    ) -> None:
        self._counts = counts
        self._waits, self._max_guesses = (
            delays_response,
            MAX_GUESSES_PER_ADDRESS if delays_response else MAX_GUESSES_UNDELAYED,
        )
        self._clock = clock
        self._shut: dict[str, datetime] = {}
        self._let_in: set[tuple[str, str]] = set()

    def check(self, address: str, user: str) -> None:
        """Raise `HttpError` if there were too many wrong passwords to check another one."""
        shut = [self._shut[key] for key in _keys(address, user) if key in self._shut]
        if shut and (address, user) not in self._let_in and max(shut) > self._clock():
            raise HttpError(
                429, "Too many wrong passwords; a minute later they are looked at again."
            )

    def record_success(self, address: str, user: str) -> None:
        """A password was right."""
        if len(self._let_in) >= _MANY:
            self._let_in.clear()
        self._let_in.add((address, user))

    def record_failure(self, address: str, user: str) -> timedelta:
        """Count a wrong password and return the delay of the response."""
        counts = {key: self._counts.count(key, WINDOW) for key in _keys(address, user)}
        for key, counted in counts.items():
            if counted.request_count in (FREE_GUESSES, self._max_guesses):
                _log.warning("%d wrong passwords within a minute: %s", counted.request_count, key)
            if counted.request_count >= self._max_guesses:
                self._shut[key] = counted.ends_at
        self._shut = {key: end for key, end in self._shut.items() if end > self._clock()}
        over = max(counted.request_count for counted in counts.values()) - FREE_GUESSES
        return throttle_delay(over if self._waits else 0)


def _keys(address: str, user: str) -> tuple[str, str]:
    return f"from {address}", f"for {user}"


QUOTA_PERIOD = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PlayerQuotas:
    """Of each player: matches that it creates in a day, and requests that wait at a time."""

    max_matches_per_day: int
    max_concurrent_requests: int


CLOUD_QUOTAS = PlayerQuotas(max_matches_per_day=2_000, max_concurrent_requests=64)
"""In a contest and in the cloud: 30 times what a team played in the week of 2023."""

LOCAL_QUOTAS = PlayerQuotas(
    max_matches_per_day=100_000, max_concurrent_requests=2_000
)  # of who has the machine for itself


class QuotaEnforcer:
    """Holds players to their quotas; the organiser has none."""

    def __init__(self, quotas: PlayerQuotas, counts: WindowCounter) -> None:
        self._quotas, self._counts = quotas, counts
        self._answering: Counter[str] = Counter()
        self._warned_users: set[str] = set()

    @contextmanager
    def reserve_request(self, user: User) -> Iterator[None]:
        """Count a user's request while it is answered; raise `HttpError` if there are too many."""
        max_requests = self._quotas.max_concurrent_requests
        if self._answering[user.id] >= max_requests:
            raise self._refused(
                user, f"Only {max_requests} requests of a player are answered at a time."
            )
        self._answering[user.id] += 1
        try:
            yield
        finally:
            self._answering[user.id] -= 1

    def count_match(self, user: User) -> None:
        """Count a match about to be created; raise `HttpError` if the daily quota is used up."""
        max_matches = self._quotas.max_matches_per_day
        if (
            user.is_player
            and self._counts.count(f"matches {user.id}", QUOTA_PERIOD).request_count > max_matches
        ):
            raise self._refused(user, f"A player may create {max_matches} matches in a day.")

    def _refused(self, user: User, message: str) -> HttpError:
        """Return the 429 error of a request over a quota; log the first one of each player."""
        if user.id not in self._warned_users:
            self._warned_users.add(user.id)
            _log.warning("%s (%s) was refused: %s", user.name, user.id, message)
        return HttpError(429, message)


SPECTATOR_USER = User("spectator", None, "spectator")

CACHE_TTL = timedelta(milliseconds=300)  # an answer serves so long: a card is there in a second
MAX_SPECTATOR_REQUESTS = (
    1200  # requests an address may send in a minute: ten who watch a match each
)
MAX_CACHED_RESPONSES = 256  # answers that are kept at a time
MAX_CACHED_BYTES = 1_000_000  # bytes of the largest answer that is kept


class SpectatorCache:
    """Cached responses for requests without credentials, if the arena is public (`--public`).

    Spectators see matches and pages only, and nothing that is hidden from a player. A response
    serves all equal requests within a moment, and an address over its limit is refused, so that
    spectators do not slow the players down, however many they are.
    """

    def __init__(self, clock: TimeSource) -> None:
        self._clock = clock
        self._pace = RequestThrottle(MAX_SPECTATOR_REQUESTS, clock)
        self._responses: dict[str, tuple[datetime, Response]] = {}
        """By what was asked, until when an answer serves, and the answer."""

    async def respond(
        self, request: Request, address: str, make_response: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Return a fresh or cached response; raise `HttpError` if the address is over its limit."""
        if self._pace.count(address).delay:
            raise HttpError(429, "Too many requests; a minute later they are answered again.")
        key = f"{request.method} {request.url.path}?{request.url.query}"
        current_time = self._clock()
        until, response = self._responses.get(key, (current_time, None))
        if response is not None and current_time < until:
            return response
        response = await make_response()
        response.headers.setdefault("Cache-Control", "no-cache")
        if len(response.body) <= MAX_CACHED_BYTES:
            if len(self._responses) >= MAX_CACHED_RESPONSES:  # none of them serves for long
                self._responses.clear()
            self._responses[key] = current_time + CACHE_TTL, response
        return response
