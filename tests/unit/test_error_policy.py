"""How an error of the arena is judged, how long one is waited for, and when one is believed."""

from datetime import timedelta

import pytest

from cardsharp.bot.error_policy import (
    MAX_EQUAL_REFUSALS,
    DenialTracker,
    RefusalTracker,
    is_action_rejected,
    is_client_error,
    retry_delay_for,
)
from cardsharp.errors import (
    ArenaError,
    GatewayRejection,
    MatchOver,
    NotFound,
    NotYourTurn,
    RateLimited,
    RequestRejected,
    Unauthorized,
    Unreachable,
)

GONE, NO = NotFound(404, "gone"), RequestRejected(403, "no")
LOST = Unreachable("no answer", outcome_unknown=True)


@pytest.mark.parametrize(
    ("error", "is_from_arena", "rejects_action"),
    [
        (RequestRejected(400, "not that"), True, True),
        (RequestRejected(499, "not that"), True, True),
        (RequestRejected(399, "not here"), False, False),
        (RequestRejected(500, "a defect"), False, False),
        (GONE, True, False),
        (Unauthorized(401, "who?"), True, False),
        (NotYourTurn(409, "not yours"), True, False),
        (MatchOver(), True, False),
        (LOST, False, False),
        (GatewayRejection(404, "a page"), False, False),
        (RateLimited("busy", timedelta(0)), False, False),
    ],
    ids=str,
)
def test_only_the_arenas_own_4xx_about_an_action_rejects_it(
    error: ArenaError, *, is_from_arena: bool, rejects_action: bool
) -> None:
    assert is_client_error(error) is is_from_arena
    assert is_action_rejected(error) is rejects_action


@pytest.mark.parametrize(
    ("asked", "pause"), [(0, 1), (0.5, 1), (2, 2), (3, 3), (3.5, 3), (3600, 3), (None, 1)]
)
def test_a_pause_is_as_long_as_the_arena_asks_within_limits(
    asked: float | None, pause: float
) -> None:
    error = LOST if asked is None else RateLimited("busy", timedelta(seconds=asked))
    least, longest = timedelta(seconds=1), timedelta(seconds=3)
    assert retry_delay_for(error, least, longest) == timedelta(seconds=pause)


def test_our_own_pause_counts_where_it_is_longer_than_the_arena_may_ask_for() -> None:
    long = timedelta(seconds=9)
    busy = RateLimited("busy", timedelta(seconds=5))
    assert retry_delay_for(busy, long, timedelta(seconds=3)) == long


def test_a_denial_is_repeated_as_long_as_nothing_else_is_said() -> None:
    tracker = DenialTracker()
    steps = [
        (100, GONE, 0),
        (102, GONE, 2),
        (105, NotFound(404, "gone"), 5),
        (106, NO, 0),
        (107, NO, 1),
        (108, LOST, 0),
        (109, NO, 0),
        (110, RequestRejected(503, "no"), 0),
        (111, NO, 0),
        (112.5, NO, 1.5),
    ]
    for second, error, seconds in steps:
        duration = tracker.repeated_denial_duration(error, second)
        assert duration == timedelta(seconds=seconds), second


def test_an_action_is_stuck_after_three_refusals_in_the_same_words() -> None:
    tracker = RefusalTracker()
    assert not tracker.is_repeated(-1)
    states = []
    for _ in range(MAX_EQUAL_REFUSALS + 1):
        tracker.count_refusal(NO, 7)
        states.append((tracker.is_repeated(7), tracker.is_stuck(7)))
    assert states == [(False, False), (True, False), (True, True), (True, True)]
    assert not tracker.is_repeated(8)
    assert not tracker.is_stuck(8)


@pytest.mark.parametrize(
    ("error", "sequence", "count"), [(NO, 7, 3), (GONE, 7, 1), (NO, 8, 1), (LOST, 7, 2)]
)
def test_another_refusal_counts_anew_and_an_unclear_outcome_is_none(
    error: ArenaError, sequence: int, count: int
) -> None:
    tracker = RefusalTracker()
    for _ in range(2):
        tracker.count_refusal(NO, 7)
    tracker.count_refusal(error, sequence)
    assert tracker.count == count
    assert tracker.is_stuck(sequence) is (count == MAX_EQUAL_REFUSALS)


def test_the_pause_in_a_stuck_match_doubles_from_a_second_to_a_minute() -> None:
    tracker = RefusalTracker()
    pauses = []
    for _ in range(11):
        tracker.count_refusal(NO, 7)
        pauses.append(tracker.backoff.total_seconds())
    assert pauses == [1, 1, 1, 2, 4, 8, 16, 32, 60, 60, 60]
