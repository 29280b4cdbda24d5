"""The durations by which the worker of any game lives."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTiming:
    """The durations by which a worker lives.

    `act` is the limit of one action's answer, and so the time after which an action that was
    sent can no longer arrive; `long_poll` that of one wait for a change. A wait or a turn begins
    only while more than `handover` is left besides; `breath` is the pause before an arena or
    service that failed is asked again. A denial is believed when nothing else was answered for
    `denial`; `shelf` is how long a match is left alone then, and `rest` how long one is in which
    nothing happens and that the arena does not name either. `contradiction` is how long actions
    may be denied in a match that is shown as going on, before it is left.
    """

    lease_ttl: timedelta = timedelta(seconds=3)
    renew_interval: timedelta = timedelta(seconds=1)
    decision_timeout: timedelta = timedelta(seconds=2)
    action_timeout: timedelta = timedelta(milliseconds=2500)
    long_poll_timeout: timedelta = timedelta(seconds=40)
    handover_margin: timedelta = timedelta(seconds=15)
    backoff: timedelta = timedelta(seconds=1)
    denial_timeout: timedelta = timedelta(seconds=3)
    contradiction_timeout: timedelta = timedelta(minutes=1)
    retry_delay: timedelta = timedelta(minutes=1)
    park_ttl: timedelta = timedelta(minutes=10)

    @property
    def read_timeout(self) -> timedelta:
        """The limit of a look: whoever begins one has time left to hand on."""
        return self.handover_margin / 2


DEFAULT_TIMING = (
    SessionTiming()
)  # the durations where no setting says others: the one place where they stand
