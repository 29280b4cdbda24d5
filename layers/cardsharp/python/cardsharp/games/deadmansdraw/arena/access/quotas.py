"""Quotas of a player: the matches it creates in a day, and the requests that wait at a time.

They bound the use by one player, so that there is enough for all. A request over a quota is
rejected with the reason, and the log gets a line for the organiser.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from cardsharp.games.deadmansdraw.arena.access.throttling import WindowCounter
from cardsharp.games.deadmansdraw.arena.access.users import User
from cardsharp.server.service_errors import QuotaExceeded

QUOTA_PERIOD = timedelta(days=1)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlayerQuotas:
    """Quotas of each player: matches created a day, and requests in progress at a time."""

    max_matches_per_day: int
    max_concurrent_requests: int


CLOUD_QUOTAS = PlayerQuotas(max_matches_per_day=2_000, max_concurrent_requests=64)
"""Quotas in a contest and in the cloud: 30 times what a team used in the competition of 2023."""

# Quotas on a machine that a user has alone.
LOCAL_QUOTAS = PlayerQuotas(max_matches_per_day=100_000, max_concurrent_requests=2_000)


class QuotaEnforcer:
    """Holds players to their quotas; the organiser has none."""

    def __init__(self, quotas: PlayerQuotas, counts: WindowCounter) -> None:
        self._quotas, self._window_counter = quotas, counts
        self._concurrent_requests: Counter[str] = Counter()
        self._warned_users: set[str] = set()

    @contextmanager
    def reserve_concurrent_request(self, user: User) -> Iterator[None]:
        """Count a user's request while it is answered.

        Raises `QuotaExceeded` if the user has too many open requests.
        """
        max_requests = self._quotas.max_concurrent_requests
        if self._concurrent_requests[user.id] >= max_requests:
            raise self._build_quota_error(
                user, f"A player may have at most {max_requests} requests open at a time."
            )
        self._concurrent_requests[user.id] += 1
        try:
            yield
        finally:
            self._concurrent_requests[user.id] -= 1

    def consume_match_quota(self, user: User) -> None:
        """Count a match about to be created.

        Raises `QuotaExceeded` if the daily quota is used up.
        """
        max_matches = self._quotas.max_matches_per_day
        if (
            user.is_player
            and self._window_counter.count(f"matches {user.id}", QUOTA_PERIOD).request_count
            > max_matches
        ):
            raise self._build_quota_error(user, f"A player may create {max_matches} matches a day.")

    def _build_quota_error(self, user: User, message: str) -> QuotaExceeded:
        """Return the error of a request over a quota; log the first one of each player."""
        if user.id not in self._warned_users:
            self._warned_users.add(user.id)
            _log.warning("A request of %s (%s) was rejected: %s", user.name, user.id, message)
        return QuotaExceeded(message)
