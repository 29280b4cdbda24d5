"""Match poller: windows, dispatch of matches, backoff, passwords and successors.

The poller calls the real arena in this process, on a clock that only the test advances.
The arena responds at once while it is our turn in any match. The match log is the
poller's memory.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fault_simulation.faults import STEP, FaultKind, FaultPlan
from fault_simulation.match_harness import MatchHarness
from fault_simulation.simulated_arena import SimulatedArena
from fault_simulation.transport import RETRY_AFTER
from support.arena_server import ALICE, PASSWORDS
from support.store_fixtures import RecordingMeter, acquire_lease, require_match

from cardsharp.bot.control.listening_windows import ListeningWindow
from cardsharp.bot.control.poller_shift import PollerShift, PollerTiming
from cardsharp.bot.control.runtime_settings import RuntimeSettings
from cardsharp.bot.match_dispatcher import REOPEN_GRACE, MatchDispatcher
from cardsharp.bot.queueing.messages import parse_match_message
from cardsharp.core.credentials import Credentials
from cardsharp.core.metrics import MetricName
from cardsharp.errors import Unauthorized
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.match_poller import MatchPoller
from cardsharp.games.deadmansdraw.history.log_records import missing_match_outcome_body
from cardsharp.store.match_log import MatchStatus
from cardsharp_tools.local_cloud.template_files import all_template_resources

MINUTE = timedelta(minutes=1)
TIMING = PollerTiming()
DISPATCH_INTERVAL = timedelta(seconds=3)
SLACK = STEP * 10  # what a few steps take on this clock


@dataclass
class PollerHarness:
    """Poller of an arena with a match in which it is our turn, with its settings and lease.

    The harness stands in for the poller generations and for the store of the settings.
    """

    match_harness: MatchHarness
    faults: Mapping[int, FaultKind | float] = field(default_factory=dict)
    request_times: list[datetime] = field(default_factory=list)
    dispatches: list[tuple[datetime, str]] = field(default_factory=list)
    meter: RecordingMeter = field(default_factory=RecordingMeter)
    passwords: Iterator[str] = field(default_factory=lambda: iter(()))
    request_duration: timedelta = timedelta(0)
    successors: list[datetime] = field(default_factory=list)  # when later pollers begin
    settings: RuntimeSettings = field(default_factory=RuntimeSettings)

    def __post_init__(self) -> None:
        self.shift = PollerShift(self)
        self.end_time = self.match_harness.clock.now()

    def start_generation(self) -> int:
        return 1

    def latest_generation(self) -> int:
        return 1 + sum(at <= self.match_harness.clock.now() for at in self.successors)

    def read(self) -> RuntimeSettings:
        return self.settings

    @contextmanager
    def open_poller(self) -> Iterator[MatchPoller]:
        match_harness, clock = self.match_harness, self.match_harness.clock
        environment = match_harness.worker_environment(
            FaultPlan(clock, self.faults, on_step=self._record_step)
        )
        dispatcher = MatchDispatcher(
            environment.log,
            match_harness.queue,
            clock,
            DISPATCH_INTERVAL,
            self.meter,
            runtime_settings=self,
        )
        with match_harness.server.client(environment) as client:
            rotate_credentials = partial(self.rotate_password, client)
            rotate_credentials()
            yield MatchPoller(client, dispatcher, (), TIMING, self.shift, rotate_credentials)

    def poll(self, budget: timedelta) -> int:
        clock, queue = self.match_harness.clock, self.match_harness.queue
        end = clock.now() + budget
        with self.open_poller() as poller:
            try:
                count = poller.run(lambda: end - clock.now())
            finally:
                self.end_time = clock.now()
        assert self.end_time <= end, "it listened longer than it may"
        while message := queue.receive_message(timedelta(0)):
            self.dispatches.append((message.sent_at, parse_match_message(message.body).match_id))
        return count

    def rotate_password(self, client: ArenaClient) -> None:
        client.set_credentials(Credentials(ALICE, next(self.passwords, PASSWORDS[ALICE])))

    def hand_turn_to_dummy(self) -> None:
        """Give the turn to the dummy, which never acts, so that a long poll takes 30 s."""
        end_first_turn(self)
        take_match_lease(self, timedelta(hours=1))
        self.request_duration = timedelta(seconds=30)

    def _record_step(self, step: str) -> None:
        if step == "list":
            self.request_times.append(self.match_harness.clock.now())
            self.match_harness.clock.advance(self.request_duration)


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[PollerHarness]:
    match_harness = MatchHarness(partial(SimulatedArena, has_rate_limit=False), tmp_path)
    yield PollerHarness(match_harness)
    match_harness.close()


def take_match_lease(harness: PollerHarness, ttl: timedelta) -> None:
    assert (
        harness.match_harness.log.acquire_lease(harness.match_harness.match_id, "worker", ttl)
        is not None
    )


def end_first_turn(harness: PollerHarness) -> None:
    """End Alice's first turn by two actions, so that the dummy is to act and never does."""
    for body in ({"etype": "Draw"}, {"etype": "EndTurn"}):
        harness.match_harness.server.act_outside_worker(body)


@pytest.mark.parametrize(
    "reason", ["", "no window is set", "a match runs", "a window by hand", "a window is open"]
)
def test_r37_outside_its_windows_a_poller_returns_at_once(
    harness: PollerHarness, reason: str
) -> None:
    """The poller sends no request then, but counts a poll, because an alarm expects it."""
    start_time, clock = harness.match_harness.clock.now(), harness.match_harness.clock
    end_first_turn(harness)
    if reason != "no window is set":
        hour, distant_hour = timedelta(hours=1), timedelta(hours=(clock.now().hour + 12) % 23)
        harness.shift.windows = (ListeningWindow("daily", distant_hour, distant_hour + hour),)
    if reason == "a match runs":
        take_match_lease(harness, timedelta(hours=1))
    if reason == "a window by hand":
        harness.settings = RuntimeSettings(awake_until=start_time + timedelta(hours=4))
    if reason == "a window is open":
        harness.shift.windows += (ListeningWindow("daily", timedelta(0), timedelta(days=1)),)
    harness.request_duration = timedelta(seconds=30)
    harness.poll(2 * MINUTE)
    assert len(harness.request_times) == (3 if reason else 0)
    assert harness.meter.counts[MetricName.POLLS] == max(1, len(harness.request_times))
    assert (harness.end_time - start_time <= SLACK) == (not reason)


def test_r37_a_poller_stops_when_its_last_window_closes(harness: PollerHarness) -> None:
    end_first_turn(harness)
    harness.request_duration, start_time = timedelta(seconds=30), harness.match_harness.clock.now()
    harness.settings = RuntimeSettings(awake_until=start_time + timedelta(seconds=50))
    harness.shift.windows = (ListeningWindow("2001-01-01", timedelta(0), timedelta(hours=1)),)
    harness.poll(4 * MINUTE)
    assert len(harness.request_times) == 2


def test_polls_use_the_latest_tags_of_the_operator(
    harness: PollerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_first_turn(harness)
    requested_tags: list[tuple[str, ...]] = []
    matches = ArenaClient.matches

    def record_tags(client: ArenaClient, tags: tuple[str, ...], **query_params: bool) -> Any:  # noqa: ANN401
        requested_tags.append(tags)
        harness.settings = RuntimeSettings(tags=("final",) if len(requested_tags) < 2 else None)
        return matches(client, tags, **query_params)

    monkeypatch.setattr(ArenaClient, "matches", record_tags)
    harness.poll(TIMING.long_poll_timeout + timedelta(seconds=8))
    assert requested_tags[:3] == [(), ("final",), ()]


def test_r15_a_waiting_match_is_dispatched_at_once_and_with_backoff_while_no_worker_comes(
    harness: PollerHarness, caplog: pytest.LogCaptureFixture
) -> None:
    """The arena gets no more requests than if it answered each long poll at its end."""
    start_time = harness.match_harness.clock.now()
    assert harness.poll(TIMING.long_poll_timeout + timedelta(seconds=110)) == 7
    dispatch_times = [sent_at for sent_at, _ in harness.dispatches]
    assert dispatch_times[0] - start_time <= SLACK
    gaps = [
        (later_time - earlier_time).total_seconds()
        for earlier_time, later_time in pairwise(dispatch_times)
    ]
    assert gaps == pytest.approx([3, 6, 12, 24, 30, 30], abs=1.5)
    assert {match_id for _, match_id in harness.dispatches} == {harness.match_harness.match_id}
    assert harness.meter.counts[MetricName.UNANSWERED_DISPATCHES] == len(gaps)
    pauses = [later - earlier for earlier, later in pairwise(harness.request_times)]
    assert len(pauses) >= 3
    assert TIMING.list_interval <= min(pauses)
    # When the next poller is due, the request is left to it for a moment.
    assert max(pauses) <= TIMING.list_interval + TIMING.min_request_interval + SLACK
    log_records = [line for line in caplog.records if line.message.startswith("no worker came")]
    assert [vars(line)["match_id"] for line in log_records] == [
        harness.match_harness.match_id
    ] * len(gaps)


@pytest.mark.parametrize(
    ("outcome_fields", "confirmation_delay"),
    [({}, timedelta(0)), ({"result": "lost"}, TIMING.list_interval)],
)
def test_r24_r25_a_closed_match_that_the_arena_lists_anew_is_reopened(
    harness: PollerHarness, outcome_fields: dict[str, str], confirmation_delay: timedelta
) -> None:
    """A missing match is reopened at once; others when a list 30 s later still has them.

    Just after the end of a match the list may be older than the end.
    """
    log, match_id = harness.match_harness.log, harness.match_harness.match_id
    lease, start_time = (
        acquire_lease(log, name=match_id, ttl=MINUTE),
        harness.match_harness.clock.now(),
    )
    log.finish(lease, {**missing_match_outcome_body(), **outcome_fields})
    harness.poll(TIMING.long_poll_timeout + confirmation_delay + 2 * REOPEN_GRACE)
    assert harness.dispatches[0][1] == match_id
    reopen_delay = harness.dispatches[0][0] - start_time
    assert (
        confirmation_delay - TIMING.lease_check_interval
        <= reopen_delay
        <= confirmation_delay + SLACK
    )
    assert require_match(log, match_id).status is MatchStatus.RUNNING
    assert [note.kind for note in log.notes(match_id)] == ["reopened"]


def test_r25_a_match_that_was_closed_after_the_list_is_not_reopened_by_it(
    harness: PollerHarness,
) -> None:
    """A list that is older than the end of a match does not reopen the match."""
    match_harness, match_id = harness.match_harness, harness.match_harness.match_id
    dispatcher, listed_at = match_harness.dispatcher(), match_harness.clock.monotonic()
    assert dispatcher.dispatch_unattended([match_id], None, listed_at) == 1
    lease = acquire_lease(match_harness.log, name=match_id, ttl=MINUTE)
    match_harness.clock.advance(timedelta(seconds=5))
    match_harness.log.finish(lease, missing_match_outcome_body())
    for _ in range(3):
        assert dispatcher.dispatch_unattended([match_id], None, listed_at) == 0
        match_harness.clock.advance(REOPEN_GRACE)
    assert dispatcher.dispatch_unattended([match_id], None, match_harness.clock.monotonic()) == 1


@pytest.mark.parametrize("request_duration", [timedelta(0), timedelta(seconds=2)])
def test_r14_r15_rate_limit_pause_is_respected_and_logged_leases_are_watched(
    harness: PollerHarness, request_duration: timedelta
) -> None:
    """An expired lease is dispatched during the pause, although the arena does not list it."""
    harness.request_duration = request_duration
    take_match_lease(harness, timedelta(seconds=1))
    end_first_turn(harness)
    harness.faults = {1: FaultKind.HTTP_429}
    harness.poll(TIMING.long_poll_timeout + timedelta(seconds=10))
    assert harness.request_times[1] - harness.request_times[0] >= max(
        request_duration + RETRY_AFTER, TIMING.min_request_interval
    )
    dispatched_at, match_id = harness.dispatches[0]
    assert dispatched_at < harness.request_times[1]
    assert match_id == harness.match_harness.match_id


def test_r29_a_refused_login_is_retried_with_the_newest_password_and_backoff(
    harness: PollerHarness,
) -> None:
    harness.passwords = iter(["the old one"])
    harness.poll(TIMING.long_poll_timeout + timedelta(seconds=8))
    assert harness.request_times[1] - harness.request_times[0] == pytest.approx(
        TIMING.min_request_interval, abs=SLACK
    )
    assert harness.dispatches != []
    harness.passwords, harness.request_times = iter(["a wrong one"] * 100), []
    with pytest.raises(Unauthorized):
        harness.poll(TIMING.long_poll_timeout + timedelta(seconds=110))
    gaps = [
        (later_time - earlier_time).total_seconds()
        for earlier_time, later_time in pairwise(harness.request_times)
    ]
    assert gaps == pytest.approx([3, 6, 12, 24, 30, 30], abs=1.5)


def test_r29_the_duration_of_a_cut_long_poll_is_part_of_the_pause(
    harness: PollerHarness,
) -> None:
    """The duration of a long poll that a restart cut counts towards the pause."""
    harness.hand_turn_to_dummy()
    harness.request_duration = timedelta(seconds=20)
    harness.faults = dict.fromkeys(range(1, 400), FaultKind.HTTP_500)
    harness.poll(TIMING.long_poll_timeout + 2 * MINUTE)
    gaps = [
        (later_time - earlier_time).total_seconds()
        for earlier_time, later_time in pairwise(harness.request_times)
    ]
    assert gaps == pytest.approx([23, 23, 23, 24], abs=1.5), "and not 26, 32 and 44"


POLLER_TIMEOUT = timedelta(seconds=all_template_resources()["Poller"]["Properties"]["Timeout"])
START_DURATION = timedelta(
    seconds=6
)  # more than a poller takes from its tick to its first question


def longest_poll_gap(harness: PollerHarness, end_time: datetime) -> timedelta:
    """Return the longest time before `end_time` in which no request was in flight."""
    poll_ends = [min(at + harness.request_duration, end_time) for at in harness.request_times]
    poll_starts = [at for at in harness.request_times[1:] if at < end_time]
    return max(
        (
            next_start - poll_end
            for poll_end, next_start in zip(poll_ends, [*poll_starts, end_time], strict=False)
        ),
        default=POLLER_TIMEOUT,
    )


@pytest.mark.parametrize(
    "successor_delays", [(30,), (60,), (61,), (64,), (90,), (119,), (60, 179), (119, 179)]
)
def test_r28_r29_a_poller_polls_until_its_successors_do(
    harness: PollerHarness, successor_delays: tuple[int, ...]
) -> None:
    """A poller polls until two successors do, so that any of them may crash."""
    harness.hand_turn_to_dummy()
    harness.shift.min_pollers = len(successor_delays)
    start_time = harness.match_harness.clock.now()
    harness.successors = [
        start_time + timedelta(seconds=delay) + START_DURATION for delay in successor_delays
    ]
    harness.poll(POLLER_TIMEOUT)
    last_successor_start = harness.successors[-1]
    assert (
        last_successor_start
        <= harness.end_time
        <= last_successor_start + harness.request_duration + TIMING.min_request_interval
    )
    assert longest_poll_gap(harness, last_successor_start) <= TIMING.min_request_interval + SLACK
