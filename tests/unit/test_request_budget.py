"""The request budget and the response times by examples, to the second: when a request may go.

`tests/property/test_request_budget.py` has what holds for every limit and every rhythm.
"""

from datetime import timedelta
from typing import NamedTuple

import pytest

from cardsharp.client.request_budget import (
    DEFAULT_WINDOW_SECONDS,
    MAX_WINDOW_SECONDS,
    QueuedRequest,
    RateLimitStatus,
    RequestBudget,
    RequestPriority,
)
from cardsharp.client.response_times import ResponseTimes

ACT, WAIT, LIST = RequestPriority.ACT, RequestPriority.WAIT, RequestPriority.LIST
LATER = 1e9


class Window(NamedTuple):
    """What answers state of a window but for what remains of it."""

    limit: int = 100
    reset_at: float = 1
    ends: float = 60


FIRST_WINDOW, NEXT_WINDOW = Window(), Window(reset_at=61, ends=120)


def answer(
    budget: RequestBudget,
    remaining: int,
    current_time: float = 0,
    window: Window = FIRST_WINDOW,
    number: int | None = None,
) -> bool:
    """Answer request `number`, or one that is sent now; return whether nothing is left is news."""
    sent_count = budget.record_sent(current_time) if number is None else number
    status = RateLimitStatus(window.limit, remaining, window.reset_at, window.ends, sent_count)
    return budget.update_and_detect_exhaustion(status, current_time)


def budget_with(remaining: int, window: Window = FIRST_WINDOW) -> RequestBudget:
    """Return a budget that was told this at second 0 by the answer to its first request."""
    budget = RequestBudget()
    answer(budget, remaining, 0, window)
    return budget


def delay_of(
    budget: RequestBudget,
    current_time: float = 0,
    priority: RequestPriority = ACT,
    deadline: float = LATER,
) -> float:
    ticket = budget.enqueue(priority, deadline)
    try:
        return budget.delay_for(ticket, current_time)
    finally:
        budget.dequeue(ticket)


# --- the stated limit ----------------------------------------------------------------------------


def test_without_a_stated_limit_nothing_is_known_and_nothing_waits() -> None:
    budget = RequestBudget()
    assert budget.max_requests_per_window is None
    assert budget.remaining_requests(0) is None
    assert budget.request_interval(0.5) is None
    assert budget.expected_extra_latency(0) == 0
    assert [delay_of(budget, priority=priority) for priority in RequestPriority] == [0, 0, 0, 0]


def test_a_request_that_is_under_way_counts_as_spent() -> None:
    budget = budget_with(20)
    assert budget.max_requests_per_window == 100
    assert budget.remaining_requests(0) == 20
    second, third = budget.record_sent(1), budget.record_sent(1)
    assert (second, third) == (2, 3)
    assert budget.remaining_requests(1) == 18
    assert not answer(budget, 19, 2, number=second)
    assert budget.remaining_requests(2) == 18, "the third is still under way"
    assert not answer(budget, 17, 2, number=third)
    assert budget.remaining_requests(2) == 17, "another process has sent one"
    assert not answer(budget, 16, 2, number=third)
    assert budget.remaining_requests(2) == 16, "a later answer to the same request counts"


def test_the_rest_of_a_budget_is_spread_back_from_the_end_of_its_window() -> None:
    """20 of 100 in 60 s are left: an action's spacing is 0.75 s, that of the list 0.6 s."""
    budget = budget_with(20)
    assert delay_of(budget) == pytest.approx(60 - 19 * 0.75)
    assert delay_of(budget, priority=WAIT) == pytest.approx(60 - 19 * 0.75)
    assert delay_of(budget, priority=LIST) == pytest.approx(60 - 19 * 0.6)
    assert delay_of(budget, 40) == pytest.approx(20 - 19 * 0.75)
    assert delay_of(budget, 46) == 0
    first, second = budget.enqueue(ACT, LATER), budget.enqueue(ACT, LATER)
    assert budget.delay_for(second, 0) - budget.delay_for(first, 0) == pytest.approx(0.75)


@pytest.mark.parametrize(("remaining", "delay"), [(2, 59.25), (1, 60), (0, 60)])
def test_the_last_request_of_a_window_waits_for_its_end(remaining: int, delay: float) -> None:
    assert delay_of(budget_with(remaining)) == pytest.approx(delay)


def test_a_request_at_its_deadline_is_sent_in_any_case() -> None:
    budget = budget_with(0)
    assert delay_of(budget, 10, deadline=30) == 20
    assert delay_of(budget, 10, deadline=10) == delay_of(budget, 10, deadline=5) == 0
    assert delay_of(budget, 10, RequestPriority.READ) == 0


def test_of_equal_requests_the_first_goes_first_and_a_dropped_one_holds_nobody_back() -> None:
    budget = budget_with(20)
    first, second, urgent = (
        budget.enqueue(ACT, 500),
        budget.enqueue(ACT, 500),
        budget.enqueue(ACT, 400),
    )

    def order() -> list[QueuedRequest]:
        tickets = (first, second, urgent)
        return sorted(tickets, key=lambda ticket: budget.delay_for(ticket, 0))

    assert order() == [urgent, first, second]
    before = budget.delay_for(second, 0)
    budget.dequeue(urgent)
    assert budget.delay_for(second, 0) == pytest.approx(before - 0.75)


def test_the_next_window_begins_full_when_the_time_of_the_last_is_over() -> None:
    """Until an answer describes it; it ends a window's length after it was first needed."""
    budget = budget_with(99)
    budget.record_sent(10)
    assert budget.remaining_requests(59.9) == 98
    assert budget.remaining_requests(60) == 100, "at the very end"
    assert budget.remaining_requests(119.9) == 100
    budget.record_sent(70)
    assert budget.remaining_requests(119.9) == 99
    assert budget.remaining_requests(125) == 100, "and so on"
    for _ in range(100):
        budget.record_sent(125)
    assert budget.remaining_requests(184.9) == 0
    assert delay_of(budget, 125) == pytest.approx(60), "until 185, counted from the second look"
    assert budget.remaining_requests(185) == 100


def test_a_late_answer_of_the_last_window_does_not_describe_the_next() -> None:
    budget = budget_with(50)
    number = budget.record_sent(59)
    assert budget.remaining_requests(60) == 100
    assert not answer(budget, 0, 60, Window(ends=60.5), number)
    assert budget.remaining_requests(60) == 100
    assert not answer(budget, 80, 61, NEXT_WINDOW)
    assert budget.remaining_requests(61) == 80
    assert not answer(budget, 5, 62, Window(ends=100)), "one of the window before"
    assert budget.remaining_requests(62) == 79


def test_that_nothing_is_left_is_news_once_a_window() -> None:
    budget = RequestBudget()
    assert answer(budget, 0), "already the first answer"
    assert not answer(budget, 0, 1)
    assert not answer(budget, 1, 61, NEXT_WINDOW)
    assert answer(budget, 0, 62, NEXT_WINDOW)
    assert not answer(budget, 0, 63, NEXT_WINDOW)
    assert not answer(budget, 3, 64, NEXT_WINDOW)
    assert answer(budget, 0, 121, Window(reset_at=121, ends=180))


@pytest.mark.parametrize(
    ("limit", "remaining", "ends", "is_believed"),
    [
        (1, 0, 1, True),
        (0, 0, 1, False),
        (1, -1, 1, False),
        (1, 0, 0, False),
        (1, 0, MAX_WINDOW_SECONDS, True),
        (1, 0, MAX_WINDOW_SECONDS + 0.1, False),
    ],
)
def test_only_a_limit_that_can_be_is_believed(
    limit: int, remaining: int, ends: float, *, is_believed: bool
) -> None:
    budget = RequestBudget()
    assert answer(budget, remaining, 0, Window(limit, ends=ends)) is is_believed
    assert (budget.max_requests_per_window is not None) is is_believed


@pytest.mark.parametrize(
    ("remaining", "ends", "length"),
    [
        (100, 30, 30),
        (99, 30, 30),
        (98, 30, DEFAULT_WINDOW_SECONDS),
        (98, 90, 90),
    ],
)
def test_a_window_is_measured_where_it_was_seen_from_its_beginning(
    remaining: int, ends: float, length: float
) -> None:
    budget = budget_with(remaining, Window(ends=ends))
    assert budget.request_interval(1) == timedelta(seconds=length / 100)
    assert budget.request_interval(0.2) == timedelta(seconds=length / 20)


def test_a_window_is_as_long_as_the_longest_rest_that_was_seen_of_it() -> None:
    def length_of(budget: RequestBudget) -> float:
        spacing = budget.request_interval(1)
        assert spacing is not None
        return spacing.total_seconds() * 100

    measured = budget_with(99, Window(ends=30))
    answer(measured, 98, 1, Window(ends=33))
    assert length_of(measured) == pytest.approx(32)
    answer(measured, 97, 20, Window(ends=33))
    assert length_of(measured) == pytest.approx(32)
    answer(measured, 50, 40, Window(reset_at=31, ends=62))
    assert length_of(measured) == pytest.approx(32), "measured once, it stays so"
    answer(measured, 50, 70, Window(reset_at=63, ends=110))
    assert length_of(measured) == pytest.approx(40)
    assumed = budget_with(50, Window(ends=90))
    answer(assumed, 50, 100, Window(reset_at=91, ends=120))
    assert length_of(assumed) == DEFAULT_WINDOW_SECONDS, "an assumption binds no later window"
    answer(assumed, 99, 121, Window(reset_at=121, ends=141))
    assert length_of(assumed) == pytest.approx(20)


@pytest.mark.parametrize(
    ("turn", "matches"), [(timedelta(seconds=20), 18), (timedelta(seconds=1), 1), (None, None)]
)
def test_a_limit_serves_at_least_one_match(turn: timedelta | None, matches: int | None) -> None:
    """100 in 60 s, of which a match needs one in 55 % of its turn."""
    assert budget_with(99).max_sustainable_matches(turn) == matches
    assert RequestBudget().max_sustainable_matches(turn) is None


# --- a limit that no answer states ---------------------------------------------------------------


def slowed_budget(*, remaining: int | None = None) -> RequestBudget:
    """A budget at second 3: a request a second, each answered half a second later than the last."""
    budget = RequestBudget()
    for second in range(4):
        if remaining is None:
            budget.record_sent(second)
        else:
            answer(budget, remaining, second)
        budget.record_latency(0.02 + 0.5 * second, second)
    return budget


def test_a_spacing_begins_with_the_pace_that_was_kept() -> None:
    """Four requests in 3 s are 0.75 s for each, and half as much again is 1.125 s."""
    budget = slowed_budget()
    assert budget.expected_extra_latency(3) == pytest.approx(1.5)
    # All of the last three were 0.5 s late at least, which calls for a second only.
    assert delay_of(budget, 3) == pytest.approx(1.125)
    assert delay_of(budget, 4) == pytest.approx(0.125)
    assert delay_of(budget, 3, deadline=3.5) == 0.5
    first, second = budget.enqueue(ACT, LATER), budget.enqueue(ACT, LATER)
    assert budget.delay_for(first, 3) == pytest.approx(1.125)
    assert budget.delay_for(second, 3) == pytest.approx(2.25)


def test_a_spacing_is_raised_once_a_second_up_to_its_limit_and_falls_slowly() -> None:
    budget = slowed_budget()
    budget.record_latency(2.02, 3.9)
    assert delay_of(budget, 3) == pytest.approx(2), "twice the least delay, and no raise yet"
    budget.record_latency(0.02, 3.9)
    assert delay_of(budget, 3) == pytest.approx(1.125 * 0.998)
    for delay in (0.02, 0.5, 1, 1.5):
        budget.record_latency(delay, 4)
    budget.record_latency(0.02, 4)
    assert delay_of(budget, 3) == pytest.approx(1.5 * 0.998), "1.5 s is the longest"
    for _ in range(1690):
        budget.record_latency(0.02, 4)
    assert 0.049 < delay_of(budget, 3) < 0.051
    for _ in range(20):
        budget.record_latency(0.02, 4)
    assert delay_of(budget, 3) == 0


def test_a_spacing_is_never_shorter_than_a_tenth_of_a_second() -> None:
    budget = RequestBudget()
    for delay in (0.02, 0.3, 0.4, 0.5):
        budget.record_latency(delay, 0)
    budget.record_latency(0.02, 0)
    assert delay_of(budget) == 0, "nothing was sent yet"
    budget.record_sent(0)
    assert delay_of(budget) == pytest.approx(0.1 * 0.998)


def test_the_pace_is_that_of_the_last_thirty_requests() -> None:
    budget = RequestBudget()
    for number in range(40):
        budget.record_sent(0 if number < 10 else 100 + 0.5 * number)
    current_time = 100 + 0.5 * 39
    for delay in (0.02, 0.3, 0.4, 0.5):
        budget.record_latency(delay, current_time)
    budget.record_latency(0.02, current_time)
    assert delay_of(budget, current_time) == pytest.approx(1.5 * 0.5 * 29 / 30 * 0.998)


def test_only_delays_that_no_used_up_limit_explains_space_requests() -> None:
    explained, unexplained = slowed_budget(remaining=0), slowed_budget(remaining=1)
    assert explained.expected_extra_latency(3) == pytest.approx(1.5)
    for budget in (explained, unexplained):
        answer(budget, 100, 61, Window(reset_at=61, ends=121))
    assert delay_of(explained, 61) == 0
    assert delay_of(unexplained, 61) == pytest.approx(1.125)
    answer(unexplained, 0, 62, Window(reset_at=61, ends=121))
    assert delay_of(unexplained, 62) == 59, "the stated limit alone counts while it is used up"
    answer(unexplained, 0, 120, Window(reset_at=61, ends=121))
    assert delay_of(unexplained, 120) == 1


def test_delays_by_a_used_up_limit_say_nothing_of_the_spacing() -> None:
    """Neither that it is too short nor that it is long enough."""
    budget = slowed_budget(remaining=1)
    answer(budget, 0, 4)
    for delay in (0.02, 1, 2, 3, 4, 0.02) * 9:
        budget.record_latency(delay, 4)
    answer(budget, 100, 61, Window(reset_at=61, ends=121))
    assert delay_of(budget, 61) == pytest.approx(1.125)


# --- the last answers ----------------------------------------------------------------------------


def times_of(*seconds: float, explained: frozenset[int] = frozenset()) -> ResponseTimes:
    """Answers at seconds 0, 1, 2 … that took so long; some of them are explained."""
    times = ResponseTimes()
    for second, duration in enumerate(seconds):
        times.record(duration, second, is_explained=second in explained)
    return times


def test_without_answers_nothing_is_late() -> None:
    times = ResponseTimes()
    assert times.expected_extra_latency(0) == times.min_recent_extra_latency(0) == 0
    assert not times.is_growing(0)


def test_the_slowest_of_four_answers_tells_how_late_the_next_may_come() -> None:
    assert times_of(1, 1.19).expected_extra_latency(2) == 0, "that is usual"
    assert times_of(1, 1.5, 1.25).expected_extra_latency(2) == 0.5
    assert times_of(1, 3, 2, 2, 1, 1).expected_extra_latency(6) == 1, "the 3 s are too long ago"
    assert times_of(1, 1.25, explained=frozenset({1})).expected_extra_latency(1) == 0.25


def test_three_late_answers_in_a_row_show_that_the_service_is_slow() -> None:
    assert times_of(1, 3, 2).min_recent_extra_latency(2) == 0, "two may be an accident"
    assert times_of(1, 3, 2, 4).min_recent_extra_latency(3) == 1
    assert times_of(1, 3, 2, 1).min_recent_extra_latency(3) == 0, "one in time is enough"
    assert times_of(1, 3, 2, 4, explained=frozenset({3})).min_recent_extra_latency(3) == 0


def test_answers_grow_if_each_of_four_is_later_than_the_one_before() -> None:
    assert not times_of(1, 2, 3).is_growing(2)
    assert times_of(1, 2, 3, 4).is_growing(3)
    assert times_of(1, 2, 2.0625, 2.125).is_growing(3)
    assert not times_of(1, 2, 2.03125, 3).is_growing(3), "less than 0.05 s is noise"
    assert not times_of(1, 2, 3, 4, explained=frozenset({2})).is_growing(3)
    assert not times_of(1, 2, 4, 3).is_growing(3)


def test_delays_of_five_seconds_need_not_grow() -> None:
    assert times_of(1, 6, 6, 6).is_growing(3)
    assert times_of(1, 8, 7, 6).is_growing(3)
    assert not times_of(1, 5.5, 5.5, 5.5).is_growing(3)


def test_an_answer_of_a_minute_ago_says_nothing() -> None:
    times = times_of(1, 3)
    assert times.expected_extra_latency(61) == 2
    assert times.expected_extra_latency(61.1) == 0


@pytest.mark.parametrize(
    ("at", "extra"),
    [
        ([59, 59], 2),  # of this minute
        ([60, 61], 2),  # of the one before
        ([60, 119, 119], 2),
        ([60, 120, 121], 0),  # two minutes ago: 3 s are usual now
        ([60, 60.5, 120], 0),
        ([119, 119], 2),
        ([120, 121], 0),  # nothing was asked for so long
    ],
)
def test_the_usual_time_is_the_shortest_of_this_minute_and_the_one_before(
    at: list[float], extra: float
) -> None:
    times = ResponseTimes()
    times.record(1, 0)
    for second in at:
        times.record(3, second)
    assert times.expected_extra_latency(at[-1]) == extra
