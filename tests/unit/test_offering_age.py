"""What is offered to workers: up to which age of a match, and what an operator has set."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from support.cloud_benches import TTL, FakeClock, known, taken

from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.offering import GIVEN_UP, Offering
from cardsharp.cloud.ports import Status
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.switches import KEPT, KeptSwitchboard, Switchboard, Switches, usable
from cardsharp.errors import StoreError

AGE = timedelta(days=7)
NAMED = ("one", "two", "three")


class Board(Switchboard):
    switches: Switches | None = Switches()

    def read(self) -> Switches:
        if self.switches is None:
            raise StoreError("The table is throttled.")
        return self.switches


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def offering(clock: FakeClock, board: Board) -> Iterator[Offering]:
    with closing(SqliteLog(Path(":memory:"), clock)) as log:
        yield Offering(log, MemoryQueue(clock), clock, switchboard=board)


@pytest.fixture
def left(offering: Offering) -> Offering:
    """With a match that a worker held once and nobody holds now."""
    offering.log.release(taken(offering.log))
    return offering


def test_a_match_is_offered_up_to_its_age_then_closed(left: Offering, clock: FakeClock) -> None:
    clock.advance(AGE)
    assert left.offer() == 1
    assert left.offer() == 0, "it is on its way"
    clock.advance(TTL)
    assert left.offer() == 0
    record = known(left.log)
    assert (record.status, record.outcome) == (Status.FINISHED, {"result": GIVEN_UP})
    assert left.log.running() == [], "so that it counts as running no longer"


def test_one_that_is_attended_is_let_be_not_handed_on(left: Offering, clock: FakeClock) -> None:
    clock.advance(AGE)
    assert left.hand_on("m", "blef")
    clock.advance(TTL)
    assert not left.hand_on("m", "blef"), "too old now"
    lease = taken(left.log, "another worker", ttl=timedelta(hours=1))
    assert left.offer() == 0
    clock.advance(TTL)
    assert left.offer() == 0
    left.log.renew(lease, TTL)
    assert known(left.log).status is Status.RUNNING
    left.log.release(lease)
    clock.advance(2 * AGE)
    assert left.offer(["m"]) == 1, "an arena names it: it goes on whatever its age"


def test_a_change_is_seen_within_seconds_and_stays_where_a_board_fails(
    clock: FakeClock, board: Board, caplog: pytest.LogCaptureFixture
) -> None:
    kept = KeptSwitchboard(board, clock)
    assert not kept.read().paused
    board.switches = Switches(paused=True)
    clock.advance(KEPT - timedelta(seconds=0.1))
    assert not kept.read().paused, "so that it is not asked twice a second"
    clock.advance(timedelta(seconds=0.1))
    assert kept.read().paused
    assert timedelta(seconds=1) <= KEPT <= timedelta(seconds=10)
    kept = KeptSwitchboard(board, clock)
    board.switches = None
    with pytest.raises(StoreError, match="throttled"):
        kept.read()
    board.switches = Switches(at_once=2)
    assert kept.read().at_once == 2
    board.switches = None
    clock.advance(KEPT)
    assert kept.read().at_once == 2
    assert "throttled" in caplog.text


@pytest.mark.parametrize(
    "wrong", [{"at_once": "0"}, {"at_once": "many"}, {"awake_until": "2026-11-22T10:00"}]
)
def test_what_cannot_be_used_is_an_error_and_the_rest_holds(
    wrong: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    assert usable({"strategy": "captain", **wrong}) == Switches(strategy="captain")
    assert [line.levelname for line in caplog.records] == ["ERROR"]
    assert next(iter(wrong)) in caplog.text


@pytest.mark.parametrize(
    ("switches", "room"),
    [
        (Switches(), 3),
        (Switches(paused=True), 0),
        (Switches(at_once=1), 0),
        (Switches(at_once=2), 1),
        (Switches(at_once=3), 2),
    ],
)
def test_no_more_new_matches_are_taken_up_than_there_is_room_for(
    offering: Offering, board: Board, switches: Switches, room: int
) -> None:
    taken(offering.log, name="running", ttl=timedelta(hours=1))
    board.switches = switches
    assert offering.offer(NAMED) == room
    assert offering.offer(NAMED) == 0, "one on the queue counts, too"
    board.switches = Switches()
    assert offering.offer(NAMED) == len(NAMED) - room, "there is room again"


def test_running_ones_are_watched_over(offering: Offering, clock: FakeClock, board: Board) -> None:
    taken(offering.log, "one that died", "orphan")
    board.switches = Switches(paused=True, at_once=1)
    assert offering.offer(["orphan", "new"]) == 0, "somebody may hold it"
    clock.advance(timedelta(seconds=4))
    assert offering.offer(["orphan", "new"]) == 1
