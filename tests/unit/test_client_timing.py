"""A service's clock, its limits as headers state them, and how long reads are tried: by examples.

Every second is told or virtual. `tests/property/test_request_budget.py` has what holds for any
clock.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fault_simulation.virtual_clock import VirtualClock

from cardsharp.client.remote_clock import (
    DATE_RESOLUTION,
    MAX_CLOCK_DRIFT,
    NEVER_BOUNDS,
    RemoteClock,
)
from cardsharp.client.request_budget import RateLimitStatus, RequestPriority
from cardsharp.client.retry_policy import RetryPolicy
from cardsharp.client.session_state import ClientSessionState
from cardsharp.errors import (
    ArenaError,
    GatewayRejection,
    MalformedResponse,
    NotFound,
    RateLimited,
    RequestRejected,
    Unreachable,
)

EPOCH = datetime(2026, 11, 20, tzinfo=UTC)
AGE = DATE_RESOLUTION.total_seconds()


def shown(second: float) -> datetime:
    return EPOCH + timedelta(seconds=second)


def bounds_of(
    remote_clock: RemoteClock, second: float, current_time: float, within: float = 1e-3
) -> Any:  # noqa: ANN401
    """Return the bounds of what the other clock shows then, as near as it drifts in seconds."""
    bounds = remote_clock.to_local_bounds(shown(second), current_time)
    return pytest.approx(tuple(bounds), abs=within)


# --- another clock -------------------------------------------------------------------------------


def test_a_write_lies_between_its_request_and_its_answer() -> None:
    clock = RemoteClock()
    assert clock.to_local_bounds(shown(110), 0) == NEVER_BOUNDS
    clock.update_from_write(shown(110), 10, 10.25)
    assert bounds_of(clock, 120, 10.25, within=1e-6) == (20, 20.25)
    clock.update_from_write(shown(111), 10.9, 11.1)
    assert bounds_of(clock, 120, 11.1) == (20, 20.1), "each answer narrows the bounds"


def test_bounds_widen_as_two_clocks_may_drift_apart() -> None:
    clock, drift = RemoteClock(), 1000 * MAX_CLOCK_DRIFT
    clock.update_from_write(shown(110), 10, 10.25)
    assert (20 - drift, 20.25 + drift) == bounds_of(clock, 120, 1010.25)
    assert bounds_of(clock, 120, 10, within=1e-6) == (20, 20.25), (
        "a moment before the answer is as good"
    )
    clock.update_from_timestamp(shown(100), 1010.25)
    assert (20 - drift, 20.25 + drift) == bounds_of(clock, 120, 1010.25), "it tells nothing new"
    assert (20 - 2 * drift, 20.25 + 2 * drift) == bounds_of(clock, 120, 2010.25)


def test_a_date_is_up_to_a_second_and_a_quarter_old() -> None:
    clock = RemoteClock()
    clock.update_from_date_header(shown(110), 10, 10.25)
    assert bounds_of(clock, 120, 10.25) == (20 - AGE, 20.25)
    clock.update_from_timestamp(shown(110), 10.125)
    assert bounds_of(clock, 120, 10.25) == (20 - AGE, 20.125), "what it wrote is no younger"


def test_a_timestamp_alone_bounds_one_side_only() -> None:
    clock = RemoteClock()
    clock.update_from_timestamp(shown(110), 10)
    assert clock.to_local_bounds(shown(120), 10) == NEVER_BOUNDS
    clock.ignore_date_headers()
    assert clock.to_local_bounds(shown(120), 10) == NEVER_BOUNDS
    clock.update_from_write(shown(111), 11, 11.5)
    assert clock.to_local_bounds(shown(120), 11.5) != NEVER_BOUNDS


def test_a_clock_that_was_set_is_measured_anew() -> None:
    """By whichever of its bounds the last answer contradicts the earlier ones."""
    for ahead in (500, -500):
        clock = RemoteClock()
        clock.ignore_date_headers()
        clock.update_from_write(shown(110), 10, 10.25)
        clock.update_from_write(shown(111 + ahead), 11, 11.25)
        assert bounds_of(clock, 120 + ahead, 11.25) == (20, 20.25)


def test_bounds_that_touch_do_not_contradict_each_other() -> None:
    clock = RemoteClock()
    clock.update_from_write(shown(110), 10, 10.25)  # 99.75 to 100 s ahead
    clock.update_from_write(shown(110.25), 9.75, 10.25)  # 100 to 100.5 s
    assert bounds_of(clock, 120, 10.25) == (20, 20)
    clock.update_from_write(shown(109.75), 9.75, 10.25)  # 99.5 to 100 s
    assert bounds_of(clock, 120, 10.25) == (20, 20)


@pytest.mark.parametrize(("ahead", "is_dated"), [(50, False), (-50, False), (0, True)])
def test_dates_of_another_clock_are_ignored_as_soon_as_a_write_shows_it(
    ahead: float, *, is_dated: bool
) -> None:
    clock = RemoteClock()
    clock.update_from_date_header(shown(110 + ahead), 10, 10.1)
    clock.update_from_write(shown(111), 10.5, 11.5)
    assert (19.5, 20.1 if is_dated else 20.5) == bounds_of(clock, 120, 11.5)
    clock.update_from_date_header(shown(112), 12, 12)
    earliest, latest = clock.to_local_bounds(shown(120), 12)
    assert (latest < 20.01) is is_dated, "later dates count only where the earlier did"
    assert earliest == pytest.approx(19.5, abs=1e-3)


@pytest.mark.parametrize(("date", "received_at", "sent_at"), [(110.5, 10.5, 10), (108.75, 10, 9.5)])
def test_a_date_that_touches_the_time_of_a_write_is_kept(
    date: float, received_at: float, sent_at: float
) -> None:
    """It is 100 s ahead at least and the write at most, or the other way round."""
    clock = RemoteClock()
    clock.update_from_date_header(shown(date), 10, received_at)
    clock.update_from_write(shown(110), sent_at, received_at)
    assert bounds_of(clock, 120, received_at) == (20, 20)


def test_two_clocks_that_contradict_each_other_leave_both_possible() -> None:
    """A date after a write does: only the next write decides which of them is another clock."""
    clock = RemoteClock()
    clock.update_from_write(shown(110), 10, 10.25)
    clock.update_from_date_header(shown(160), 10.25, 10.5)
    assert bounds_of(clock, 120, 10.5) == (20 - 49.75 - AGE, 20.25)
    clock.ignore_date_headers()
    assert bounds_of(clock, 120, 10.5) == (20, 20.25)
    clock.update_from_date_header(shown(160), 10.25, 10.5)
    assert bounds_of(clock, 120, 10.5) == (20, 20.25), "and none is read again"


# --- the state of a user's sessions --------------------------------------------------------------

LIMIT_HEADERS = {
    "X-SlowDown-Limit": "100",
    "X-SlowDown-Remaining": "20",
    "X-SlowDown-Reset": str(int(EPOCH.timestamp()) + 60),
}


@pytest.fixture
def state() -> ClientSessionState:
    """A state whose clock shows second 1000, and whose service shows `EPOCH` then."""
    clock = VirtualClock()
    clock.advance(timedelta(seconds=1000))
    return ClientSessionState(clock)


def send(state: ClientSessionState) -> int:
    return state.request_budget.record_sent(state.clock.monotonic())


def window_end(state: ClientSessionState) -> float:
    """Return the second until which an action waits in a budget of which nothing is left."""
    for _ in range(200):
        send(state)
    current_time = state.clock.monotonic()
    ticket = state.request_budget.enqueue(RequestPriority.ACT, 1e9)
    return current_time + state.request_budget.delay_for(ticket, current_time)


def test_the_stated_end_of_a_window_is_read_by_the_clock_that_stated_it(
    state: ClientSessionState,
) -> None:
    """By its latest bound, and half a second later for the rounding."""
    state.remote_clock.update_from_write(EPOCH, 999.5, 1000)
    assert state.update_budget_from_headers(LIMIT_HEADERS, send(state), shown(30)) is None
    assert state.request_budget.max_requests_per_window == 100
    assert state.request_budget.remaining_requests(1000) == 20
    assert window_end(state) == pytest.approx(1060.5)


@pytest.mark.parametrize(("date", "end"), [(shown(0), 1060.5), (shown(50), 1010.5), (None, 1001)])
def test_a_clock_that_was_not_measured_yet_is_read_by_the_date_of_the_answer(
    state: ClientSessionState, date: datetime | None, end: float
) -> None:
    state.update_budget_from_headers(LIMIT_HEADERS, send(state), date)
    assert window_end(state) == pytest.approx(end)


def test_until_when_the_service_slows_us_down_is_told_once_a_window(
    state: ClientSessionState,
) -> None:
    spent = {**LIMIT_HEADERS, "X-SlowDown-Remaining": "0"}
    assert state.update_budget_from_headers(LIMIT_HEADERS, send(state), EPOCH) is None
    assert state.update_budget_from_headers(spent, send(state), EPOCH) == shown(60)
    assert state.update_budget_from_headers(spent, send(state), EPOCH) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"X-SlowDown-Limit": "many"},
        {"X-SlowDown-Remaining": ""},
        {"X-SlowDown-Reset": "soon"},
        {"X-SlowDown-Reset": "9" * 12},  # no such year
        {"X-SlowDown-Reset": "9" * 30},  # beyond what the system counts
        {"X-SlowDown-Reset": str(253_402_300_799)},  # the last second of the last year
    ],
    ids=str,
)
def test_headers_that_cannot_be_read_state_no_limit(
    state: ClientSessionState, wrong: dict[str, str]
) -> None:
    for headers in ({**LIMIT_HEADERS, **wrong}, dict[str, str]()):
        assert state.update_budget_from_headers(headers, send(state), EPOCH) is None
    assert state.request_budget.max_requests_per_window is None


def test_an_answer_states_what_was_left_when_its_own_request_was_sent(
    state: ClientSessionState,
) -> None:
    number = send(state)
    send(state)
    state.update_budget_from_headers(LIMIT_HEADERS, number, EPOCH)
    assert state.request_budget.remaining_requests(1000) == 19


@pytest.mark.parametrize(("remaining", "is_spent"), [(2, False), (1, False), (0, True)])
def test_a_service_is_slow_that_throttles_us(
    state: ClientSessionState, remaining: int, *, is_spent: bool
) -> None:
    assert not state.is_budget_exhausted
    assert not state.is_late_or_throttled
    status = RateLimitStatus(100, remaining, 1, 1060, send(state))
    state.request_budget.update_and_detect_exhaustion(status, 1000)
    assert state.is_budget_exhausted is state.is_late_or_throttled is is_spent


def test_a_service_is_slow_that_answers_late(state: ClientSessionState) -> None:
    for seconds in (1, 1.5):
        state.request_budget.record_latency(seconds, 1000)
    assert not state.is_budget_exhausted
    assert state.is_late_or_throttled
    assert state.expected_extra_latency == timedelta(seconds=0.5)
    state.clock.sleep(timedelta(minutes=2))
    assert not state.is_late_or_throttled


def test_a_request_waits_for_the_budget_and_leaves_its_queue(state: ClientSessionState) -> None:
    state.update_budget_from_headers(LIMIT_HEADERS, send(state), EPOCH)
    state.wait_for_budget(RequestPriority.ACT, 1e9)
    due = 1060.5 - 19 * 60.5 / 80
    assert due <= state.clock.monotonic() <= due + 0.001
    assert state.request_budget._queue == []
    state.wait_for_budget(RequestPriority.LIST, 1e9)
    assert state.clock.monotonic() == pytest.approx(1060.5 - 19 * 0.605, abs=0.002)
    send(state)
    state.wait_for_budget(RequestPriority.LIST, state.clock.monotonic() + 0.1)
    assert state.clock.monotonic() == pytest.approx(1060.5 - 19 * 0.605 + 0.1, abs=0.002)


def test_a_request_that_waits_looks_again_whether_the_budget_has_changed() -> None:
    """And leaves the queue although its wait fails."""

    class Interrupted(VirtualClock):
        def sleep(self, duration: timedelta) -> None:
            super().sleep(duration)
            sleeps.append(duration)
            if len(sleeps) == 3:
                # Others are done: their answers say that the budget is full again.
                status = RateLimitStatus(100, 100, 2, 90, state.request_budget.record_sent(0))
                state.request_budget.update_and_detect_exhaustion(status, self.monotonic())
            if len(sleeps) > 3:
                raise KeyboardInterrupt

    sleeps: list[timedelta] = []
    state = ClientSessionState(Interrupted())
    number = send(state)
    state.request_budget.update_and_detect_exhaustion(RateLimitStatus(100, 0, 1, 60, number), 0)
    state.wait_for_budget(RequestPriority.ACT, 1e9)
    assert sleeps == [timedelta(seconds=0.2)] * 3
    number = send(state)
    state.request_budget.update_and_detect_exhaustion(RateLimitStatus(100, 0, 2, 90, number), 0)
    with pytest.raises(KeyboardInterrupt):
        state.wait_for_budget(RequestPriority.ACT, 1e9)
    assert state.request_budget._queue == []


# --- how long a read is tried --------------------------------------------------------------------


class Attempts:
    """The attempts of a read that may take 20 s, whose waits are the longest that chance allows."""

    def __init__(self, total: timedelta = timedelta(seconds=20)) -> None:
        self.now = 1000.0
        self.ranges: list[tuple[float, float]] = []
        self.policy = RetryPolicy(
            total,
            timedelta(seconds=1),
            timedelta(seconds=5),
            clock=lambda: self.now,
            random_uniform=self._longest,
        )

    def _longest(self, low: float, high: float) -> float:
        self.ranges.append((low, high))
        return high

    def fail(self, error: Exception) -> bool | float:
        """Fail with `error`, and wait as long as the policy says."""
        wait = self.policy(error)
        self.now += wait
        return wait


GONE = Unreachable("gone")


def test_waits_grow_with_full_jitter_and_end_with_the_total() -> None:
    """test_R18: steps double up to the longest; no wait ends after the total time."""
    attempts = Attempts()
    assert attempts.fail(ValueError("a defect")) is False
    waits = []
    while (wait := attempts.fail(GONE)) is not False:
        waits.append(wait)
    assert waits == [1, 2, 4, 5, 5]
    assert attempts.ranges == [(0, 1), (0, 2), (0, 4), (0, 5), (0, 5), (0, 5)]
    assert attempts.policy.remaining_time == timedelta(seconds=3)


def test_no_wait_ends_at_the_end_of_the_total_time() -> None:
    """An attempt would have no time then; what is left of the time is never nothing."""
    attempts = Attempts(timedelta(seconds=3))
    assert [attempts.fail(GONE), attempts.fail(GONE)] == [1, False]
    assert Attempts(timedelta(seconds=1.001)).fail(GONE) == 1
    attempts.now += 2
    assert attempts.policy.remaining_time == timedelta(milliseconds=1)
    attempts.now += 50
    assert attempts.policy.remaining_time == timedelta(milliseconds=1)


def test_a_wait_that_the_service_asks_for_is_kept_with_some_jitter() -> None:
    attempts = Attempts()
    assert attempts.fail(RateLimited("busy", timedelta(seconds=3))) == 3 + 1
    assert attempts.fail(RateLimited("busy", timedelta(seconds=5))) == 5 + 2
    assert attempts.fail(RateLimited("busy", timedelta(seconds=5.1))) is False, "too long for us"
    assert attempts.fail(RateLimited("busy", timedelta(seconds=4))) == 4 + 4
    assert attempts.now == 1019


@pytest.mark.parametrize(
    ("error", "is_tried_again"),
    [
        (GONE, True),
        (RateLimited("busy", timedelta(0)), True),
        (RequestRejected(500, "a defect"), True),
        (RequestRejected(503, "busy"), True),
        (RequestRejected(499, "no"), False),
        (NotFound(404, "no such match"), False),
        (MalformedResponse("no JSON"), False),
        (GatewayRejection(403, "a page"), False),
    ],
    ids=str,
)
def test_only_what_may_pass_is_tried_again(error: ArenaError, *, is_tried_again: bool) -> None:
    assert (Attempts().fail(error) is not False) is is_tried_again
