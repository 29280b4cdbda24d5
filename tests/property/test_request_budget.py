"""Request budget of an arena client, and its estimate of the arena's clock (R31)."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush

from hypothesis import given, settings
from hypothesis import strategies as st
from support.case_counts import case_count

from cardsharp.client.remote_clock import NEVER_BOUNDS, RemoteClock
from cardsharp.client.request_budget import (
    BURST_ALLOWANCE,
    RateLimitStatus,
    RequestBudget,
    RequestPriority,
)

LIMITS = st.integers(1, 500)
SECONDS = st.floats(1, 600)


def new_budget(limit: int, remaining: int, seconds: float) -> RequestBudget:
    """Return a budget that received these limits at second 0."""
    budget = RequestBudget()
    budget.update_and_detect_exhaustion(
        RateLimitStatus(
            limit, remaining, reset_at=1, window_ends_at=seconds, sent_count=budget.record_sent(0)
        ),
        0,
    )
    return budget


def delay_for_request(
    budget: RequestBudget, priority: RequestPriority, deadline: float, current_time: float = 0
) -> float:
    ticket = budget.enqueue(priority, deadline)
    try:
        return budget.delay_for(ticket, current_time)
    finally:
        budget.dequeue(ticket)


@given(LIMITS, SECONDS, st.floats(0, 600), st.sampled_from(RequestPriority))
def test_no_request_waits_beyond_its_deadline(
    limit: int, seconds: float, deadline: float, priority: RequestPriority
) -> None:
    budget = new_budget(limit, 0, seconds)
    assert delay_for_request(budget, priority, deadline) <= deadline


@given(LIMITS, SECONDS, st.lists(st.floats(0, 2), min_size=1, max_size=300))
def test_requests_within_the_delays_never_exceed_the_limit(
    limit: int, seconds: float, pauses: list[float]
) -> None:
    """At any rhythm of requests, no window's limit is exceeded."""
    budget, current_time, reset_at, request_count = new_budget(limit, limit - 1, seconds), 0.0, 1, 1
    window_end = seconds
    for pause in pauses:
        current_time += pause
        current_time += (
            delay_for_request(budget, RequestPriority.ACT, current_time + 10_000, current_time)
            + 1e-6
        )
        sent_count = budget.record_sent(current_time)
        if current_time >= window_end:
            reset_at, window_end, request_count = reset_at + 1, current_time + seconds, 0
        request_count += 1
        assert request_count <= limit
        budget.update_and_detect_exhaustion(
            RateLimitStatus(limit, limit - request_count, reset_at, window_end, sent_count),
            current_time,
        )


@given(st.integers(10, 500), SECONDS)
def test_a_part_of_a_window_goes_at_once_and_the_rest_is_spread(limit: int, seconds: float) -> None:
    budget, burst_count = new_budget(limit, limit - 1, seconds), 0
    while delay_for_request(budget, RequestPriority.ACT, 10_000) == 0:
        budget.record_sent(0)
        burst_count += 1
    assert abs(burst_count - BURST_ALLOWANCE * limit) <= 2
    assert delay_for_request(budget, RequestPriority.ACT, 10_000) <= 2 * seconds / limit / (
        1 - BURST_ALLOWANCE
    )


@given(st.permutations(list(RequestPriority)))
def test_reads_come_first_then_actions_then_waits_and_the_list_comes_last(
    order: list[RequestPriority],
) -> None:
    budget = new_budget(100, 20, 60)
    tickets = {priority: budget.enqueue(priority, 1000) for priority in order}
    delays = [budget.delay_for(tickets[priority], 0) for priority in RequestPriority]
    assert delays == sorted(delays)
    assert len(set(delays)) == len(delays)


def test_the_earlier_deadline_goes_first_and_requests_of_other_workers_count() -> None:
    """Workers in a cloud learn of each other only from the arena's rate-limit headers."""
    budget = new_budget(100, 20, 60)
    later_ticket, earlier_ticket = (
        budget.enqueue(RequestPriority.ACT, 500),
        budget.enqueue(RequestPriority.ACT, 400),
    )
    assert budget.delay_for(earlier_ticket, 0) < budget.delay_for(later_ticket, 0)
    budget = new_budget(100, 99, 60)
    sent_count = budget.record_sent(0)
    assert delay_for_request(budget, RequestPriority.ACT, 1000) == 0
    budget.update_and_detect_exhaustion(
        RateLimitStatus(100, 40, reset_at=1, window_ends_at=60, sent_count=sent_count), 0
    )
    assert delay_for_request(budget, RequestPriority.ACT, 1000) > 20


def test_responses_out_of_order_do_not_change_the_remaining_count() -> None:
    budget = new_budget(100, 50, 60)
    first_number, second_number = budget.record_sent(0), budget.record_sent(0)
    budget.update_and_detect_exhaustion(
        RateLimitStatus(100, 48, reset_at=1, window_ends_at=60, sent_count=second_number), 0
    )
    budget.update_and_detect_exhaustion(
        RateLimitStatus(100, 49, reset_at=1, window_ends_at=60, sent_count=first_number), 0
    )
    assert budget.remaining_requests(0) == 48
    budget.update_and_detect_exhaustion(
        RateLimitStatus(
            100, 99, reset_at=61, window_ends_at=120, sent_count=budget.record_sent(60)
        ),
        60,
    )
    budget.update_and_detect_exhaustion(
        RateLimitStatus(100, 0, reset_at=1, window_ends_at=60.5, sent_count=first_number), 60
    )
    assert budget.remaining_requests(60) == 99


@given(st.integers(-5, 5), st.integers(-5, 10**30), st.one_of(st.floats(), st.just(float("inf"))))
def test_an_impossible_rate_limit_causes_no_endless_delay(
    limit: int, remaining: int, window_end: float
) -> None:
    budget = RequestBudget()
    budget.update_and_detect_exhaustion(
        RateLimitStatus(
            limit,
            remaining,
            reset_at=1,
            window_ends_at=window_end,
            sent_count=budget.record_sent(0),
        ),
        0,
    )
    assert delay_for_request(budget, RequestPriority.ACT, 1e9) <= 900


def test_a_rate_limit_sustains_only_matches_that_can_each_act_within_their_turn() -> None:
    """The rest of a window that has begun does not count as the full limit."""
    budget = new_budget(100, 99, 60)
    assert [
        budget.max_sustainable_matches(timedelta(seconds=seconds)) for seconds in (1, 7, 20)
    ] == [1, 6, 18]
    assert budget.max_sustainable_matches(None) is None
    budget, turn_timeout = new_budget(100, 30, 20), timedelta(seconds=7)
    assert budget.max_sustainable_matches(turn_timeout) == 6
    budget.update_and_detect_exhaustion(
        RateLimitStatus(100, 99, reset_at=2, window_ends_at=30, sent_count=budget.record_sent(20)),
        20,
    )
    assert budget.max_sustainable_matches(turn_timeout) == 38


@given(LIMITS, SECONDS, st.integers(1, 500), st.lists(st.floats(0, 20), max_size=9))
def test_a_read_that_a_turn_needs_goes_at_once_while_any_request_remains(
    limit: int, seconds: float, remaining: int, delays: list[float]
) -> None:
    """The read goes at once whatever else waits, and however late the arena responds."""
    budget = new_budget(limit, min(remaining, limit), seconds)
    for delay in delays:
        budget.record_latency(delay, 0)
    for priority in RequestPriority:
        budget.enqueue(priority, 1000)
    assert budget.delay_for(budget._queue[0], 0) == 0
    assert budget._queue[0].priority is RequestPriority.READ


def test_growing_response_times_delay_requests_and_noise_does_not() -> None:
    """After usual response times requests gradually speed up again."""
    budget, current_time = RequestBudget(), 0.0
    for seconds in (0.02, 0.9, 0.03, 0.5, 0.4, 0.02) * 20:
        budget.record_latency(seconds, current_time)
        current_time = current_time + delay_for_request(
            budget, RequestPriority.ACT, 1e9, current_time
        )
        budget.record_sent(current_time)
    assert current_time == 0
    for step in range(20):
        current_time += 1
        budget.record_latency(0.1 * step, current_time)
        budget.record_sent(current_time)
    assert delay_for_request(budget, RequestPriority.ACT, 1e9, current_time) > 2
    for count in range(2000):
        budget.record_latency(0.02, current_time)
        if count == 3:
            assert 0.5 < delay_for_request(budget, RequestPriority.ACT, 1e9, current_time) <= 1.5
    assert delay_for_request(budget, RequestPriority.ACT, 1e9, current_time) == 0


@given(st.integers(4, 30), st.floats(0.1, 5))
def test_delays_by_a_stated_limit_that_is_used_up_do_not_slow_the_next_window(
    late_count: int, delay: float
) -> None:
    budget = new_budget(100, 0, 30)
    for number in range(late_count):
        budget.record_latency(delay * (number + 1), float(number) / late_count)
    assert delay_for_request(budget, RequestPriority.ACT, 1e9, 31) == 0


@settings(max_examples=case_count(10, 100))  # each has thousands of requests
@given(st.integers(5, 15), st.integers(600, 1200))
def test_clients_behind_one_address_learn_its_limit_although_no_response_states_it(
    client_count: int, limit: int
) -> None:
    """Each client sends request after request; the arena delays all beyond `limit` a minute."""
    budgets = [RequestBudget() for _ in range(client_count)]
    events = [(0.0, client_index, False) for client_index in range(client_count)]
    counts, max_delay_by_window = Counter[int](), Counter[int]()
    while events[0][0] < WINDOW_COUNT * 60:
        current_time, client_index, is_due = heappop(events)
        budget = budgets[client_index]
        budget_delay = delay_for_request(
            budget, RequestPriority.ACT, current_time + 10, current_time
        )
        if budget_delay > 1e-6 and not is_due:
            heappush(events, (current_time + budget_delay, client_index, True))
            continue
        budget.record_sent(current_time)
        window = int(current_time // 60)
        counts[window] += 1
        delay = min(max(0, counts[window] - limit) * 0.1, 10)
        max_delay_by_window[window] = max(max_delay_by_window[window], delay)
        response_time = current_time + 0.3 + delay
        budget.record_latency(0.3 + delay, response_time)
        heappush(events, (response_time, client_index, False))
    assert max_delay_by_window[0] > 2 or counts[0] <= limit + 20
    assert max(max_delay_by_window[window] for window in range(2, WINDOW_COUNT)) < 6


WINDOW_COUNT = 8


EPOCH = datetime(2026, 11, 20, tzinfo=UTC)
DAY_SECONDS = 86_400.0
MAX_TRANSIT_SECONDS = (
    30.0  # seconds that a request may take on its way, and as long again for its answer
)
TIMESTAMP_SOURCES = st.sampled_from(["dated", "shown", "written"])
DELAYS = st.floats(0, MAX_TRANSIT_SECONDS)
SKEWS = st.floats(-DAY_SECONDS, DAY_SECONDS)


@dataclass
class OffsetRemoteClock:
    """Remote clock that is ahead of our monotonic seconds, with the responses that reveal it."""

    offset: float
    remote_clock: RemoteClock

    def time_at(self, second: float) -> datetime:
        return EPOCH + timedelta(seconds=second + self.offset)

    def receive_timestamp(
        self, source: str, sent_at: float, outbound_delay: float, return_delay: float
    ) -> float:
        """Process the response to a request sent at `sent_at`; return the second of its arrival."""
        server_time = sent_at + outbound_delay
        received_at = server_time + return_delay
        if source == "dated":
            date = self.time_at(server_time)
            self.remote_clock.update_from_date_header(
                date.replace(microsecond=0), sent_at, received_at
            )
        elif source == "written":
            self.remote_clock.update_from_write(self.time_at(server_time), sent_at, received_at)
        else:
            self.remote_clock.update_from_timestamp(self.time_at(server_time), received_at)
        return received_at

    def check_bounds(self, current_time: float) -> None:
        second = current_time + 3
        bounds = self.remote_clock.to_local_bounds(self.time_at(second), current_time)
        if bounds != NEVER_BOUNDS:
            assert bounds.earliest - 1e-3 <= second <= bounds.latest + 1e-3


@given(
    SKEWS,
    st.one_of(
        st.floats(4 * MAX_TRANSIT_SECONDS, DAY_SECONDS),
        st.floats(-DAY_SECONDS, -4 * MAX_TRANSIT_SECONDS),
    ),
    st.lists(st.tuples(TIMESTAMP_SOURCES, DELAYS, DELAYS), max_size=12),
    st.tuples(st.sampled_from(["dated", "written"]), DELAYS, DELAYS),
)
def test_clock_bounds_hold_for_any_skew_and_recover_from_a_jump(
    offset: float,
    jump: float,
    responses: list[tuple[str, float, float]],
    last_response: tuple[str, float, float],
) -> None:
    """The jump is longer than the answers' delays; a shorter one looks like a delay."""
    offset_clock, current_time = OffsetRemoteClock(offset, RemoteClock()), 1000.0
    for source, outbound_delay, return_delay in responses:
        current_time = offset_clock.receive_timestamp(
            source, current_time, outbound_delay, return_delay
        )
        offset_clock.check_bounds(current_time)
    offset_clock.offset += jump
    current_time = offset_clock.receive_timestamp(
        last_response[0], current_time, last_response[1], last_response[2]
    )
    offset_clock.check_bounds(current_time)


@given(SKEWS, st.floats(10, DAY_SECONDS), st.sampled_from([-1, 1]))
def test_date_headers_of_another_clock_are_discarded(
    offset: float, difference: float, direction: int
) -> None:
    offset_clock, current_time = OffsetRemoteClock(offset, RemoteClock()), 1000.0
    gateway_clock = OffsetRemoteClock(offset + direction * difference, offset_clock.remote_clock)
    for step in ("dated", "shown", "written", "dated", "dated"):
        current_time = (gateway_clock if step == "dated" else offset_clock).receive_timestamp(
            step, current_time, 0.1, 0.1
        )
    offset_clock.check_bounds(current_time)
    bounds = offset_clock.remote_clock.to_local_bounds(
        offset_clock.time_at(current_time), current_time
    )
    assert bounds.latest - bounds.earliest < 1


def test_timestamps_of_our_writes_are_more_precise_than_date_headers() -> None:
    offset_clock = OffsetRemoteClock(5, RemoteClock())
    current_time = offset_clock.receive_timestamp("dated", 0, 0.05, 0.05)
    date_header_bounds = offset_clock.remote_clock.to_local_bounds(
        offset_clock.time_at(10), current_time
    )
    offset_clock.receive_timestamp("written", current_time, 0.05, 0.05)
    write_bounds = offset_clock.remote_clock.to_local_bounds(offset_clock.time_at(10), current_time)
    assert date_header_bounds.latest - date_header_bounds.earliest > 1
    assert write_bounds.latest - write_bounds.earliest < 0.2
