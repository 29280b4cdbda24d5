"""The greatest age of a match: whoever forgets a seat does not keep workers busy for ever."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from support.cloud_clock import FakeClock

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.offering import GIVEN_UP, Offering
from cardsharp.cloud.ports import Status

AGE = timedelta(days=7)
TTL = timedelta(seconds=3)


@pytest.fixture
def offering(tmp_path: Path) -> Iterator[Offering]:
    """With a match that a worker held once and nobody holds now."""
    clock = FakeClock()
    log = build_log(f"sqlite:{tmp_path}/log.db", clock)
    lease = log.take("m", "a worker", TTL)
    assert lease is not None
    log.release(lease)
    yield Offering(log, MemoryQueue(clock), clock)
    log.close()


def advance(offering: Offering, duration: timedelta) -> None:
    assert isinstance(offering.clock, FakeClock)
    offering.clock.advance(duration)


def test_a_match_is_offered_up_to_its_greatest_age_and_then_closed(offering: Offering) -> None:
    advance(offering, AGE)
    assert offering.offer() == 1
    assert offering.offer() == 0, "it is on its way"
    advance(offering, TTL)
    assert offering.offer() == 0
    record = offering.log.match("m")
    assert record is not None
    assert record.status is Status.FINISHED
    assert record.outcome == {"result": GIVEN_UP}
    assert offering.log.running() == [], "so that it counts as running no longer"


def test_one_that_an_arena_names_goes_on_whatever_its_age(offering: Offering) -> None:
    advance(offering, 2 * AGE)
    assert offering.offer(["m"]) == 1


def test_one_that_somebody_attends_is_let_be_and_not_handed_on(offering: Offering) -> None:
    advance(offering, AGE)
    assert offering.hand_on("m", "blef")
    advance(offering, TTL)
    assert not offering.hand_on("m", "blef"), "too old now"
    lease = offering.log.take("m", "another worker", timedelta(hours=1))
    assert lease is not None
    assert offering.offer() == 0
    advance(offering, TTL)
    assert offering.offer() == 0
    offering.log.renew(lease, TTL)
    assert offering.log.match("m").status is Status.RUNNING  # type: ignore[union-attr]
