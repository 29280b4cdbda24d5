"""The lease keeper: renews while its worker lives, and tells it when the match is lost."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from support.cloud_benches import LogBench, known, sqlite_log

from cardsharp.cloud.lease import Keeping, LeaseKeeper
from cardsharp.cloud.ports import Lease, LeaseBook
from cardsharp.errors import Conflict, StoreError

TTL = timedelta(seconds=3)
EVERY = timedelta(seconds=1)
KEEPING = Keeping(TTL, EVERY)
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
