"""Which of two bots on one seat goes on: what the arena's history tells both of them."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from fault_simulation.virtual_clock import VirtualClock
from support.counting_match import HOUR, TIMING
from support.store_fixtures import RecordingMeter, acquire_lease

from cardsharp.bot.bot_match import Observation
from cardsharp.bot.duplicate_bot import NOTE_KIND, DuplicateBotDetector, DuplicateBotError
from cardsharp.bot.lease_keeper import LeaseKeeper
from cardsharp.core.metrics import MetricName
from cardsharp.store.match_log import MoveRecord
from cardsharp.store.sqlite_match_log import SqliteMatchLog

PAUSE = timedelta(seconds=2)
TURN = object()


@pytest.fixture
def keeper() -> Iterator[LeaseKeeper]:
    clock = VirtualClock()
    with closing(SqliteMatchLog(Path(":memory:"), clock)) as log:
        lease, meter = acquire_lease(log), RecordingMeter()
        yield LeaseKeeper(log, lease, clock, meter, TIMING, lambda: HOUR, clock.monotonic())


def seen(
    our_moves: Iterable[int],
    *,
    foreign: Iterable[int] = (),
    sequence: int = 9,
    turn: object | None = TURN,
    timeouts: int = 0,
) -> Observation[int]:
    """An observation, by default of a turn of ours."""
    return Observation(
        next_sequence=sequence,
        facts={},
        turn=turn,
        timeout_count=timeouts,
        our_moves=frozenset(our_moves),
        foreign_moves=frozenset(foreign),
    )


def detector_with(keeper: LeaseKeeper, *intended: int) -> DuplicateBotDetector:
    """Return the detector of a session whose workers intended these moves, after its first look."""
    detector = DuplicateBotDetector(keeper)
    detector.load_logged_intents([MoveRecord(sequence, {}, None) for sequence in intended])
    assert detector.may_act_or_pause(seen(intended), PAUSE)
    return detector


def notes(keeper: LeaseKeeper) -> list[object]:
    return [note.body for note in keeper.match_log.notes("m") if note.kind == NOTE_KIND]


def slept(keeper: LeaseKeeper) -> timedelta:
    return timedelta(seconds=keeper.clock.monotonic())


def test_only_moves_with_an_intent_are_our_workers_own(keeper: LeaseKeeper) -> None:
    detector = DuplicateBotDetector(keeper)
    detector.load_logged_intents([MoveRecord(1, {}, None), MoveRecord(2, None, {})])
    assert detector.intended_moves == {1}


def test_a_match_that_we_play_alone_is_played_at_once(keeper: LeaseKeeper) -> None:
    detector = detector_with(keeper, 1, 2)
    detector.intended_moves.add(5)
    assert detector.may_act_or_pause(seen([1, 2, 5]), PAUSE)
    assert notes(keeper) == []
    assert slept(keeper) == timedelta(0)


def test_the_bot_that_moved_first_goes_on_and_tells_its_successors(
    keeper: LeaseKeeper, caplog: pytest.LogCaptureFixture
) -> None:
    detector = detector_with(keeper, 2, 4)
    for foreign in (3, 5):
        assert detector.may_act_or_pause(seen([2, 4, foreign], sequence=foreign + 1), PAUSE)
        assert detector.may_act_or_pause(seen([2, 4, foreign], sequence=foreign + 1), PAUSE)
    assert notes(keeper) == [{"left": False, "sequence": 4}, {"left": False, "sequence": 6}]
    assert keeper.metrics.counts == {MetricName.DUPLICATE_BOTS: 1}
    (line,) = caplog.records
    assert "this bot moved first and continues" in line.message
    assert vars(line)["match_id"] == "m"


@pytest.mark.parametrize("intended", [(), (4,)])
def test_the_bot_that_moved_later_leaves(
    keeper: LeaseKeeper, caplog: pytest.LogCaptureFixture, intended: tuple[int, ...]
) -> None:
    """It tells its successors when it left: what was to play then, if that was we."""
    for turn, sequence in ((TURN, 9), (None, None)):
        detector = detector_with(keeper, *intended)
        with pytest.raises(DuplicateBotError):
            detector.may_act_or_pause(seen([3, *intended], turn=turn), PAUSE)
        assert notes(keeper)[-1] == {"left": True, "sequence": sequence}
        assert "the other moved first" in caplog.records[-1].message
    assert keeper.metrics.counts == {MetricName.DUPLICATE_BOTS: 2}


def test_a_move_that_was_answered_otherwise_is_anothers(keeper: LeaseKeeper) -> None:
    """Although we intended it: both did, and the arena took the other's."""
    detector = detector_with(keeper, 2, 4)
    with pytest.raises(DuplicateBotError):
        detector.may_act_or_pause(seen([2, 4], foreign=[2]), PAUSE)


def test_moves_without_an_intent_at_first_are_looked_at_again(keeper: LeaseKeeper) -> None:
    """They are of a lost log, unless a further one comes while we wait; only in a turn of ours."""
    detector = DuplicateBotDetector(keeper)
    assert detector.may_act_or_pause(seen([1], turn=None), PAUSE)
    assert slept(keeper) == timedelta(0)
    assert not detector.may_act_or_pause(seen([1]), PAUSE)
    assert slept(keeper) == PAUSE
    assert detector.may_act_or_pause(seen([1]), PAUSE)
    assert slept(keeper) == PAUSE
    assert notes(keeper) == []
    with pytest.raises(DuplicateBotError):
        detector.may_act_or_pause(seen([1, 3]), PAUSE)


@pytest.mark.parametrize(
    ("earlier", "observation", "is_left"),
    [
        ([(True, 9)], seen([1]), False),  # the other has let our turn pass
        ([(True, 7)], seen([1]), True),
        ([(True, None)], seen([1]), True),
        ([(True, 9)], seen([1], turn=None), True),
        ([(True, 7)], seen([1], timeouts=1), False),  # nor did it act in another turn of ours
        ([(False, 7)], seen([1]), False),
        ([(False, 5), (True, 7)], seen([1]), True),
        ([(True, 5), (False, 7)], seen([1]), False),
    ],
)
def test_a_match_that_was_left_is_taken_up_once_the_other_is_silent(
    keeper: LeaseKeeper,
    caplog: pytest.LogCaptureFixture,
    earlier: list[tuple[bool, int | None]],
    observation: Observation[int],
    *,
    is_left: bool,
) -> None:
    for left, sequence in earlier:
        keeper.add_debug_note(NOTE_KIND, {"left": left, "sequence": sequence})
    keeper.add_debug_note("refused", {"left": True, "sequence": 7})
    detector = DuplicateBotDetector(keeper)
    if is_left:
        with pytest.raises(DuplicateBotError):
            detector.may_act_or_pause(observation, PAUSE)
        assert len(notes(keeper)) == len(earlier) + 1
    else:
        assert detector.may_act_or_pause(observation, PAUSE), "without a further look"
        with pytest.raises(DuplicateBotError):
            detector.may_act_or_pause(seen([1, 8]), PAUSE)
    assert caplog.text == "", "it was reported before"


def test_an_arena_that_took_moves_back_tells_nothing_of_other_bots(keeper: LeaseKeeper) -> None:
    detector = detector_with(keeper, 2)
    detector.disable()
    assert detector.may_act_or_pause(seen([1, 2], foreign=[2]), PAUSE)
    assert notes(keeper) == []
