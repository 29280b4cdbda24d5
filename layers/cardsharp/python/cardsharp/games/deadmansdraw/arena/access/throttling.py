"""Throttling of an arena's requests: by their rate, and of wrong passwords.

The slow-down is the original's (docs/spec/arena.md section 2): a request over the limit is not
refused but delayed. In windows of 60 s the limit is 1000 requests an address and 100 an address
and user; each further request waits 100 ms more, at most 10 s. The admin is exempt from the
limit by user.

Responses to a series of wrong passwords are delayed more and more. Wrong passwords are counted
by address and by user. A right password is answered at once, whatever others try. Only after
very many wrong ones must a user come from an address where it signed in earlier.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from cardsharp.core.clock import TimeSource
from cardsharp.games.deadmansdraw.arena.errors import TooManyWrongPasswords

_CLEANUP_THRESHOLD = 10_000  # entries in memory above which expired ones are removed
_log = logging.getLogger(__name__)


class WindowCount(NamedTuple):
    """Number of requests in a time window, and the end of that window."""

    request_count: int
    ends_at: datetime


class WindowCounter(Protocol):
    """Counter of requests by key, in windows of a fixed length."""

    def count(self, key: str, window: timedelta) -> WindowCount:
        """Count one more; a window begins with the first request after the end of the last one."""


class MemoryWindowCounter:
    """Counter whose counts are in this process alone."""

    def __init__(self, clock: TimeSource) -> None:
        self._clock = clock
        self._counts: dict[str, WindowCount] = {}
        self._cleanup_size = _CLEANUP_THRESHOLD

    def count(self, key: str, window: timedelta) -> WindowCount:
        """Count one more request of `key` and return the count of its window."""
        current_time = self._clock()
        previous = self._counts.get(key)
        if previous is None or previous.ends_at <= current_time:
            if len(self._counts) >= self._cleanup_size:
                self._counts = {
                    key: window_count
                    for key, window_count in self._counts.items()
                    if window_count.ends_at > current_time
                }
                # If most of them are still valid, another scan is useful only once the number has
                # doubled. Otherwise each request of an attack would scan all entries.
                self._cleanup_size = max(_CLEANUP_THRESHOLD, 2 * len(self._counts))
            previous = WindowCount(0, current_time + window)
        updated = self._counts[key] = WindowCount(previous.request_count + 1, previous.ends_at)
        return updated


WINDOW = timedelta(seconds=60)
DELAY_STEP = timedelta(milliseconds=100)
MAX_DELAY = timedelta(seconds=10)
MAX_PER_ADDRESS = 1000
MAX_PER_USER = 100
MAX_PER_TEAM = 1000  # in a contest, in place of the original's limit for a user


@dataclass(frozen=True, slots=True)
class ThrottleResult:
    """Delay of a request, and the response headers with the limit and what is left of it."""

    delay: timedelta
    headers: dict[str, str]


class RequestThrottle:
    """Throttle that counts the requests of each key in fixed windows, and delays some."""

    def __init__(self, limit: int, clock: TimeSource) -> None:
        self._limit = limit
        self._counts = MemoryWindowCounter(clock)

    def count_request(self, client_key: str) -> ThrottleResult:
        """Count one request of `client_key` and return its delay."""
        request_count, ends = self._counts.count(client_key, WINDOW)
        return ThrottleResult(
            throttle_delay(request_count - self._limit),
            {
                "X-SlowDown-Limit": str(self._limit),
                "X-SlowDown-Remaining": str(max(0, self._limit - request_count)),
                "X-SlowDown-Reset": str(round(ends.timestamp())),
            },
        )


def throttle_delay(excess: int) -> timedelta:
    """Return the delay of a request that is `excess` requests over a limit."""
    return min(max(0, excess) * DELAY_STEP, MAX_DELAY)


# All three are numbers of wrong passwords a minute, from one address or for one user.
FREE_GUESSES = 10  # up to this number the response is not delayed
MAX_GUESSES_PER_ADDRESS, MAX_GUESSES_UNDELAYED = 1000, 100
"""Numbers above which no further password is checked.

The second one is for arenas that delay no response, because a waiting request costs money there.
"""


class LoginThrottle:
    """Limit on wrong passwords, by address and by user.

    An attacker could lock a user out by sending wrong passwords for it. So an address from which
    the user has signed in before is never locked out for that user.
    """

    def __init__(
        self, counts: WindowCounter, clock: TimeSource, *, delays_response: bool = True
    ) -> None:
        self._counts = counts
        self._delays_response, self._max_guesses = (
            delays_response,
            MAX_GUESSES_PER_ADDRESS if delays_response else MAX_GUESSES_UNDELAYED,
        )
        self._clock = clock
        self._blocked_until: dict[str, datetime] = {}
        self._trusted_logins: set[tuple[str, str]] = set()

    def check_attempt_allowed(self, address: str, user: str) -> None:
        """Raise `TooManyWrongPasswords` if there were too many of them to check another one."""
        shut = [
            self._blocked_until[key]
            for key in _throttle_keys(address, user)
            if key in self._blocked_until
        ]
        if shut and (address, user) not in self._trusted_logins and max(shut) > self._clock():
            raise TooManyWrongPasswords

    def trust_login_address(self, address: str, user: str) -> None:
        """Record that a user signed in from an address: it is never locked out for that user."""
        if len(self._trusted_logins) >= _CLEANUP_THRESHOLD:
            self._trusted_logins.clear()
        self._trusted_logins.add((address, user))

    def record_failure_and_get_delay(self, address: str, user: str) -> timedelta:
        """Count a wrong password and return the delay of the response."""
        counts = {key: self._counts.count(key, WINDOW) for key in _throttle_keys(address, user)}
        for key, counted in counts.items():
            if counted.request_count in (FREE_GUESSES, self._max_guesses):
                _log.warning("%d wrong passwords within a minute: %s", counted.request_count, key)
            if counted.request_count >= self._max_guesses:
                self._blocked_until[key] = counted.ends_at
        self._blocked_until = {
            key: end for key, end in self._blocked_until.items() if end > self._clock()
        }
        over = max(counted.request_count for counted in counts.values()) - FREE_GUESSES
        return throttle_delay(over if self._delays_response else 0)


def _throttle_keys(address: str, user: str) -> tuple[str, str]:
    return f"from {address}", f"for {user}"
