"""How long a worker waits, pauses and lets things arrive, counted to the instant."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from world.clock import StillClock

from cardsharp.cloud.hold import Hold
from cardsharp.cloud.lease import Keeping, LeaseKeeper
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.timing import Timing
from cardsharp.errors import ArenaError, RateLimited, Rejected, Unreachable

INSTANT = timedelta(microseconds=1)
TIMING = Timing()
LOST = Unreachable("no answer", doubtful=True)
REFUSED = Rejected(400, "not now")


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def log(clock: StillClock) -> Iterator[SqliteLog]:
    with closing(SqliteLog(Path(":memory:"), clock)) as made:
        yield made


def hold(log: SqliteLog, clock: StillClock, left: timedelta) -> Hold:
    """A hold by a worker who has so much time left, whatever the clock says."""
    lease = log.take("m", "worker", TIMING.lease)
    assert lease is not None
    keeper = LeaseKeeper(log, lease, Keeping(TIMING.lease, TIMING.renew), clock, clock.monotonic())
    return Hold(keeper, log, clock, Meter(), TIMING, lambda: left, clock.monotonic())


def test_a_wait_begins_only_with_time_for_all_of_it_and_for_handing_on(
    log: SqliteLog, clock: StillClock
) -> None:
    needed = TIMING.long_poll + TIMING.handover
    assert not hold(log, clock, needed).time_to_wait()
    assert hold(log, clock, needed + INSTANT).time_to_wait()


def test_another_action_is_decided_only_with_time_to_send_it_and_to_wait_for_it(
    log: SqliteLog, clock: StillClock
) -> None:
    needed = TIMING.decision + 2 * TIMING.act
    assert not hold(log, clock, needed).time_to_decide()
    assert hold(log, clock, needed + INSTANT).time_to_decide()


@pytest.mark.parametrize(
    ("left", "slept"),
    [
        (TIMING.handover * 2, timedelta(seconds=5)),
        (TIMING.handover / 2 + timedelta(seconds=2), timedelta(seconds=2)),
        (TIMING.handover / 4, timedelta(0)),
    ],
)
def test_a_pause_ends_in_time_to_hand_on(
    log: SqliteLog, clock: StillClock, left: timedelta, slept: timedelta
) -> None:
    began = clock.now()
    hold(log, clock, left).pause(timedelta(seconds=5))
    assert clock.now() - began == slept


@pytest.mark.parametrize(
    ("error", "ago", "slept"),
    [
        (LOST, timedelta(seconds=1), TIMING.act - timedelta(seconds=1)),
        (LOST, TIMING.act * 2, timedelta(0)),
        (REFUSED, timedelta(seconds=1), TIMING.breath),
        (RateLimited("busy", timedelta(seconds=2)), timedelta(0), timedelta(seconds=2)),
        (RateLimited("busy", timedelta(hours=1)), timedelta(0), timedelta(seconds=3)),
    ],
)
def test_an_action_without_an_answer_is_let_arrive(
    log: SqliteLog, clock: StillClock, error: ArenaError, ago: timedelta, slept: timedelta
) -> None:
    sent = clock.monotonic()
    clock.advance(ago)
    began = clock.now()
    hold(log, clock, timedelta(hours=1)).let_arrive(error, sent, timedelta(seconds=3))
    assert clock.now() - began == slept
