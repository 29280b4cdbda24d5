"""Observer of leases: it finds the matches whose lease has expired, without comparing clocks."""

from collections.abc import Container
from datetime import timedelta

from cardsharp.store.match_log import ExpiredLease, MatchRecord


class LeaseObserver:
    """Detector of expired leases, without a comparison of clocks.

    It remembers what this process has seen and since when, in monotonic seconds.
    Clocks of machines differ, and one can be an hour wrong. So no process compares timestamps
    that another machine has written. A lease or a queue mark has expired once a detector has
    seen it unchanged for its whole duration, by its local clock and from its first
    observation.
    """

    def __init__(self) -> None:
        self._observations: dict[str, tuple[int, float]] = {}

    def idle_for(self, match: MatchRecord, current_time: float) -> timedelta:
        """Return for how long, at least, nothing was written to a match that was just read."""
        version, since = self._observations.get(match.match_id, (match.lease_version, current_time))
        self._observations[match.match_id] = (
            match.lease_version,
            since if version == match.lease_version else current_time,
        )
        return timedelta(seconds=current_time - self._observations[match.match_id][1])

    def expired_lease(self, match: MatchRecord, current_time: float) -> ExpiredLease | None:
        """Return the expired lease of a match that was just read; None if it may still be held."""
        idle = self.idle_for(match, current_time)
        return (
            ExpiredLease(match.lease_version, idle)
            if match.ttl is None or idle >= match.ttl
            else None
        )

    def retain_only(self, ids: Container[str]) -> None:
        """Forget all matches except those with these ids."""
        self._observations = {
            name: observation for name, observation in self._observations.items() if name in ids
        }
