"""The arena against time: late turns end by themselves, and who asks too much is slowed down."""

from datetime import timedelta
from pathlib import Path

import pytest
from support.arena import ALICE, BOB, HandClock, write_players

from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.home import HomeArena
from cardsharp.deadmansdraw.arena.limits import PER_USER, SlowDown
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import User
from workbench.arena.server import ADMIN_USER

LIMIT, GRACE = timedelta(seconds=7), timedelta(seconds=5)


class Hall:
    """An arena without a server, whose watchdog looks when it is told to."""

    def __init__(
        self,
        folder: Path,
        data: Path | None = None,
        down: timedelta = timedelta(),
        grace: timedelta | None = None,
    ) -> None:
        self.clock = HandClock()
        self.clock.turn(down)
        config = ArenaConfig(
            players=write_players(folder), clock=self.clock, data=data, watchdog=grace
        )
        self.arena = HomeArena(config)

    def begin(self, timeout: float | None = LIMIT.total_seconds()) -> str:
        body = {"playerids": [ALICE, BOB], "timeout": timeout, "randomSeed": "norandom"}
        return self.arena.referee.create(ADMIN_USER, body, None)[0].id

    def after(self, seconds: float) -> int:
        self.clock.turn(timedelta(seconds=seconds))
        return len(self.arena.referee.end_overdue_turns(grace=GRACE))

    def player(self, match_id: str) -> User:
        """Who is to move."""
        return self.arena.book.user(str(self.match(match_id).active_player))

    def match(self, match_id: str) -> Match:
        return self.arena.referee.find(match_id)


@pytest.fixture
def hall(tmp_path: Path) -> Hall:
    return Hall(tmp_path)


def test_a_turn_is_ended_once_it_is_late_for_long_enough(hall: Hall) -> None:
    """Not before: until then the late player's own action ends it, as in the original."""
    match = hall.begin()
    assert [hall.after(12), hall.after(0.5), hall.after(0.5)] == [0, 1, 0]
    assert hall.match(match).active_player == BOB
    assert hall.match(match).state.timeouts == 1


def test_time_in_which_there_was_no_arena_does_not_count(tmp_path: Path) -> None:
    """After a start every turn has all its time again, whoever would end it."""
    first = Hall(tmp_path, tmp_path / "arena.db")
    match = first.begin()
    first.arena.close()
    second = Hall(tmp_path, tmp_path / "arena.db", down=timedelta(hours=1))
    referee = second.arena.referee
    assert second.after(6.5) == 0
    assert referee.end_overdue_turns() == []
    drawn = referee.act(second.player(match), match, {"etype": "Draw"}, None)
    assert "Forceful" not in drawn.events_text
    assert [second.after(12), second.after(0.5)] == [0, 1]
    second.arena.close()


@pytest.mark.parametrize("first", ["the watchdog", "the player"])
def test_time_in_which_the_arena_stood_still_does_not_count(tmp_path: Path, first: str) -> None:
    """As on a laptop that was shut: whoever comes first afterwards, nobody is late."""
    hall = Hall(tmp_path, grace=GRACE)
    match = hall.begin()
    assert sum(hall.after(1) for _ in range(6)) == 0
    if first == "the watchdog":
        assert hall.after(3600) == 0
    else:
        hall.clock.turn(timedelta(hours=1))
        drawn = hall.arena.referee.act(hall.player(match), match, {"etype": "Draw"}, None)
        assert "Forceful" not in drawn.events_text
    assert [sum(hall.after(1) for _ in range(12)), hall.after(1)] == [0, 1]


def test_the_measured_delays() -> None:
    """docs/spec/arena.md section 2: request 101 waits 0.1 s, 106 0.6 s, 121 2.1 s, at most 10 s."""
    slow = SlowDown(PER_USER, HandClock())
    delays = [slow.count("key").delay.total_seconds() for _ in range(400)]
    assert delays[:100] == [0] * 100
    assert [delays[n - 1] for n in (101, 106, 111, 121)] == pytest.approx([0.1, 0.6, 1.1, 2.1])
    assert delays[-1] == 10


def test_a_window_is_fixed_and_ends() -> None:
    """60 s after its first request the count begins again, however many came in between."""
    clock = HandClock()
    slow = SlowDown(1, clock)
    slow.count("key")
    clock.turn(timedelta(seconds=59))
    assert slow.count("key").delay > timedelta(0)
    clock.turn(timedelta(seconds=1))
    assert slow.count("key").delay == timedelta(0)


def test_ended_windows_are_forgotten() -> None:
    """Ten thousand addresses that came once do not stay in memory."""
    clock = HandClock()
    slow = SlowDown(1, clock)
    for number in range(10_000):
        slow.count(str(number))
    clock.turn(timedelta(minutes=1))
    slow.count("another")
    assert len(slow._counts) == 1
