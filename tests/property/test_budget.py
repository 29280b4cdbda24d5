"""When an arena may be asked: the budget of requests, and its clock by ours (R31)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cardsharp.client.remote_clock import NEVER, RemoteClock
from cardsharp.client.request_budget import (
    BURST_ALLOWANCE,
    RateLimitStatus,
    RequestBudget,
    RequestPriority,
)

LIMITS = st.integers(1, 500)
SECONDS = st.floats(1, 600)


def budget_of(limit: int, left: int, seconds: float) -> RequestBudget:
    """One that was told a moment ago, at second 0, how many are left for so long."""
    budget = RequestBudget()
    budget.update(
        RateLimitStatus(
            limit, left, reset_at=1, window_ends_at=seconds, sent_count=budget.record_sent(0)
        ),
        0,
    )
    return budget


def wait_of(
    budget: RequestBudget, purpose: RequestPriority, latest: float, now: float = 0
) -> float:
    ticket = budget.enqueue(purpose, latest)
    try:
        return budget.delay_for(ticket, now)
    finally:
        budget.dequeue(ticket)


@given(LIMITS, SECONDS, st.floats(0, 600), st.sampled_from(RequestPriority))
def test_nobody_waits_too_long(
    limit: int, seconds: float, latest: float, purpose: RequestPriority
) -> None:
    budget = budget_of(limit, 0, seconds)
    assert wait_of(budget, purpose, latest) <= latest


@given(LIMITS, SECONDS, st.lists(st.floats(0, 2), min_size=1, max_size=300))
def test_who_keeps_to_it_is_never_slowed(limit: int, seconds: float, pauses: list[float]) -> None:
    """Whenever requests are wanted: of any window no more is spent than its limit."""
    budget, now, reset, spent = budget_of(limit, limit - 1, seconds), 0.0, 1, 1
    ends = seconds
    for pause in pauses:
        now += pause
        now += wait_of(budget, RequestPriority.ACT, now + 10_000, now) + 1e-6
        number = budget.record_sent(now)
        if now >= ends:
            reset, ends, spent = reset + 1, now + seconds, 0
        spent += 1
        assert spent <= limit
        budget.update(RateLimitStatus(limit, limit - spent, reset, ends, number), now)


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
def test_actions_go_before_looks_looks_before_waits_the_list_last(
    order: list[RequestPriority],
) -> None:
    budget = budget_of(100, 20, 60)
    tickets = {purpose: budget.enqueue(purpose, 1000) for purpose in order}
    waits = [budget.delay_for(tickets[purpose], 0) for purpose in RequestPriority]
    assert waits == sorted(waits)
    assert len(set(waits)) == len(waits)


def test_the_more_urgent_goes_first_and_what_others_spend_is_not_ours() -> None:
    """Workers of a cloud know of each other by the arena's headers alone."""
    budget = budget_of(100, 20, 60)
    later, sooner = (
        budget.enqueue(RequestPriority.ACT, 500),
        budget.enqueue(RequestPriority.ACT, 400),
    )
    assert budget.delay_for(sooner, 0) < budget.delay_for(later, 0)
    budget = budget_of(100, 99, 60)
    number = budget.record_sent(0)
    assert wait_of(budget, RequestPriority.ACT, 1000) == 0
    budget.update(RateLimitStatus(100, 40, reset_at=1, window_ends_at=60, sent_count=number), 0)
    assert wait_of(budget, RequestPriority.ACT, 1000) > 20


def test_answers_that_come_in_another_order_than_their_requests_mislead_nobody() -> None:
    budget = budget_of(100, 50, 60)
    first, second = budget.record_sent(0), budget.record_sent(0)
    budget.update(RateLimitStatus(100, 48, reset_at=1, window_ends_at=60, sent_count=second), 0)
    budget.update(RateLimitStatus(100, 49, reset_at=1, window_ends_at=60, sent_count=first), 0)
    assert budget.remaining(0) == 48
    budget.update(
        RateLimitStatus(
            100, 99, reset_at=61, window_ends_at=120, sent_count=budget.record_sent(60)
        ),
        60,
    )
    budget.update(RateLimitStatus(100, 0, reset_at=1, window_ends_at=60.5, sent_count=first), 60)
    assert budget.remaining(60) == 99


@given(st.integers(-5, 5), st.integers(-5, 10**30), st.one_of(st.floats(), st.just(float("inf"))))
def test_a_count_that_cannot_be_is_not_believed(limit: int, left: int, ends: float) -> None:
    budget = RequestBudget()
    budget.update(
        RateLimitStatus(
            limit, left, reset_at=1, window_ends_at=ends, sent_count=budget.record_sent(0)
        ),
        0,
    )
    assert wait_of(budget, RequestPriority.ACT, 1e9) <= 900


def test_a_limit_feeds_so_many_matches_that_each_may_act_within_its_turn() -> None:
    """Who comes in the middle of a window does not take its rest for the whole."""
    budget = budget_of(100, 99, 60)
    assert [budget.max_matches(timedelta(seconds=s)) for s in (1, 7, 20)] == [1, 6, 18]
    assert budget.max_matches(None) is None
    budget, turn = budget_of(100, 30, 20), timedelta(seconds=7)
    assert budget.max_matches(turn) == 6
    budget.update(
        RateLimitStatus(100, 99, reset_at=2, window_ends_at=30, sent_count=budget.record_sent(20)),
        20,
    )
    assert budget.max_matches(turn) == 38


def test_where_no_limit_is_told_answers_that_come_later_and_later_make_us_wait() -> None:
    """And answers as usual let us go faster again; noise does neither."""
    budget, now = RequestBudget(), 0.0
    for seconds in (0.02, 0.9, 0.03, 0.5, 0.4, 0.02) * 20:
        budget.record_latency(seconds)
        now = now + wait_of(budget, RequestPriority.ACT, 1e9, now)
        budget.record_sent(now)
    assert now == 0
    for step in range(20):
        budget.record_latency(0.1 * step)
        budget.record_sent(now)
    slowed = wait_of(budget, RequestPriority.ACT, 1e9, now)
    assert slowed > 0.5
    for _ in range(200):
        budget.record_latency(0.02)
    budget.record_sent(now)
    assert wait_of(budget, RequestPriority.ACT, 1e9, now + 60) == 0


EPOCH = datetime(2026, 11, 20, tzinfo=UTC)
DAY = 86_400.0
LONGEST = 30.0  # seconds that a request may take on its way, and as long again for its answer
KINDS = st.sampled_from(["dated", "shown", "written"])
DELAYS = st.floats(0, LONGEST)
SKEWS = st.floats(-DAY, DAY)


@dataclass
class Far:
    """The truth: a clock that is ahead of our monotonic seconds, and told by answers."""

    ahead: float
    known: RemoteClock

    def shows(self, second: float) -> datetime:
        return EPOCH + timedelta(seconds=second + self.ahead)

    def tell(self, kind: str, asked: float, there: float, back: float) -> float:
        """Have a request answered; when its answer came."""
        at = asked + there
        answered = at + back
        if kind == "dated":
            date = self.shows(at)
            self.known.update_from_date_header(date.replace(microsecond=0), asked, answered)
        elif kind == "written":
            self.known.update_from_write(self.shows(at), asked, answered)
        else:
            self.known.update_from_timestamp(self.shows(at), answered)
        return answered

    def check(self, now: float) -> None:
        second = now + 3
        when = self.known.to_local(self.shows(second), now)
        if when != NEVER:
            assert when.earliest - 1e-3 <= second <= when.latest + 1e-3


@given(
    SKEWS,
    st.one_of(st.floats(4 * LONGEST, DAY), st.floats(-DAY, -4 * LONGEST)),
    st.lists(st.tuples(KINDS, DELAYS, DELAYS), max_size=12),
    st.tuples(st.sampled_from(["dated", "written"]), DELAYS, DELAYS),
)
def test_bounds_hold_whatever_the_skew_and_again_after_a_jump_with_the_next_short_answer(
    ahead: float,
    jump: float,
    before: list[tuple[str, float, float]],
    last: tuple[str, float, float],
) -> None:
    """Where it is longer than the answers' own delays; a shorter one is as if they were."""
    far, now = Far(ahead, RemoteClock()), 1000.0
    for kind, there, back in before:
        now = far.tell(kind, now, there, back)
        far.check(now)
    far.ahead += jump
    now = far.tell(last[0], now, last[1], last[2])
    far.check(now)


@given(SKEWS, st.floats(10, DAY), st.sampled_from([-1, 1]))
def test_dates_of_another_clock_are_given_up(ahead: float, wrong: float, way: int) -> None:
    far, now = Far(ahead, RemoteClock()), 1000.0
    gateway = Far(ahead + way * wrong, far.known)
    for step in ("dated", "shown", "written", "dated", "dated"):
        now = (gateway if step == "dated" else far).tell(step, now, 0.1, 0.1)
    far.check(now)
    when = far.known.to_local(far.shows(now), now)
    assert when.latest - when.earliest < 1


def test_our_own_moves_say_more_than_dates() -> None:
    far = Far(5, RemoteClock())
    now = far.tell("dated", 0, 0.05, 0.05)
    coarse = far.known.to_local(far.shows(10), now)
    far.tell("written", now, 0.05, 0.05)
    fine = far.known.to_local(far.shows(10), now)
    assert coarse.latest - coarse.earliest > 1
    assert fine.latest - fine.earliest < 0.2
