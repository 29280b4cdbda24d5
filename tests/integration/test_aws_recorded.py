"""R20: each alarm held against metrics of a local run: silent when all is well, on when it is not.

The runs are those of the real handlers; only their times are shifted, so that minutes of CloudWatch
need no minutes here.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import stamina
from fault_simulation.faults import FaultKind
from fault_simulation.match_harness import MatchHarness, run_harness
from fault_simulation.simulated_arena import SimulatedArena
from fault_simulation.transport import WorkerEnvironment
from support.alarms import (
    MINUTE,
    STACK,
    alarms_fired,
    composite_alarm_rules,
    composite_is_on,
    template_alarms,
)
from support.arena_server import ManualClock
from support.aws_template import properties
from support.metric_recording import GAMES, SERVICES, MetricRecorder, metric_recorder
from support.store_fixtures import FakeClock

from cardsharp.aws.telemetry import NAMESPACE, metrics_recorder
from cardsharp.bot.bootstrap import build_match_log
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.core.clock import utc_now
from cardsharp.core.metrics import Metric, Metrics
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import position_from_view
from cardsharp.games.deadmansdraw.fallback import decide
from cardsharp.games.deadmansdraw.position import Position
from cardsharp.games.deadmansdraw.strategies import build
from cardsharp_tools.build.template_rules.monitoring import recorded_metrics
from cardsharp_tools.local_cloud.emulator_process import log_filter_matcher
from cardsharp_tools.local_cloud.metric_samples import MetricKey, Sample, read_emf
from cardsharp_tools.local_play.opponent import (
    BOT_CREDENTIALS,
    OPPONENT_CREDENTIALS,
    start_steady_opponent,
)
from cardsharp_tools.operations.function_logs import PROBLEM_FILTER

VISIBILITY = timedelta(minutes=30)
QUICK = 500  # milliseconds that are late for nobody

DEATHS = [
    "2026-11-22T12:00:00.000Z 1f Task timed out after 300.00 seconds",
    "RequestId: 1f Error: Runtime exited with error: signal: killed",
    "REPORT RequestId: 1f Duration: 9 ms Status: error Error Type: Runtime.OutOfMemory",
    "REPORT RequestId: 1f Duration: 300000.00 ms Status: timeout",
    "[ERROR] Runtime.ImportModuleError: Unable to import module 'worker.app'",
]
"""As Lambda writes of a function that was stopped, ran out of memory, or cannot be imported."""

LIVES = [
    "INIT_START Runtime Version: python:3.13.v1",
    "START RequestId: 1f Version: $LATEST",
    "END RequestId: 1f",
    "REPORT RequestId: 1f Duration: 9.00 ms Billed Duration: 9 ms Memory Size: 128 MB",
]


OLDEST = "ApproximateAgeOfOldestMessage"


def shifted(samples: list[Sample], by: timedelta) -> list[Sample]:
    """A recording as if everything had happened later."""
    return [replace(one, timestamp=one.timestamp + by) for one in samples]


def every_minute(samples: list[Sample], count: int) -> list[Sample]:
    """A recording again and again, each minute once."""
    return [one for n in range(count) for one in shifted(samples, MINUTE * n)]


def on_amid(healthy: list[Sample], samples: list[Sample]) -> set[str]:
    """The alarms that go on when something happens in the middle of a healthy time."""
    start = min(one.timestamp for one in samples) - healthy[0].timestamp
    before_and_after = [shifted(healthy, start + MINUTE * n) for n in range(-6, 7)]
    return alarms_fired([*samples, *(one for part in before_and_after for one in part)])


def found_by(pattern: str, lines: list[str]) -> list[str]:
    """The lines that a filter pattern of CloudWatch finds."""
    return list(filter(log_filter_matcher(pattern), lines))


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    """A minute in which a match against another player was found and played to its end."""
    folder = tmp_path_factory.mktemp("healthy")
    with metric_recorder(folder) as here, start_steady_opponent(here.arena.url, folder):
        match_id = here.arena.create_match([OPPONENT_CREDENTIALS[0], BOT_CREDENTIALS[0]])
        while (done := here.process_next_message()) is None:
            assert here.run_poller().error is None
        assert done.error is None
        assert here.assembly.match_log.match(match_id).outcome  # type: ignore[union-attr]
        for service in SERVICES:
            assert here.call_service(service) == 200
        here.record_queue_depth("DeadLetters", 0)
        here.record_queue_depth("TickLetters", 0)
        here.record("AWS/SQS", OLDEST, {"QueueName": "Ticks"}, 5)
        here.record("AWS/Lambda", "Errors", {"FunctionName": "Director"}, 0)
        here.record("AWS/Lambda", "Throttles", {"FunctionName": "Director"}, 0)
        here.record_queue_age(MemoryQueue(FakeClock()), timedelta(0))
        return [in_time(one, Metric.PICKUP_DELAY, Metric.DECISION) for one in here.samples]


def in_time(one: Sample, *timed: Metric) -> Sample:
    """A sample of a machine that nobody else uses: how busy this one is just now is no fault."""
    return replace(one, value=min(one.value, QUICK)) if one.metric.name in timed else one


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[MetricRecorder]:
    with metric_recorder(tmp_path) as here:
        yield here


def test_a_healthy_run_says_all_that_alarms_listen_to_and_none_is_on_until_polls_end(
    healthy: list[Sample],
) -> None:
    said = {one.metric for one in healthy}
    # A further game is watched as the others are, but there is none.
    ours = [one for one in template_alarms() if not one.name.startswith("game")]
    watched = {series.metric for alarm in ours for series in alarm.series.values()}
    assert {one.name for one in watched - said} <= {Metric.UNANSWERED_DISPATCHES, "ErrorLines"}, (
        "faults"
    )
    assert alarms_fired(every_minute(healthy, 25)) == set()
    steady = every_minute(healthy, 5)
    assert alarms_fired(steady, tail=2 * MINUTE) == set()
    assert alarms_fired(steady, tail=5 * MINUTE) == {"NotListening"}


def test_an_arena_that_refuses_us_is_noticed_at_once_and_counts_no_poll(tmp_path: Path) -> None:
    expected = {"NotListening", "PollerFailed", "TickDeadLetter"}
    with metric_recorder(tmp_path, password="wrong") as here:
        assert "Unauthorized" in str(here.run_poller().error)
        assert not [one for one in here.samples if one.metric.name == Metric.POLLS]
        assert alarms_fired(every_minute(here.samples, 5)) == expected


def test_ten_minutes_without_an_action_are_noticed(
    healthy: list[Sample], quiet: MetricRecorder
) -> None:
    quiet.assembly.match_log.acquire_lease("abandoned", "a worker", timedelta(hours=1))
    quiet.run_poller()
    start = min(one.timestamp for one in quiet.samples) - healthy[0].timestamp - 15 * MINUTE
    before = every_minute(shifted(healthy, start), 15)
    assert alarms_fired([*before, *every_minute(quiet.samples, 5)]) == set(), "not yet"
    assert alarms_fired([*before, *every_minute(quiet.samples, 21)]) == {"NotActing"}


def test_a_message_that_fails_five_times_and_what_is_logged_of_it_are_noticed(
    healthy: list[Sample], quiet: MetricRecorder
) -> None:
    errors, clock = properties("WorkerErrorLines")["FilterPattern"], FakeClock()
    assert found_by(errors, quiet.log_output.getvalue().splitlines()) == []
    letters = MemoryQueue(clock)
    queue = MemoryQueue(clock, VISIBILITY, letters)
    queue.send("this is no match message")
    while message := queue.receive(timedelta(0)):
        done = quiet.deliver(message)
        assert done.response == {"batchItemFailures": [{"itemIdentifier": message.message_id}]}
        quiet.record_queue_depth("DeadLetters", len(letters))
        assert on_amid(healthy, quiet.samples) == set()
        clock.advance(VISIBILITY)
    ours = found_by(errors, quiet.log_output.getvalue().splitlines())
    assert ['"a message failed"' in line for line in ours] == [True] * 5
    for note, expected in (
        (partial(quiet.record_queue_depth, "DeadLetters", len(letters)), "MatchDeadLetter"),
        (partial(quiet.record, STACK, "ErrorLines", {}, len(ours)), "ErrorLogged"),
    ):
        quiet.aws_samples.clear()
        note()
        assert on_amid(healthy, quiet.samples) == {expected}


def test_a_function_that_died_is_noticed() -> None:
    """By the filter of the alarm, by `cardsharp cloud logs` and by the saved query."""
    for pattern in (properties("WorkerErrorLines")["FilterPattern"], PROBLEM_FILTER):
        assert found_by(pattern, [*DEATHS, *LIVES]) == DEATHS
    asked = re.search(r"@message like /(.+)/", properties("RecentProblems")["QueryString"])
    assert [line for line in [*DEATHS, *LIVES] if re.search(asked[1], line)] == DEATHS


def test_a_message_that_nobody_takes_is_noticed(
    healthy: list[Sample], quiet: MetricRecorder
) -> None:
    """But none in flight: a worker may hold a match, and with it the message, for four minutes."""
    queue = MemoryQueue(FakeClock(), VISIBILITY)
    queue.send("a match")
    for expected in ({"NotTakenUp"}, set()):
        quiet.aws_samples.clear()
        for minute in range(4):
            quiet.record_queue_age(queue, minute * MINUTE)
        noted = enumerate(quiet.samples)
        found = [
            replace(one, timestamp=one.timestamp + MINUTE * (number // 3)) for number, one in noted
        ]
        start, of_queue = found[0].timestamp - healthy[0].timestamp, {one.metric for one in found}
        around = [one for n in range(-1, 6) for one in shifted(healthy, start + MINUTE * n)]
        rest = [one for one in around if one.metric not in of_queue]
        assert alarms_fired([*rest, *found]) == expected
        queue.receive(timedelta(0))


def test_a_worker_failing_before_a_lease_is_noticed(healthy: list[Sample], tmp_path: Path) -> None:
    """Offered again and again, in vain; all messages are received, so that none waits."""
    clock = FakeClock(datetime.now(UTC))
    found: list[Sample] = []

    class Counting(Metrics):
        def count(self, metric: Metric, number: int = 1) -> None:
            identity = MetricKey(NAMESPACE, metric, frozenset({("service", STACK)}))
            found.append(Sample(identity, clock.now(), number))

    log = build_match_log(f"sqlite:{tmp_path}/log.db", clock)
    offering = MatchDispatcher(log, MemoryQueue(clock), clock, metrics=Counting())
    for _ in range(300):  # in any three minutes there may be one with one offer
        offering.dispatch_unattended(["m"])
        clock.advance(timedelta(seconds=1))
    assert on_amid(healthy, found) == {"NobodyComes"}


SEEN = (
    ("ApproximateNumberOfMessagesVisible", "TickLetters", 1, {"TickFailed"}),
    (OLDEST, "Ticks", 35, set()),  # a tick whose director died
    (OLDEST, "Ticks", 61, {"TicksLate"}),
    *(("Throttles", f"{game}Service", 1, {f"{game}Throttled"}) for game in GAMES),
    *(("Throttles", f, 1, {f"{f}Throttled"}) for f in ("Poller", "Worker", "Director")),
)


def test_what_nothing_here_measures_is_noticed(
    healthy: list[Sample], quiet: MetricRecorder
) -> None:
    """Ticks of the director that fail or wait, and invocations that had to wait."""
    for name, of, value, expected in SEEN:
        quiet.aws_samples.clear()
        service, what = ("Lambda", "Function") if name == "Throttles" else ("SQS", "Queue")
        quiet.record(f"AWS/{service}", name, {f"{what}Name": of}, value)
        assert on_amid(healthy, quiet.samples) == expected


def test_the_bot_counts_as_not_playing_for_each_of_its_causes() -> None:
    (composite,) = composite_alarm_rules().values()
    causes = {"NotListening", "NotActing", "NotTakenUp", "NobodyComes"}
    for one in template_alarms():
        states = {alarm.name: alarm is one for alarm in template_alarms()}
        assert composite_is_on(composite, states) == (one.name in causes), one.name


def test_a_worker_that_fails_is_noticed(healthy: list[Sample], quiet: MetricRecorder) -> None:
    assert "InvalidInput" in str(quiet.call("Worker", {"no": "records"}, MINUTE).error)
    assert on_amid(healthy, quiet.samples) == {"WorkerFailed"}


def test_turns_taken_up_six_seconds_late_are_noticed(healthy: list[Sample], tmp_path: Path) -> None:
    late = timedelta(seconds=6)
    with metric_recorder(tmp_path, clock=lambda: utc_now() - late) as here:
        here.arena.create_match([BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]])
        with start_steady_opponent(here.arena.url, tmp_path):
            here.run_poller()
            assert here.process_next_message() is not None
        assert on_amid(healthy, [in_time(one, Metric.DECISION) for one in here.samples]) == {
            "SlowPickUp"
        }


def test_a_turn_that_the_arena_ended_is_noticed(healthy: list[Sample], tmp_path: Path) -> None:
    clock = ManualClock()
    with metric_recorder(tmp_path, clock=clock) as here:
        here.arena.create_match(
            [BOT_CREDENTIALS[0], BOT_CREDENTIALS[0]], timeout=timedelta(seconds=2)
        )
        clock.advance(timedelta(seconds=3))
        while (done := here.process_next_message()) is None:
            here.run_poller()
        assert done.error is None
        found = [in_time(one, Metric.PICKUP_DELAY, Metric.DECISION) for one in here.samples]
        assert on_amid(healthy, found) == {"TurnTimedOut"}


def test_a_decision_over_half_its_limit_is_noticed(
    healthy: list[Sample], quiet: MetricRecorder
) -> None:
    match_id = quiet.arena.create_match([BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]])
    with quiet.assembly.build_poller() as scout:
        position = position_from_view(scout.arena_client.get_match(match_id), 0)
    for _ in range(10):
        looks = iter([0.0, 1.2])
        decided = decide(build("steady", Random(1)), position, MINUTE, lambda: next(looks))  # noqa: B023 - used at once
        metrics_recorder.record_duration(Metric.DECISION, decided.duration)
    metrics_recorder.flush()
    assert on_amid(healthy, quiet.samples) == {"SlowDecision"}


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_fails_is_noticed(
    healthy: list[Sample], tmp_path: Path, service: str
) -> None:
    with metric_recorder(tmp_path, broken=service) as here:
        assert here.call_service(service) >= 500
        assert on_amid(healthy, here.samples) == {f"{service}Failing"}


# --- the record of our own metrics ---------------------------------------------------------------


LAST_CARD = [{"suit": "Anchor", "value": 4}]
"""Ours in the only turn, so that what they hold before it says who wins."""

OURS, THEIRS = [{"suit": "Chest", "value": 5}], {"suit": "Map", "value": 5}
LOST = {"drawPile": LAST_CARD, "banks": [OURS, [THEIRS, {"suit": "Key", "value": 7}]]}
TIED = {"drawPile": LAST_CARD, "banks": [OURS, [THEIRS, {"suit": "Key", "value": 4}]]}


class Metered(MatchHarness):
    """A bench whose poller and workers measure as the functions do."""

    def dispatcher(self, environment: WorkerEnvironment | None = None) -> MatchDispatcher:
        return replace(
            super().dispatcher(environment or self.worker_environment()), metrics=metrics_recorder
        )


def play(folder: Path, faults: dict[int, FaultKind], **place: Any) -> MatchHarness:  # noqa: ANN401
    folder.mkdir()
    arena = partial(SimulatedArena, **place)
    return run_harness(Metered(arena, folder, faults, meter=metrics_recorder))


def stuck(_position: Position) -> Action:
    raise ValueError("never an answer, so that the safe action is played")


def of_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sample]:
    """What workers and a poller measure in matches that end well, badly and in a tie, and fail."""
    lines = io.StringIO()
    monkeypatch.setattr(metrics_recorder, "stream", io.StringIO())
    metrics_recorder.flush()  # what another test left
    monkeypatch.setattr(metrics_recorder, "stream", lines)
    steps = play(tmp_path / "won", {}).plan.steps
    play(tmp_path / "lost", {}, table=LOST)
    play(tmp_path / "tied", {}, table=TIED)
    play(tmp_path / "stuck", {}, player=SimpleNamespace(name="stuck", decide=stuck))
    play(tmp_path / "failing", {steps.index("view"): FaultKind.HTTP_500})
    play(tmp_path / "died", {steps.index("act"): FaultKind.CRASH_AFTER})
    play(tmp_path / "unheard", {steps.index("send"): FaultKind.MESSAGE_LOST})
    metrics_recorder.flush()
    return list(read_emf(lines.getvalue().splitlines()))


def test_the_record_of_our_metrics_is_what_the_code_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rule `own-metric` holds what alarms and widgets ask against it."""
    found = of_matches(tmp_path, monkeypatch)
    # A poller's handler at an arena that answers, and at one that is gone.
    with metric_recorder(tmp_path) as here, stamina.set_testing(True, attempts=2):
        here.run_poller()
        here.arena.stop()
        here.run_poller()
        found += here.samples
    written = {
        (one.metric.name, tuple(sorted(name for name, _ in one.metric.dimensions)))
        for one in found
        if one.metric.namespace == NAMESPACE
    }
    assert written == recorded_metrics()
