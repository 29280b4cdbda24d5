"""The budget of requests: who goes when, for any limits and answers."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from cardsharp.budget import AHEAD, Allowance, Budget, Purpose

LIMITS = st.integers(1, 500)
SECONDS = st.floats(1, 600)


def budget_of(limit: int, left: int, seconds: float) -> Budget:
    """One that was told a moment ago, at second 0, how many are left for so long."""
    budget = Budget()
    budget.told(Allowance(limit, left, reset=1, ends=seconds, sent=budget.send(0)), 0)
    return budget


def wait_of(budget: Budget, purpose: Purpose, latest: float, now: float = 0) -> float:
    ticket = budget.enter(purpose, latest)
    try:
        return budget.wait(ticket, now)
    finally:
        budget.leave(ticket)


def test_without_a_limit_nobody_waits() -> None:
    budget = Budget()
    for _ in range(500):
        assert wait_of(budget, Purpose.LIST, 1000) == 0
        budget.send(0)
    assert budget.limit is None
    assert budget.feeds(timedelta(seconds=7)) is None


@given(LIMITS, SECONDS, st.floats(0, 600), st.sampled_from(Purpose))
def test_nobody_waits_beyond_the_latest_moment(
    limit: int, seconds: float, latest: float, purpose: Purpose
) -> None:
    budget = budget_of(limit, 0, seconds)
    assert wait_of(budget, purpose, latest) <= latest


@given(LIMITS, SECONDS, st.lists(st.floats(0, 2), min_size=1, max_size=300))
def test_who_goes_when_the_budget_says_is_never_slowed(
    limit: int, seconds: float, pauses: list[float]
) -> None:
    """Whenever requests are wanted: of any window no more is spent than its limit."""
    budget, now, reset, spent = budget_of(limit, limit - 1, seconds), 0.0, 1, 1
    ends = seconds
    for pause in pauses:
        now += pause
        now += wait_of(budget, Purpose.ACT, now + 10_000, now) + 1e-6
        number = budget.send(now)
        if now >= ends:
            reset, ends, spent = reset + 1, now + seconds, 0
        spent += 1
        assert spent <= limit
        budget.told(Allowance(limit, limit - spent, reset, ends, number), now)


@given(st.integers(10, 500), SECONDS)
def test_a_part_of_a_window_goes_at_once_and_the_rest_is_spread(limit: int, seconds: float) -> None:
    budget, at_once = budget_of(limit, limit - 1, seconds), 0
    while wait_of(budget, Purpose.ACT, 10_000) == 0:
        budget.send(0)
        at_once += 1
    assert abs(at_once - AHEAD * limit) <= 2
    assert wait_of(budget, Purpose.ACT, 10_000) <= 2 * seconds / limit / (1 - AHEAD)


@given(st.permutations(list(Purpose)))
def test_actions_go_before_looks_looks_before_waits_and_the_list_last(
    order: list[Purpose],
) -> None:
    budget = budget_of(100, 20, 60)
    tickets = {purpose: budget.enter(purpose, 1000) for purpose in order}
    waits = [budget.wait(tickets[purpose], 0) for purpose in Purpose]
    assert waits == sorted(waits)
    assert len(set(waits)) == len(waits)


def test_of_two_actions_the_more_urgent_one_goes_first() -> None:
    budget = budget_of(100, 20, 60)
    later, sooner = budget.enter(Purpose.ACT, 500), budget.enter(Purpose.ACT, 400)
    assert budget.wait(sooner, 0) < budget.wait(later, 0)


def test_what_others_spend_as_the_same_user_is_not_ours() -> None:
    """Workers of a cloud know of each other by the arena's headers alone."""
    budget = budget_of(100, 99, 60)
    number = budget.send(0)
    assert wait_of(budget, Purpose.ACT, 1000) == 0
    budget.told(Allowance(100, 40, reset=1, ends=60, sent=number), 0)
    assert wait_of(budget, Purpose.ACT, 1000) > 20


def test_answers_that_come_in_another_order_than_their_requests_mislead_nobody() -> None:
    budget = budget_of(100, 50, 60)
    first, second = budget.send(0), budget.send(0)
    budget.told(Allowance(100, 48, reset=1, ends=60, sent=second), 0)
    budget.told(Allowance(100, 49, reset=1, ends=60, sent=first), 0)
    assert budget.left(0) == 48
    budget.told(Allowance(100, 99, reset=61, ends=120, sent=budget.send(60)), 60)
    budget.told(Allowance(100, 0, reset=1, ends=60.5, sent=first), 60)
    assert budget.left(60) == 99


@given(st.integers(-5, 5), st.integers(-5, 10**30), st.one_of(st.floats(), st.just(float("inf"))))
def test_a_count_that_cannot_be_is_not_believed(limit: int, left: int, ends: float) -> None:
    budget = Budget()
    budget.told(Allowance(limit, left, reset=1, ends=ends, sent=budget.send(0)), 0)
    assert wait_of(budget, Purpose.ACT, 1e9) <= 900


def test_a_limit_feeds_so_many_matches_that_each_may_act_within_its_turn() -> None:
    budget = budget_of(100, 99, 60)
    assert [budget.feeds(timedelta(seconds=s)) for s in (1, 7, 20)] == [1, 6, 18]
    assert budget.feeds(None) is None


def test_who_comes_in_the_middle_of_a_window_does_not_take_its_rest_for_the_whole() -> None:
    """As a new worker in the cloud does; the first window that begins with it says how long."""
    budget, turn = budget_of(100, 30, 20), timedelta(seconds=7)
    assert budget.feeds(turn) == 6
    budget.told(Allowance(100, 99, reset=2, ends=30, sent=budget.send(20)), 20)
    assert budget.feeds(turn) == 38


def test_where_no_limit_is_told_answers_that_come_later_and_later_make_us_wait() -> None:
    """And answers as usual let us go faster again; noise does neither."""
    budget, now = Budget(), 0.0
    for seconds in (0.02, 0.9, 0.03, 0.5, 0.4, 0.02) * 20:
        budget.answered(seconds)
        now = now + wait_of(budget, Purpose.ACT, 1e9, now)
        budget.send(now)
    assert now == 0
    for step in range(20):
        budget.answered(0.1 * step)
        budget.send(now)
    slowed = wait_of(budget, Purpose.ACT, 1e9, now)
    assert slowed > 0.5
    for _ in range(200):
        budget.answered(0.02)
    budget.send(now)
    assert wait_of(budget, Purpose.ACT, 1e9, now + 60) == 0
