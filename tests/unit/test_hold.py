"""How long a worker waits, pauses and lets things arrive, counted to the instant."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from support.cloud_benches import LogBench, known, sqlite_log
from world.clock import StillClock

from cardsharp.cloud.hold import Hold
from cardsharp.cloud.lease import LeaseKeeper
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.ports import Lease, LeaseBook
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.timing import Timing
from cardsharp.errors import ArenaError, Conflict, RateLimited, Rejected, StoreError, Unreachable

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
    keeper = LeaseKeeper(log, lease, TIMING, clock, clock.monotonic())
    return Hold(keeper, log, clock, Meter(), TIMING, lambda: left, clock.monotonic())


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        (Hold.time_to_wait, TIMING.long_poll + TIMING.handover),
        (Hold.time_to_decide, TIMING.decision + 2 * TIMING.act),
    ],
)
def test_what_takes_time_begins_only_with_time_for_all_of_it_and_for_what_comes_after_it(
    log: SqliteLog, clock: StillClock, asked: Callable[[Hold], bool], needed: timedelta
) -> None:
    assert not asked(hold(log, clock, needed))
    assert asked(hold(log, clock, needed + INSTANT))


@pytest.mark.parametrize(
    ("left", "slept"),
    [
        (TIMING.handover * 2, timedelta(seconds=5)),
        (TIMING.handover / 2 + timedelta(seconds=2), timedelta(seconds=2)),
        (TIMING.handover / 4, timedelta(0)),
    ],
)
def test_a_pause_ends(log: SqliteLog, clock: StillClock, left: timedelta, slept: timedelta) -> None:
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


TTL = timedelta(seconds=3)
EVERY = timedelta(seconds=1)
KEEPING = Timing(lease=TTL, renew=EVERY)
MARGIN = timedelta(seconds=1)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[LogBench]:
    with sqlite_log(tmp_path) as ready:
        yield ready


def taken(bench: LogBench, owner: str = "ann") -> Lease:
    lease = bench.log.take("m", owner, TTL)
    assert lease is not None
    return lease


def kept(bench: LogBench, book: LeaseBook | None = None) -> LeaseKeeper:
    asked = bench.clock.monotonic()
    return LeaseKeeper(book or bench.log, taken(bench), KEEPING, bench.clock, asked)


class Broken:
    """A lease book whose renewals fail as long as it is broken."""

    def __init__(self, bench: LogBench) -> None:
        self.log = bench.log
        self.broken = True
        self.tried = threading.Semaphore(0)

    def renew(self, lease: Lease, ttl: timedelta) -> None:
        self.tried.release()
        if self.broken:
            raise StoreError("throttled")
        self.log.renew(lease, ttl)

    def __getattr__(self, name: str) -> object:
        return getattr(self.log, name)


def step(bench: LogBench) -> None:
    """Let one renewal interval pass and return when the keeper has acted on it."""
    bench.clock.until_waiting()
    bench.clock.advance(EVERY)


def test_a_lease_lasts_as_long_as_its_keeper(bench: LogBench) -> None:
    with kept(bench) as keeper:
        for _ in range(10):
            step(bench)
        bench.clock.until_waiting()
        assert keeper.lease.fence == 1
        assert keeper.ensure(MARGIN) is keeper.lease
        assert keeper.left >= MARGIN
        assert bench.log.take("m", "bob", TTL) is None


def test_a_worker_learns_that_its_match_was_taken(bench: LogBench) -> None:
    with kept(bench) as keeper:
        bench.clock.until_waiting()
        # As after a long pause of this process only: nobody renewed in time.
        bob = bench.log.take("m", "ann", TTL)
        bench.clock.advance(EVERY)
        with pytest.raises(Conflict, match="no longer held"):
            keeper.ensure(TTL * 2)
        with pytest.raises(Conflict):
            keeper.ensure(timedelta(0))
    match = known(bench.log)
    assert match.lease == bob, "and leaves the successor's lease alone"


def test_a_lease_that_is_nearly_out_is_renewed_on_the_spot(bench: LogBench) -> None:
    keeper = kept(bench)
    bench.clock.advance(TTL * 2)
    keeper.ensure(MARGIN)
    assert keeper.left == TTL
    assert bench.log.take("m", "bob", TTL) is None


def test_a_failing_store_costs_nothing_while_the_lease_is_valid(bench: LogBench) -> None:
    book = Broken(bench)
    with kept(bench, book) as keeper:  # type: ignore[arg-type]
        step(bench)
        assert book.tried.acquire(timeout=10)
        assert keeper.ensure(MARGIN).fence == 1
        book.broken = False
        step(bench)
        assert book.tried.acquire(timeout=10)
        bench.clock.until_waiting()
        assert keeper.left == TTL


def test_a_lease_that_cannot_be_renewed_in_time_counts_as_lost(bench: LogBench) -> None:
    keeper = kept(bench, Broken(bench))  # type: ignore[arg-type]
    bench.clock.advance(TTL)
    with pytest.raises(Conflict, match="cannot be kept"):
        keeper.ensure(MARGIN)
