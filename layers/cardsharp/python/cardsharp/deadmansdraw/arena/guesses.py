"""Wrong passwords: who tries one after the other waits ever longer for the answer.

They are counted by address and by user. A right password is answered at once, whatever others try;
only after very many wrong ones does a user have to come from where it was let in before.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from cardsharp.deadmansdraw.arena.counts import Counts
from cardsharp.deadmansdraw.arena.slowdown import WINDOW, delay_for
from cardsharp.web.refusals import Refused

FREE = 10
"""Wrong passwords a minute, of an address or for a user, that are answered at once."""

MOST, MOST_AT_ONCE = 1000, 100
"""Wrong passwords a minute, of an address or for a user, beyond which no new one is looked at.

The second is for where each is answered at once, as who waits would cost something.
"""

_MANY = 10_000
"""Addresses and users that are remembered."""

_log = logging.getLogger(__name__)


class Guesses:
    """Counts wrong passwords, in `counts`, and remembers from where right ones came."""

    def __init__(
        self, counts: Counts, clock: Callable[[], datetime], *, waits: bool = True
    ) -> None:
        self._counts = counts
        self._waits, self._most = waits, MOST if waits else MOST_AT_ONCE
        self._clock = clock
        self._shut: dict[str, datetime] = {}
        self._let_in: set[tuple[str, str]] = set()

    def check(self, address: str, user: str) -> None:
        """See whether a password may be looked at.

        Raises:
            Refused: too many were wrong.
        """
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
    """Who guesses, and whose password."""
    return f"from {address}", f"for {user}"
