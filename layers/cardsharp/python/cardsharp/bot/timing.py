"""Durations that a worker of any game observes."""

from dataclasses import dataclass
from datetime import timedelta

from cardsharp.core.limits import DECISION_TIMEOUT, LONG_POLL_TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTiming:
    """Durations that a worker observes in a session.

    `lease_ttl`: validity of a lease after its last renewal. `renew_interval`: between two
    renewals, and the time in which an action must be sent after its lease was checked.
    `decision_timeout`: limit of one decision.

    `action_timeout`: limit of one action's response, and so the time after which an action that
    was sent can no longer arrive. `long_poll_timeout`: limit of one wait for a change.
    `handover_margin`: time that must remain besides when a wait or a turn begins. `backoff`: the
    pause before a failed request is repeated.

    `denial_timeout`: how long a denial must be repeated before it is trusted.
    `contradiction_timeout`: the same for denied actions in a match that reads show as running.
    `retry_delay`: until a denied match is tried again. `park_ttl`: how long a match is parked in
    which nothing happens, unless the arena lists it earlier.
    """

    lease_ttl: timedelta = timedelta(seconds=3)
    renew_interval: timedelta = timedelta(seconds=1)
    decision_timeout: timedelta = DECISION_TIMEOUT
    action_timeout: timedelta = timedelta(milliseconds=2500)
    long_poll_timeout: timedelta = LONG_POLL_TIMEOUT
    handover_margin: timedelta = timedelta(seconds=15)
    backoff: timedelta = timedelta(seconds=1)
    denial_timeout: timedelta = timedelta(seconds=3)
    contradiction_timeout: timedelta = timedelta(minutes=1)
    retry_delay: timedelta = timedelta(minutes=1)
    park_ttl: timedelta = timedelta(minutes=10)

    @property
    def read_timeout(self) -> timedelta:
        """Limit of one read, short enough that time remains to hand the match over."""
        return self.handover_margin / 2


DEFAULT_TIMING = SessionTiming()  # the only place in which the default durations are set
