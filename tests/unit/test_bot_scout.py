"""The scout's manners, and its memory, which is the match log; on a clock that stands still.

It asks the real arena in this process, which answers at once for as long as it is our turn
anywhere.
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
from support.store_fixtures import RecordingMeter, require_match, take_lease

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
ANNOUNCE = timedelta(seconds=3)
SLACK = STEP * 10  # what a few steps take on this clock


@dataclass
class Listening:
    """A scout at an arena with one match in which it is our turn; its relay and switchboard."""

    bench: MatchHarness
    faults: Mapping[int, FaultKind | float] = field(default_factory=dict)
    request_times: list[datetime] = field(default_factory=list)
    offered: list[tuple[datetime, str]] = field(default_factory=list)
    meter: RecordingMeter = field(default_factory=RecordingMeter)
    passwords: Iterator[str] = field(default_factory=lambda: iter(()))
    takes: timedelta = timedelta(0)
    successors: list[datetime] = field(default_factory=list)  # when later pollers begin
    switches: RuntimeSettings = field(default_factory=RuntimeSettings)

    def __post_init__(self) -> None:
        self.post = PollerShift(self)
        self.end_time = self.bench.clock.now()

    def start_generation(self) -> int:
        return 1

    def latest_generation(self) -> int:
        return 1 + sum(at <= self.bench.clock.now() for at in self.successors)

    def read(self) -> RuntimeSettings:
        return self.switches

    @contextmanager
    def scout(self) -> Iterator[MatchPoller]:
        bench, clock = self.bench, self.bench.clock
        tools = bench.worker_environment(FaultPlan(clock, self.faults, on_step=self._note))
        offering = MatchDispatcher(
            tools.log, bench.queue, clock, ANNOUNCE, self.meter, runtime_settings=self
        )
        with bench.place.client(tools) as client:
            renew = partial(self.new_password, client)
            renew()
            yield MatchPoller(client, offering, (), TIMING, self.post, renew)

    def listen(self, budget: timedelta) -> int:
        clock, queue = self.bench.clock, self.bench.queue
        end = clock.now() + budget
        with self.scout() as scout:
            try:
                count = scout.run(lambda: end - clock.now())
            finally:
                self.end_time = clock.now()
        assert self.end_time <= end, "it listened longer than it may"
        while message := queue.receive_message(timedelta(0)):
            self.offered.append((message.sent_at, parse_match_message(message.body).match_id))
        return count

    def new_password(self, client: ArenaClient) -> None:
        client.set_credentials(Credentials(ALICE, next(self.passwords, PASSWORDS[ALICE])))

    def fall_silent(self) -> None:
        """Have the dummy to move, who never does: a question takes the arena's 30 s now."""
        leave_to_the_dummy(self)
        attend(self, timedelta(hours=1))
        self.takes = timedelta(seconds=30)

    def _note(self, step: str) -> None:
        if step == "list":
            self.request_times.append(self.bench.clock.now())
            self.bench.clock.advance(self.takes)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Listening]:
    bench = MatchHarness(partial(SimulatedArena, counts=False), tmp_path)
    yield Listening(bench)
    bench.close()


def attend(scene: Listening, ttl: timedelta) -> None:
    assert scene.bench.log.acquire_lease(scene.bench.match_id, "worker", ttl) is not None


def leave_to_the_dummy(scene: Listening) -> None:
    """Have the dummy to move, who never does: Alice ends her first turn by two actions."""
    for body in ({"etype": "Draw"}, {"etype": "EndTurn"}):
        scene.bench.place.act_outside_worker(body)


@pytest.mark.parametrize(
    "reason", ["", "no window is set", "a match runs", "a window by hand", "a window is open"]
)
def test_r37_outside_its_windows_a_poller_returns_at_once(scene: Listening, reason: str) -> None:
    """It asks nothing then, but its start counts as a sign of life, which an alarm awaits."""
    began, clock = scene.bench.clock.now(), scene.bench.clock
    leave_to_the_dummy(scene)
    if reason != "no window is set":
        hour, far = timedelta(hours=1), timedelta(hours=(clock.now().hour + 12) % 23)
        scene.post.windows = (ListeningWindow("daily", far, far + hour),)
    if reason == "a match runs":
        attend(scene, timedelta(hours=1))
    if reason == "a window by hand":
        scene.switches = RuntimeSettings(awake_until=began + timedelta(hours=4))
    if reason == "a window is open":
        scene.post.windows += (ListeningWindow("daily", timedelta(0), timedelta(days=1)),)
    scene.takes = timedelta(seconds=30)
    scene.listen(2 * MINUTE)
    assert len(scene.request_times) == (3 if reason else 0)
    assert scene.meter.counts[MetricName.POLLS] == max(1, len(scene.request_times))
    assert (scene.end_time - began <= SLACK) == (not reason)


def test_r37_a_poller_stops_when_its_last_window_closes(scene: Listening) -> None:
    leave_to_the_dummy(scene)
    scene.takes, began = timedelta(seconds=30), scene.bench.clock.now()
    scene.switches = RuntimeSettings(awake_until=began + timedelta(seconds=50))
    scene.post.windows = (ListeningWindow("2001-01-01", timedelta(0), timedelta(hours=1)),)
    scene.listen(4 * MINUTE)
    assert len(scene.request_times) == 2


def test_polls_use_the_latest_tags_of_the_operator(
    scene: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_to_the_dummy(scene)
    requested_tags: list[tuple[str, ...]] = []
    matches = ArenaClient.matches

    def note(client: ArenaClient, tags: tuple[str, ...], **more: bool) -> Any:  # noqa: ANN401
        requested_tags.append(tags)
        scene.switches = RuntimeSettings(tags=("final",) if len(requested_tags) < 2 else None)
        return matches(client, tags, **more)

    monkeypatch.setattr(ArenaClient, "matches", note)
    scene.listen(TIMING.long_poll_timeout + timedelta(seconds=8))
    assert requested_tags[:3] == [(), ("final",), ()]


def test_r15_a_match_that_waits_is_offered_at_once_and_more_and_more_seldom_while_no_worker_comes(
    scene: Listening, caplog: pytest.LogCaptureFixture
) -> None:
    """And the arena, which answers at once, is asked as seldom as it would end a long poll."""
    began = scene.bench.clock.now()
    assert scene.listen(TIMING.long_poll_timeout + timedelta(seconds=110)) == 7
    times = [at for at, _ in scene.offered]
    assert times[0] - began <= SLACK
    gaps = [(b - a).total_seconds() for a, b in pairwise(times)]
    assert gaps == pytest.approx([3, 6, 12, 24, 30, 30], abs=1.5)
    assert {match_id for _, match_id in scene.offered} == {scene.bench.match_id}
    assert scene.meter.counts[MetricName.UNANSWERED_DISPATCHES] == len(gaps)
    pauses = [later - earlier for earlier, later in pairwise(scene.request_times)]
    assert len(pauses) >= 3
    assert TIMING.list_interval <= min(pauses)
    # When the next poller is due, the request is left to it for a moment.
    assert max(pauses) <= TIMING.list_interval + TIMING.min_request_interval + SLACK
    log_records = [line for line in caplog.records if line.message.startswith("no worker came")]
    assert [vars(line)["match_id"] for line in log_records] == [scene.bench.match_id] * len(gaps)


@pytest.mark.parametrize(
    ("outcome_fields", "settles"),
    [({}, timedelta(0)), ({"result": "lost"}, TIMING.list_interval)],
)
def test_r24_r25_a_closed_match_that_the_arena_lists_anew_is_reopened(
    scene: Listening, outcome_fields: dict[str, str], settles: timedelta
) -> None:
    """At once if it was missing; else when the list of 30 s later still names it.

    Just after the end of a match the naming may be older.
    """
    log, match_id = scene.bench.log, scene.bench.match_id
    lease, began = take_lease(log, name=match_id, ttl=MINUTE), scene.bench.clock.now()
    log.finish(lease, {**missing_match_outcome_body(), **outcome_fields})
    scene.listen(TIMING.long_poll_timeout + settles + 2 * REOPEN_GRACE)
    assert scene.offered[0][1] == match_id
    waited = scene.offered[0][0] - began
    assert settles - TIMING.lease_check_interval <= waited <= settles + SLACK
    assert require_match(log, match_id).status is MatchStatus.RUNNING
    assert [note.kind for note in log.notes(match_id)] == ["reopened"]


def test_r25_a_match_that_was_closed_after_the_list_is_not_reopened_by_it(scene: Listening) -> None:
    """By a worker that was denied the match, or that played it to its end."""
    bench, match_id = scene.bench, scene.bench.match_id
    dispatcher, listed_at = bench.dispatcher(), bench.clock.monotonic()
    assert dispatcher.dispatch_unattended([match_id], None, listed_at) == 1
    lease = take_lease(bench.log, name=match_id, ttl=MINUTE)
    bench.clock.advance(timedelta(seconds=5))
    bench.log.finish(lease, missing_match_outcome_body())
    for _ in range(3):
        assert dispatcher.dispatch_unattended([match_id], None, listed_at) == 0
        bench.clock.advance(REOPEN_GRACE)
    assert dispatcher.dispatch_unattended([match_id], None, bench.clock.monotonic()) == 1


@pytest.mark.parametrize("takes", [timedelta(0), timedelta(seconds=2)])
def test_r14_r15_rate_limit_pause_is_respected_and_logged_leases_are_watched(
    scene: Listening, takes: timedelta
) -> None:
    """That of a match that the arena does not name, as it is not our turn there."""
    scene.takes = takes
    attend(scene, timedelta(seconds=1))
    leave_to_the_dummy(scene)
    scene.faults = {1: FaultKind.HTTP_429}
    scene.listen(TIMING.long_poll_timeout + timedelta(seconds=10))
    assert scene.request_times[1] - scene.request_times[0] >= max(
        takes + RETRY_AFTER, TIMING.min_request_interval
    )
    at, match_id = scene.offered[0]
    assert at < scene.request_times[1]
    assert match_id == scene.bench.match_id


def test_r29_a_refused_login_is_retried_with_the_newest_password_and_backoff(
    scene: Listening,
) -> None:
    scene.passwords = iter(["the old one"])
    scene.listen(TIMING.long_poll_timeout + timedelta(seconds=8))
    assert scene.request_times[1] - scene.request_times[0] == pytest.approx(
        TIMING.min_request_interval, abs=SLACK
    )
    assert scene.offered != []
    scene.passwords, scene.request_times = iter(["a wrong one"] * 100), []
    with pytest.raises(Unauthorized):
        scene.listen(TIMING.long_poll_timeout + timedelta(seconds=110))
    gaps = [(b - a).total_seconds() for a, b in pairwise(scene.request_times)]
    assert gaps == pytest.approx([3, 6, 12, 24, 30, 30], abs=1.5)


def test_r29_the_time_for_which_a_cut_long_poll_was_held_is_part_of_the_pause(
    scene: Listening,
) -> None:
    """A restart cuts a long poll that the arena has held: this was the pause already."""
    scene.fall_silent()
    scene.takes = timedelta(seconds=20)
    scene.faults = dict.fromkeys(range(1, 400), FaultKind.HTTP_500)
    scene.listen(TIMING.long_poll_timeout + 2 * MINUTE)
    gaps = [(b - a).total_seconds() for a, b in pairwise(scene.request_times)]
    assert gaps == pytest.approx([23, 23, 23, 24], abs=1.5), "and not 26, 32 and 44"


LIFE = timedelta(seconds=all_template_resources()["Poller"]["Properties"]["Timeout"])
START = timedelta(seconds=6)  # more than a poller takes from its tick to its first question


def unheard(scene: Listening, until: datetime) -> timedelta:
    """The longest time until a moment in which no question was under way."""
    ends = [min(at + scene.takes, until) for at in scene.request_times]
    begins = [at for at in scene.request_times[1:] if at < until]
    return max((b - e for e, b in zip(ends, [*begins, until], strict=False)), default=LIFE)


@pytest.mark.parametrize(
    "later", [(30,), (60,), (61,), (64,), (90,), (119,), (60, 179), (119, 179)]
)
def test_r28_r29_a_poller_listens_until_its_successors_do(
    scene: Listening, later: tuple[int, ...]
) -> None:
    """One of two until two others do, so any one of them may die."""
    scene.fall_silent()
    scene.post.min_pollers = len(later)
    began = scene.bench.clock.now()
    scene.successors = [began + timedelta(seconds=delay) + START for delay in later]
    scene.listen(LIFE)
    last = scene.successors[-1]
    assert last <= scene.end_time <= last + scene.takes + TIMING.min_request_interval
    assert unheard(scene, last) <= TIMING.min_request_interval + SLACK
