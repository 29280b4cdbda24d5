"""The durations by which the worker of any game lives, and its limits on a request."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from cardsharp.cloud.settings import Workplace
from cardsharp.exchange import Limits

Remaining = Callable[[], timedelta]
"""How much time the worker has left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The durations by which a worker lives.

    `act` is the limit of one action's answer, and so the time after which an action that was
    sent can no longer arrive; `long_poll` that of one wait for a change. A wait or a turn begins
    only while more than `handover` is left besides; `breath` is the pause before an arena or
    service that failed is asked again. `shelf` is how long a match is left alone that is denied
    us.
    """

    lease: timedelta = timedelta(seconds=3)
    renew: timedelta = timedelta(seconds=1)
    decision: timedelta = timedelta(seconds=2)
    act: timedelta = timedelta(milliseconds=2500)
    long_poll: timedelta = timedelta(seconds=40)
    handover: timedelta = timedelta(seconds=15)
    breath: timedelta = timedelta(seconds=1)
    shelf: timedelta = timedelta(minutes=1)


def timing_of(settings: Workplace) -> Timing:
    """The timing that these settings say."""
    return Timing(
        lease=settings.lease,
        renew=settings.renew,
        decision=settings.decision,
        act=settings.act,
        long_poll=settings.read,
        handover=settings.handover,
    )


def limits_of(settings: Workplace) -> Limits:
    """The limits of a request that these settings say.

    A worker asks again by itself, so no question may outlast the time to hand on. And half of an
    action's limit is kept for the answer: what is sent late may arrive too late.
    """
    patience = settings.handover / 2
    return Limits(
        connect=min(settings.connect, settings.act / 2),
        read=patience,
        long_poll=settings.read,
        act=settings.act,
        total=patience,
        body=settings.max_answer_bytes,
    )
