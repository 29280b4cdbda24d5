"""When a poller asks the arena for its matches again, and what it hands to the dispatcher.

`test_poller_at_arena.py` has a poller at a real arena; here every answer is told.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from fault_simulation.virtual_clock import VirtualClock
from support.recorded_arena_responses import running_view
from support.store_fixtures import RecordingMeter

from cardsharp.bot.control.listening_windows import ListeningWindow
from cardsharp.bot.control.poller_shift import PollerShift, PollerTiming
from cardsharp.bot.control.runtime_settings import RuntimeSettings
from cardsharp.client.request_budget import RateLimitStatus
from cardsharp.client.session_state import ClientSessionState
from cardsharp.core.metrics import MetricName
from cardsharp.errors import (
    ArenaError,
    RateLimited,
    RequestRejected,
    StoreError,
    Unauthorized,
    Unreachable,
)
from cardsharp.games.deadmansdraw.arena_bot import match_poller
from cardsharp.games.deadmansdraw.arena_bot.match_poller import MatchPoller
from cardsharp.games.deadmansdraw.arena_bot.wire import parse_view
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView

TIMING = PollerTiming()
LONG_LIFE = timedelta(minutes=10)
INSTANT = timedelta(microseconds=1)
NO = RequestRejected(403, "no")
AWAY = Unreachable("gone")
HELD = 30.0  # seconds for which the arena holds a request back


def listed(match_id: str, *, limit: float | None = None, is_over: bool = False) -> MatchView:
    body = running_view()
    params = {**body["creationParams"], "timeout": limit}
    active = None if is_over else 0
    fields = {"_id": match_id, "creationParams": params, "activePlayerIndex": active}
    return parse_view({**body, **fields})


Answer = tuple[float, Sequence[MatchView] | ArenaError]  # the seconds that it took, and what it was


@dataclass
class Scene:
    """A poller at an arena whose answers are told, and a dispatcher that keeps what it is told.

    Each answer is one of `answers`, then an empty list after a long poll for ever.
    """

    clock: VirtualClock = field(default_factory=VirtualClock)
    metrics: RecordingMeter = field(default_factory=RecordingMeter)
    answers: list[Answer] = field(default_factory=list)
    requests: list[tuple[float, timedelta | None]] = field(default_factory=list)
    tags: list[tuple[str, ...]] = field(default_factory=list)
    dispatches: list[tuple[tuple[str, ...], int | None, float | None]] = field(default_factory=list)
    dispatch_errors: list[StoreError | None] = field(default_factory=list)
    running_ids: set[str] = field(default_factory=set)
    on_request: Callable[[], None] = lambda: None
    queued: int = 0
    settings: RuntimeSettings | None = field(default_factory=RuntimeSettings)

    def __post_init__(self) -> None:
        self.session_state = ClientSessionState(self.clock)
        self.poller = MatchPoller(self, self, timing=TIMING)

    # the arena's client

    def matches(self, tags: tuple[str, ...], **options: Any) -> list[MatchView]:  # noqa: ANN401
        self.requests.append((self.clock.monotonic(), options.pop("max_budget_wait")))
        assert options == {"active": True, "wait": True}
        self.tags.append(tags)
        self.session_state.request_counts["list_wait"] += 1
        self.on_request()
        seconds, answer = self.answers.pop(0) if self.answers else (HELD, [])
        self.clock.advance(timedelta(seconds=seconds))
        if isinstance(answer, ArenaError):
            raise answer
        return list(answer)

    # the dispatcher, its log and its settings

    def dispatch_unattended(
        self,
        listed_ids: tuple[str, ...] = (),
        max_new: int | None = None,
        listed_at: float | None = None,
    ) -> int:
        self.dispatches.append((tuple(listed_ids), max_new, listed_at))
        error = self.dispatch_errors.pop(0) if self.dispatch_errors else None
        if error is not None:
            raise error
        return self.queued

    @property
    def match_log(self) -> "Scene":
        return self

    @property
    def runtime_settings(self) -> "Scene":
        return self

    def running_matches(self) -> list[str]:
        return sorted(self.running_ids)

    def read(self) -> RuntimeSettings:
        if self.settings is None:
            raise StoreError("The table is throttled.")
        return self.settings

    # the test

    @property
    def request_times(self) -> list[float]:
        return [second for second, _ in self.requests]

    def listen(self, life: timedelta = LONG_LIFE) -> int:
        end = self.clock.now() + life
        return self.poller.run(lambda: end - self.clock.now())

    def listen_for(self, request_count: int) -> list[float]:
        """Listen until so many requests were sent; return their seconds."""

        class EnoughError(Exception):
            pass

        def stop() -> None:
            if len(self.requests) == request_count:
                raise EnoughError

        on_request = self.on_request
        self.on_request = lambda: (on_request(), stop())[0]
        with pytest.raises(EnoughError):
            self.listen()
        return self.request_times

    def state_limit(self, limit: int, seconds: float = 60) -> None:
        """Have the arena state a limit of requests, of which all are left."""
        now = self.clock.monotonic()
        number = self.session_state.request_budget.record_sent(now)
        status = RateLimitStatus(limit, limit, 1, now + seconds, number)
        self.session_state.request_budget.update_and_detect_exhaustion(status, now)


@pytest.fixture
def scene() -> Scene:
    return Scene()


# --- when it asks --------------------------------------------------------------------------------


def test_an_arena_that_answers_at_once_is_asked_every_thirty_seconds(scene: Scene) -> None:
    """Counted from the request, however long its answer took."""
    scene.answers = [(0, [listed("a")]), (12, [listed("a")]), (0, [listed("a")])]
    assert scene.listen_for(4) == [0, 30, 63, 93], "at 60 a successor is due, so 3 s later"


def test_an_arena_that_holds_requests_back_is_asked_again_after_three_seconds(
    scene: Scene,
) -> None:
    scene.answers = [(1, []), (5, []), (30, [])]
    assert scene.listen_for(4) == [0, 3, 8, 38]


def test_a_finished_match_is_none_that_waits_for_us(scene: Scene) -> None:
    scene.answers = [(0, [listed("a", is_over=True)])]
    assert scene.listen_for(2) == [0, 3]
    assert scene.dispatches[1][0] == ()


@pytest.mark.parametrize(
    ("limit", "interval"), [(None, 30), (100, 3), (50, 6), (10, 30), (9, 30), (1000, 3)]
)
def test_a_fifth_of_the_stated_limit_goes_to_the_list(
    scene: Scene, limit: int | None, interval: float
) -> None:
    if limit is not None:
        scene.state_limit(limit)
    scene.answers = [(0, [listed("a")])]
    assert scene.listen_for(2) == [0, pytest.approx(interval)]


@pytest.mark.parametrize(("running_count", "interval"), [(17, 3), (18, 30), (19, 30)])
def test_a_poller_that_can_take_no_further_match_asks_seldom(
    scene: Scene, running_count: int, interval: float
) -> None:
    """100 requests in 60 s serve 18 matches with turns of 20 s."""
    scene.state_limit(100)
    scene.answers = [(0, [listed("a", limit=20)])]
    scene.running_ids = {str(number) for number in range(running_count)}
    assert scene.listen_for(2) == [0, interval]
    assert scene.dispatches[1][1] == 18


@pytest.mark.parametrize(
    ("limit", "turns", "budget_wait"),
    [
        (None, [20], None),
        (100, [None], None),
        (100, [20], 7),
        (100, [20, None, 10, 30], 2),
        (100, [4], 0),
        (10, [20], None),
    ],
)
def test_the_list_and_its_wait_take_half_of_the_shortest_turn_at_most(
    scene: Scene, limit: int | None, turns: list[float | None], budget_wait: float | None
) -> None:
    if limit is not None:
        scene.state_limit(limit)
    scene.answers = [(0, [listed(str(turn), limit=turn) for turn in turns]), (3, [])]
    scene.listen_for(3)
    expected = None if budget_wait is None else timedelta(seconds=budget_wait)
    waits = [wait for _, wait in scene.requests]
    assert waits == [None, expected, expected], "also after a list that names none"


def run_matches(scene: Scene, changes: dict[float, set[str]]) -> None:
    """Have these matches run in the log from each second on, as a dispatcher sees it then."""
    dispatch = scene.dispatch_unattended

    def dispatch_and_change(*args: Any) -> int:  # noqa: ANN401
        second = scene.clock.monotonic()
        scene.running_ids.clear()
        scene.running_ids |= changes[max(change for change in changes if change <= second)]
        return dispatch(*args)

    scene.dispatch_unattended = dispatch_and_change


def test_once_the_matches_that_were_named_have_ended_the_list_is_asked_for_soon(
    scene: Scene,
) -> None:
    """For the arena holds it back again; not so while another runs."""
    run_matches(scene, {0: {"a", "b"}, 5: {"b"}, 7.5: {"c"}, 9: set()})
    scene.answers = [(0, [listed("a"), listed("b")])]
    assert scene.listen_for(2) == [0, 9]


def test_at_least_three_seconds_are_between_two_requests(scene: Scene) -> None:
    run_matches(scene, {0: {"a"}, 1: set()})
    scene.answers = [(0, [listed("a")])]
    assert scene.listen_for(2) == [0, 3]


def test_a_match_that_was_never_taken_up_has_not_ended(scene: Scene) -> None:
    scene.answers = [(0, [listed("a")])]
    assert scene.listen_for(2) == [0, 30]


def test_an_arena_that_names_a_match_after_its_end_answers_at_once(scene: Scene) -> None:
    """Although the match is reopened then, and ends again."""
    run_matches(scene, {0: {"a"}, 5: set(), 6: {"a"}, 10: set()})
    scene.answers = [(0, [listed("a")]), (0, [listed("a")])]
    assert scene.listen_for(3) == [0, 5, 35]


def test_a_poller_leaves_a_request_to_its_successor_when_that_is_due(scene: Scene) -> None:
    scene.answers = [(29, []), (29, []), (10, []), (10, [])]
    assert scene.listen_for(5) == [0, 29, 58, 71, 84]


# --- errors --------------------------------------------------------------------------------------


def gaps_of(scene: Scene, count: int) -> list[float]:
    times = scene.listen_for(count)
    return [later - earlier for earlier, later in pairwise(times)]


@pytest.mark.parametrize("error", [NO, AWAY])
def test_r29_pauses_double_while_errors_continue_and_an_answer_ends_them(
    scene: Scene, error: ArenaError
) -> None:
    scene.poller.timing = PollerTiming(shift_duration=LONG_LIFE)
    scene.answers = [*[(0, error)] * 7, (0, []), (0, error), (0, error)]
    assert gaps_of(scene, 11) == [3, 6, 12, 24, 30, 30, 30, 3, 3, 6]


def test_r29_the_time_for_which_a_request_was_held_is_part_of_the_pause(scene: Scene) -> None:
    scene.poller.timing = PollerTiming(shift_duration=LONG_LIFE)
    scene.answers = [(0, AWAY), (2, AWAY), (20, AWAY), (1, AWAY)]
    assert gaps_of(scene, 5) == [3, 2 + 4, 20 + 3, 1 + 23]


@pytest.mark.parametrize(
    ("error", "pauses"),
    [
        (AWAY, [3, 6, 6, 6]),
        (NO, [3, 6, 12, 24]),
        (RateLimited("busy", timedelta(0)), [3, 6, 12, 24]),
        (RateLimited("busy", timedelta(seconds=9)), [9, 9, 12, 24]),
        (RateLimited("busy", timedelta(hours=1)), [30, 30, 30, 30]),
    ],
)
def test_an_arena_that_is_only_away_is_asked_as_often_as_it_permits(
    scene: Scene, error: ArenaError, pauses: list[float]
) -> None:
    """50 in 60 s permit a list every 6 s; matches may begin in the second of its return."""
    scene.poller.timing = PollerTiming(shift_duration=LONG_LIFE)
    scene.state_limit(50, seconds=60)
    scene.answers = [(0, error)] * 4
    assert gaps_of(scene, 5) == pytest.approx(pauses)


@pytest.mark.parametrize(
    ("answers", "is_told"),
    [
        ([(0, NO)] * 3, True),
        ([(21, NO)], False),
        ([(0, NO), (0, NO), (20, [])], False),
        ([(0, AWAY)] * 3, False),
        ([(0, AWAY), (20, NO)], True),
        ([(0, NO), (20, AWAY)], False),
    ],
)
def test_a_refusal_is_told_at_the_end_only_if_it_was_repeated_to_the_end(
    scene: Scene, answers: list[Answer], *, is_told: bool
) -> None:
    scene.answers = list(answers)
    life = TIMING.long_poll_timeout + timedelta(seconds=20)
    if is_told:
        with pytest.raises(RequestRejected, match="no"):
            scene.listen(life)
    else:
        scene.listen(life)
    assert scene.answers == []


def test_r29_the_newest_password_is_fetched_after_a_refused_login(scene: Scene) -> None:
    fetched: list[float] = []
    scene.poller.refresh_credentials = lambda: fetched.append(scene.clock.monotonic())
    scene.answers = [(1, NO), (2, Unauthorized(401, "who?")), (0, AWAY)]
    scene.listen_for(4)
    assert len(fetched) == 1
    assert fetched == [scene.requests[1][0] + 2]


def test_every_error_and_every_answer_is_counted(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.answers = [(0, NO), (0, AWAY), (0, [])]
    scene.listen_for(5)
    counts = scene.metrics.counts
    assert counts[MetricName.ARENA_ERRORS] == 2
    assert counts[f"{MetricName.ARENA_ERRORS}/403"] == 1
    assert counts[MetricName.POLLS] == 2
    assert counts[MetricName.LIST_REQUESTS] == 5
    assert [line.message for line in caplog.records] == [str(NO), str(AWAY)]


# --- what it hands on ----------------------------------------------------------------------------


def test_the_matches_that_were_named_are_dispatched_with_the_second_of_the_answer(
    scene: Scene,
) -> None:
    """Again and again until the next request: a worker may not come."""
    scene.answers = [(2, [listed("a"), listed("b")])]
    scene.listen_for(2)
    first, *later = scene.dispatches
    assert first == ((), None, None)
    assert len(later) == 1 + 28 * 2
    assert set(later) == {(("a", "b"), None, 2)}


def test_of_a_failed_request_no_match_is_known(scene: Scene) -> None:
    scene.answers = [(0, [listed("a")]), (0, AWAY)]
    scene.listen_for(3)
    assert scene.dispatches[-1] == ((), None, 30)


def test_all_that_were_queued_are_counted(scene: Scene) -> None:
    scene.queued = 2
    scene.answers = [(0, [listed("a")])]
    life = TIMING.long_poll_timeout + timedelta(seconds=2)
    assert scene.listen(life) == 2 * len(scene.dispatches)
    assert scene.listen(INSTANT) == 2, "of this call alone"


def test_leases_are_checked_while_the_arena_holds_the_list_and_a_match_runs(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[timedelta] = []

    @contextmanager
    def check(func: Callable[[], object], interval: timedelta, clock: object) -> Iterator[None]:
        assert clock is scene.clock
        checks.append(interval)
        func()
        yield

    monkeypatch.setattr(match_poller, "run_periodically", check)
    scene.answers = [(0, [listed("a")])]
    scene.listen_for(1)
    assert checks == []
    scene.running_ids.add("a")
    scene.requests.clear()
    scene.dispatches.clear()
    scene.on_request = lambda: None
    scene.listen_for(1)
    assert checks == [TIMING.lease_check_interval]
    assert scene.dispatches[-1] == ((), None, 0)


def test_a_store_that_fails_later_costs_one_dispatch(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    """At the first look it ends the poller, for nothing may be known then."""
    scene.dispatch_errors = [None, StoreError("throttled")]
    scene.answers = [(0, [listed("a")])]
    assert scene.listen_for(2) == [0, 30]
    assert "throttled" in caplog.text
    scene.dispatch_errors = [StoreError("throttled")]
    with pytest.raises(StoreError):
        scene.listen()


@pytest.mark.parametrize(
    ("settings", "tags"),
    [
        (RuntimeSettings(), ("cup",)),
        (RuntimeSettings(tags=("final",)), ("final",)),
        (RuntimeSettings(tags=()), ()),
        (None, ("cup",)),
    ],
)
def test_the_operators_tags_count_before_those_of_the_settings(
    scene: Scene, settings: RuntimeSettings | None, tags: tuple[str, ...]
) -> None:
    scene.settings, scene.poller.tags = settings, ("cup",)
    scene.listen_for(1)
    assert scene.tags == [tags]


# --- when it ends --------------------------------------------------------------------------------


def test_no_request_begins_without_time_for_its_answer(scene: Scene) -> None:
    scene.listen(TIMING.long_poll_timeout)
    assert scene.requests == []
    scene.listen(TIMING.long_poll_timeout + INSTANT)
    assert len(scene.requests) == 1


def test_dispatching_ends_with_the_time(scene: Scene) -> None:
    """A second before it, as a dispatch takes its time."""
    scene.answers = [(30, [listed("a")])]
    scene.poller.timing = PollerTiming(list_interval=LONG_LIFE)
    life = TIMING.long_poll_timeout + INSTANT
    scene.listen(life)
    assert scene.clock.monotonic() == 39.5


def test_a_relieved_poller_asks_and_dispatches_no_more(scene: Scene) -> None:
    class Relieved:
        def start_generation(self) -> int:
            return 1

        def latest_generation(self) -> int:
            return 1 + (scene.clock.monotonic() >= 5)

    scene.poller.shift = PollerShift(Relieved())
    scene.answers = [(0, [listed("a")])]
    scene.listen()
    assert scene.request_times == [0]
    assert scene.clock.monotonic() == 5


def closed(scene: Scene) -> tuple[ListeningWindow, ...]:
    """A window that is not open now."""
    hour = timedelta(hours=(scene.clock.now().hour + 12) % 23)
    return (ListeningWindow("daily", hour, hour + timedelta(hours=1)),)


@pytest.mark.parametrize(
    ("awake_for", "is_running", "listens"),
    [
        (None, False, False),
        (timedelta(0), False, False),
        (INSTANT, False, True),
        (None, True, True),
    ],
)
def test_r37_outside_its_windows_a_poller_listens_only_for_a_reason(
    scene: Scene, awake_for: timedelta | None, *, is_running: bool, listens: bool
) -> None:
    scene.poller.shift.windows = closed(scene)
    until = None if awake_for is None else scene.clock.now() + awake_for
    scene.settings = RuntimeSettings(awake_until=until)
    scene.running_ids = {"a"} if is_running else set()
    scene.listen(TIMING.long_poll_timeout + INSTANT)
    assert bool(scene.requests) is listens
    assert scene.metrics.counts[MetricName.POLLS] == 1


def test_a_poller_that_cannot_read_whether_to_listen_listens(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.poller.shift.windows, scene.settings = closed(scene), None
    scene.listen(TIMING.long_poll_timeout + INSTANT)
    assert len(scene.requests) == 1
    assert "The table is throttled." in caplog.text
