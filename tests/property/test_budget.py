"""Limits on the requests to an arena: the request budget, and its clock against ours (R31)."""

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


def budget_of(limit: int, remaining: int, seconds: float) -> RequestBudget:
    """Return a budget that received these limits a moment ago, at second 0."""
    budget = RequestBudget()
    budget.update_and_detect_exhaustion(
        RateLimitStatus(
            limit, remaining, reset_at=1, window_ends_at=seconds, sent_count=budget.record_sent(0)
        ),
        0,
    )
    return budget


def wait_of(
    budget: RequestBudget, purpose: RequestPriority, latest: float, current_time: float = 0
) -> float:
    ticket = budget.enqueue(purpose, latest)
    try:
        return budget.delay_for(ticket, current_time)
    finally:
        budget.dequeue(ticket)


@given(LIMITS, SECONDS, st.floats(0, 600), st.sampled_from(RequestPriority))
def test_no_request_waits_beyond_its_latest_time(
    limit: int, seconds: float, latest: float, purpose: RequestPriority
) -> None:
    budget = budget_of(limit, 0, seconds)
    assert wait_of(budget, purpose, latest) <= latest


@given(LIMITS, SECONDS, st.lists(st.floats(0, 2), min_size=1, max_size=300))
def test_requests_within_the_delays_never_exceed_the_limit(
    limit: int, seconds: float, pauses: list[float]
) -> None:
    """At any rhythm of requests, no window's limit is exceeded."""
    budget, current_time, reset, spent = budget_of(limit, limit - 1, seconds), 0.0, 1, 1
    ends = seconds
    for pause in pauses:
        current_time += pause
        current_time += (
            wait_of(budget, RequestPriority.ACT, current_time + 10_000, current_time) + 1e-6
        )
        number = budget.record_sent(current_time)
        if current_time >= ends:
            reset, ends, spent = reset + 1, current_time + seconds, 0
        spent += 1
        assert spent <= limit
        budget.update_and_detect_exhaustion(
            RateLimitStatus(limit, limit - spent, reset, ends, number), current_time
        )


@given(st.integers(10, 500), SECONDS)
def test_a_part_of_a_window_goes_at_once_and_the_rest_is_spread(limit: int, seconds: float) -> None:
    budget, at_once = budget_of(limit, limit - 1, seconds), 0
    while wait_of(budget, RequestPriority.ACT, 10_000) == 0:
        budget.record_sent(0)
        at_once += 1
    assert abs(at_once - BURST_ALLOWANCE * limit) <= 2
    assert wait_of(budget, RequestPriority.ACT, 10_000) <= 2 * seconds / limit / (
        1 - BURST_ALLOWANCE
    )


@given(st.permutations(list(RequestPriority)))
def test_reads_come_first_then_actions_then_waits_and_the_list_comes_last(
    order: list[RequestPriority],
) -> None:
    budget = budget_of(100, 20, 60)
    tickets = {purpose: budget.enqueue(purpose, 1000) for purpose in order}
    waits = [budget.delay_for(tickets[purpose], 0) for purpose in RequestPriority]
    assert waits == sorted(waits)
    assert len(set(waits)) == len(waits)


def test_the_earlier_deadline_goes_first_and_requests_of_other_workers_count() -> None:
    """Workers in a cloud learn of each other only from the arena's rate-limit headers."""
    budget = budget_of(100, 20, 60)
    later, sooner = (
        budget.enqueue(RequestPriority.ACT, 500),
        budget.enqueue(RequestPriority.ACT, 400),
    )
    assert budget.delay_for(sooner, 0) < budget.delay_for(later, 0)
    budget = budget_of(100, 99, 60)
    number = budget.record_sent(0)
    assert wait_of(budget, RequestPriority.ACT, 1000) == 0
    budget.update_and_detect_exhaustion(
        RateLimitStatus(100, 40, reset_at=1, window_ends_at=60, sent_count=number), 0
    )
    assert wait_of(budget, RequestPriority.ACT, 1000) > 20


def test_responses_out_of_order_do_not_change_the_remaining_count() -> None:
    budget = budget_of(100, 50, 60)
    first, second = budget.record_sent(0), budget.record_sent(0)
    budget.update_and_detect_exhaustion(
        RateLimitStatus(100, 48, reset_at=1, window_ends_at=60, sent_count=second), 0
    )
    budget.update_and_detect_exhaustion(
        RateLimitStatus(100, 49, reset_at=1, window_ends_at=60, sent_count=first), 0
    )
    assert budget.remaining_requests(0) == 48
    budget.update_and_detect_exhaustion(
        RateLimitStatus(
            100, 99, reset_at=61, window_ends_at=120, sent_count=budget.record_sent(60)
        ),
        60,
    )
    budget.update_and_detect_exhaustion(
        RateLimitStatus(100, 0, reset_at=1, window_ends_at=60.5, sent_count=first), 60
    )
    assert budget.remaining_requests(60) == 99


@given(st.integers(-5, 5), st.integers(-5, 10**30), st.one_of(st.floats(), st.just(float("inf"))))
def test_a_count_that_cannot_be_is_not_believed(limit: int, remaining: int, ends: float) -> None:
    budget = RequestBudget()
    budget.update_and_detect_exhaustion(
        RateLimitStatus(
            limit, remaining, reset_at=1, window_ends_at=ends, sent_count=budget.record_sent(0)
        ),
        0,
    )
    assert wait_of(budget, RequestPriority.ACT, 1e9) <= 900


def test_a_limit_feeds_so_many_matches_that_each_may_act_within_its_turn() -> None:
    """A worker that starts in the middle of a window does not take its rest for the full limit."""
    budget = budget_of(100, 99, 60)
    assert [budget.max_sustainable_matches(timedelta(seconds=s)) for s in (1, 7, 20)] == [1, 6, 18]
    assert budget.max_sustainable_matches(None) is None
    budget, turn = budget_of(100, 30, 20), timedelta(seconds=7)
    assert budget.max_sustainable_matches(turn) == 6
    budget.update_and_detect_exhaustion(
        RateLimitStatus(100, 99, reset_at=2, window_ends_at=30, sent_count=budget.record_sent(20)),
        20,
    )
    assert budget.max_sustainable_matches(turn) == 38


@given(LIMITS, SECONDS, st.integers(1, 500), st.lists(st.floats(0, 20), max_size=9))
def test_a_read_that_a_turn_needs_goes_at_once_while_any_request_remains(
    limit: int, seconds: float, remaining: int, delays: list[float]
) -> None:
    """Whatever else waits, and however late the arena answers."""
    budget = budget_of(limit, min(remaining, limit), seconds)
    for delay in delays:
        budget.record_latency(delay, 0)
    for purpose in RequestPriority:
        budget.enqueue(purpose, 1000)
    assert budget.delay_for(budget._queue[0], 0) == 0
    assert budget._queue[0].priority is RequestPriority.READ


def test_growing_response_times_delay_requests_and_noise_does_not() -> None:
    """Usual times let requests speed up again, but not at once."""
    budget, current_time = RequestBudget(), 0.0
    for seconds in (0.02, 0.9, 0.03, 0.5, 0.4, 0.02) * 20:
        budget.record_latency(seconds, current_time)
        current_time = current_time + wait_of(budget, RequestPriority.ACT, 1e9, current_time)
        budget.record_sent(current_time)
    assert current_time == 0
    for step in range(20):
        current_time += 1
        budget.record_latency(0.1 * step, current_time)
        budget.record_sent(current_time)
    assert wait_of(budget, RequestPriority.ACT, 1e9, current_time) > 2
    for count in range(2000):
        budget.record_latency(0.02, current_time)
        if count == 3:
            assert 0.5 < wait_of(budget, RequestPriority.ACT, 1e9, current_time) <= 1.5
    assert wait_of(budget, RequestPriority.ACT, 1e9, current_time) == 0


@given(st.integers(4, 30), st.floats(0.1, 5))
def test_delays_by_a_stated_limit_that_is_used_up_do_not_slow_the_next_window(
    late_count: int, delay: float
) -> None:
    budget = budget_of(100, 0, 30)
    for number in range(late_count):
        budget.record_latency(delay * (number + 1), float(number) / late_count)
    assert wait_of(budget, RequestPriority.ACT, 1e9, 31) == 0


@settings(max_examples=case_count(20, 100))  # each has thousands of requests
@given(st.integers(5, 15), st.integers(600, 1200))
def test_clients_behind_one_address_learn_its_limit_although_no_response_states_it(
    clients: int, limit: int
) -> None:
    """Each sends one request after the other; the arena delays all beyond `limit` a minute."""
    budgets = [RequestBudget() for _ in range(clients)]
    steps = [(0.0, number, False) for number in range(clients)]
    counts, longest = Counter[int](), Counter[int]()
    while steps[0][0] < WINDOW_COUNT * 60:
        current_time, number, is_due = heappop(steps)
        budget = budgets[number]
        wait = wait_of(budget, RequestPriority.ACT, current_time + 10, current_time)
        if wait > 1e-6 and not is_due:
            heappush(steps, (current_time + wait, number, True))
            continue
        budget.record_sent(current_time)
        window = int(current_time // 60)
        counts[window] += 1
        delay = min(max(0, counts[window] - limit) * 0.1, 10)
        longest[window] = max(longest[window], delay)
        answered_at = current_time + 0.3 + delay
        budget.record_latency(0.3 + delay, answered_at)
        heappush(steps, (answered_at, number, False))
    assert longest[0] > 2 or counts[0] <= limit + 20
    assert max(longest[window] for window in range(2, WINDOW_COUNT)) < 6


WINDOW_COUNT = 8


EPOCH = datetime(2026, 11, 20, tzinfo=UTC)
DAY = 86_400.0
LONGEST = 30.0  # seconds that a request may take on its way, and as long again for its answer
KINDS = st.sampled_from(["dated", "shown", "written"])
DELAYS = st.floats(0, LONGEST)
SKEWS = st.floats(-DAY, DAY)


@dataclass
class Far:
    """A remote clock that is ahead of our monotonic seconds, and the answers that reveal it."""

    ahead: float
    remote_clock: RemoteClock

    def shows(self, second: float) -> datetime:
        return EPOCH + timedelta(seconds=second + self.ahead)

    def tell(self, kind: str, sent_at: float, outbound_delay: float, return_delay: float) -> float:
        """Answer a request sent at `sent_at`, and return the second at which the answer arrived."""
        at = sent_at + outbound_delay
        answered = at + return_delay
        if kind == "dated":
            date = self.shows(at)
            self.remote_clock.update_from_date_header(
                date.replace(microsecond=0), sent_at, answered
            )
        elif kind == "written":
            self.remote_clock.update_from_write(self.shows(at), sent_at, answered)
        else:
            self.remote_clock.update_from_timestamp(self.shows(at), answered)
        return answered

    def check(self, current_time: float) -> None:
        second = current_time + 3
        when = self.remote_clock.to_local_bounds(self.shows(second), current_time)
        if when != NEVER_BOUNDS:
            assert when.earliest - 1e-3 <= second <= when.latest + 1e-3


@given(
    SKEWS,
    st.one_of(st.floats(4 * LONGEST, DAY), st.floats(-DAY, -4 * LONGEST)),
    st.lists(st.tuples(KINDS, DELAYS, DELAYS), max_size=12),
    st.tuples(st.sampled_from(["dated", "written"]), DELAYS, DELAYS),
)
def test_clock_bounds_hold_for_any_skew_and_recover_from_a_jump(
    ahead: float,
    jump: float,
    answers: list[tuple[str, float, float]],
    last: tuple[str, float, float],
) -> None:
    """The jump is longer than the answers' delays; a shorter one looks like a delay."""
    far, current_time = Far(ahead, RemoteClock()), 1000.0
    for kind, outbound_delay, return_delay in answers:
        current_time = far.tell(kind, current_time, outbound_delay, return_delay)
        far.check(current_time)
    far.ahead += jump
    current_time = far.tell(last[0], current_time, last[1], last[2])
    far.check(current_time)


@given(SKEWS, st.floats(10, DAY), st.sampled_from([-1, 1]))
def test_date_headers_of_another_clock_are_discarded(
    ahead: float, wrong: float, direction: int
) -> None:
    far, current_time = Far(ahead, RemoteClock()), 1000.0
    gateway = Far(ahead + direction * wrong, far.remote_clock)
    for step in ("dated", "shown", "written", "dated", "dated"):
        current_time = (gateway if step == "dated" else far).tell(step, current_time, 0.1, 0.1)
    far.check(current_time)
    when = far.remote_clock.to_local_bounds(far.shows(current_time), current_time)
    assert when.latest - when.earliest < 1


def test_timestamps_of_our_writes_are_more_precise_than_date_headers() -> None:
    far = Far(5, RemoteClock())
    current_time = far.tell("dated", 0, 0.05, 0.05)
    coarse = far.remote_clock.to_local_bounds(far.shows(10), current_time)
    far.tell("written", current_time, 0.05, 0.05)
    fine = far.remote_clock.to_local_bounds(far.shows(10), current_time)
    assert coarse.latest - coarse.earliest > 1
    assert fine.latest - fine.earliest < 0.2
