"""Tests of R20: each alarm is checked with the metrics of a local run.

An alarm is off in a healthy run and on after its fault. The runs use the real handlers;
only their timestamps are shifted, so that minutes of CloudWatch take no minutes here.
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
    STACK_NAME,
    alarms_fired,
    composite_alarm_rules,
    composite_is_on,
    template_alarms,
)
from support.arena_server import ManualClock
from support.aws_template import resource_properties
from support.metric_recording import (
    STORE_SETTINGS_BY_GAME,
    STORE_SETTINGS_BY_SERVICE,
    MetricRecorder,
    metric_recorder,
)
from support.store_fixtures import FakeClock

from cardsharp.aws.telemetry import NAMESPACE, metrics_recorder
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.core.clock import utc_now
from cardsharp.core.metrics import MetricName, Metrics
from cardsharp.errors import StoreError
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import position_from_view
from cardsharp.games.deadmansdraw.fallback import decide_in_time
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import build
from cardsharp.server.failure_log import log_failure
from cardsharp.store.match_log_factory import build_match_log
from cardsharp_tools.build.template_rules.monitoring import recorded_metrics
from cardsharp_tools.local_cloud.emulator_process import log_filter_matcher
from cardsharp_tools.local_cloud.metric_samples import MetricKey, MetricSample, read_emf_samples
from cardsharp_tools.local_cloud.template_files import service_resource_prefix
from cardsharp_tools.local_play.opponent import (
    BOT_CREDENTIALS,
    OPPONENT_CREDENTIALS,
    start_steady_opponent,
)
from cardsharp_tools.operations.function_logs import PROBLEM_FILTER

VISIBILITY = timedelta(minutes=30)
PUNCTUAL_MILLISECONDS = 500  # milliseconds that are late for nobody

FATAL_LOG_LINES = [
    "2026-11-22T12:00:00.000Z 1f Task timed out after 300.00 seconds",
    "RequestId: 1f Error: Runtime exited with error: signal: killed",
    "REPORT RequestId: 1f Duration: 9 ms Status: error Error Type: Runtime.OutOfMemory",
    "REPORT RequestId: 1f Duration: 300000.00 ms Status: timeout",
    "[ERROR] Runtime.ImportModuleError: Unable to import module 'worker.app'",
]
"""As Lambda writes of a function that was stopped, ran out of memory, or cannot be imported."""

NORMAL_LOG_LINES = [
    "INIT_START Runtime Version: python:3.13.v1",
    "START RequestId: 1f Version: $LATEST",
    "END RequestId: 1f",
    "REPORT RequestId: 1f Duration: 9.00 ms Billed Duration: 9 ms Memory Size: 128 MB",
]


OLDEST_MESSAGE_AGE = "ApproximateAgeOfOldestMessage"


def shift_samples(samples: list[MetricSample], offset: timedelta) -> list[MetricSample]:
    """Return a recording with all timestamps moved by a duration."""
    return [replace(sample, timestamp=sample.timestamp + offset) for sample in samples]


def repeat_every_minute(samples: list[MetricSample], count: int) -> list[MetricSample]:
    """Return a recording that is repeated once in each of `count` minutes."""
    return [sample for minute in range(count) for sample in shift_samples(samples, MINUTE * minute)]


def alarms_amid_healthy_run(healthy: list[MetricSample], samples: list[MetricSample]) -> set[str]:
    """Return the alarms that go on if samples are inserted into a healthy run."""
    start = min(sample.timestamp for sample in samples) - healthy[0].timestamp
    surrounding_samples = [
        shift_samples(healthy, start + MINUTE * minute) for minute in range(-6, 7)
    ]
    return alarms_fired(
        [*samples, *(sample for recording in surrounding_samples for sample in recording)]
    )


def matching_lines(pattern: str, lines: list[str]) -> list[str]:
    """Return the lines that match a filter pattern of CloudWatch."""
    return list(filter(log_filter_matcher(pattern), lines))


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> list[MetricSample]:
    """The metrics of a minute in which a match is found and played to its end."""
    folder = tmp_path_factory.mktemp("healthy")
    with metric_recorder(folder) as recorder, start_steady_opponent(recorder.arena.url, folder):
        match_id = recorder.arena.create_match_and_get_id(
            [OPPONENT_CREDENTIALS[0], BOT_CREDENTIALS[0]]
        )
        while (invocation := recorder.process_next_message()) is None:
            assert recorder.run_poller().error is None
        assert invocation.error is None
        assert recorder.dependencies.match_log.match(match_id).outcome  # type: ignore[union-attr]
        for service in STORE_SETTINGS_BY_SERVICE:
            assert recorder.call_service(service) == 200
        recorder.record_queue_depth("DeadLetters", 0)
        recorder.record_queue_depth("TickLetters", 0)
        recorder.record("AWS/SQS", OLDEST_MESSAGE_AGE, {"QueueName": "Ticks"}, 5)
        recorder.record("AWS/Lambda", "Errors", {"FunctionName": "Director"}, 0)
        recorder.record("AWS/Lambda", "Throttles", {"FunctionName": "Director"}, 0)
        recorder.record("AWS/SQS", "NumberOfMessagesSent", {"QueueName": "DirectorDeadLetters"}, 0)
        recorder.record_queue_age(MemoryQueue(FakeClock()), timedelta(0))
        return [
            limit_durations(sample, MetricName.PICKUP_DELAY, MetricName.DECISION)
            for sample in recorder.samples
        ]


def limit_durations(sample: MetricSample, *metric_names: MetricName) -> MetricSample:
    """Limit a sample's durations to `PUNCTUAL_MILLISECONDS`, since this machine may be slow."""
    return (
        replace(sample, value=min(sample.value, PUNCTUAL_MILLISECONDS))
        if sample.metric.name in metric_names
        else sample
    )


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[MetricRecorder]:
    with metric_recorder(tmp_path) as recorder:
        yield recorder


def test_a_healthy_run_has_all_watched_metrics_and_raises_no_alarm_until_polls_end(
    healthy: list[MetricSample],
) -> None:
    emitted_metrics = {sample.metric for sample in healthy}
    # A further game is watched as the others are, but there is none.
    alarms = [alarm for alarm in template_alarms() if not alarm.name.startswith("Game")]
    watched = {series.metric for alarm in alarms for series in alarm.series.values()}
    faults = {metric.name for metric in watched - emitted_metrics}
    lines = {"ErrorLines", "ServiceErrorLines", "DirectorErrorLines"}
    assert faults <= {MetricName.UNANSWERED_DISPATCHES, *lines}
    assert alarms_fired(repeat_every_minute(healthy, 25)) == set()
    steady = repeat_every_minute(healthy, 5)
    assert alarms_fired(steady, tail=2 * MINUTE) == set()
    assert alarms_fired(steady, tail=5 * MINUTE) == {"NotListening"}


def test_an_arena_that_refuses_us_is_noticed_at_once_and_counts_no_poll(tmp_path: Path) -> None:
    expected = {"NotListening", "PollerFailed", "TickDeadLetter"}
    with metric_recorder(tmp_path, password="wrong") as recorder:
        assert "Unauthorized" in str(recorder.run_poller().error)
        assert not [sample for sample in recorder.samples if sample.metric.name == MetricName.POLLS]
        assert alarms_fired(repeat_every_minute(recorder.samples, 5)) == expected


def test_ten_minutes_without_an_action_are_noticed(
    healthy: list[MetricSample], recorder: MetricRecorder
) -> None:
    recorder.dependencies.match_log.acquire_lease("abandoned", "a worker", timedelta(hours=1))
    recorder.run_poller()
    start = (
        min(sample.timestamp for sample in recorder.samples) - healthy[0].timestamp - 15 * MINUTE
    )
    earlier_samples = repeat_every_minute(shift_samples(healthy, start), 15)
    assert alarms_fired([*earlier_samples, *repeat_every_minute(recorder.samples, 5)]) == set(), (
        "not yet"
    )
    assert alarms_fired([*earlier_samples, *repeat_every_minute(recorder.samples, 21)]) == {
        "NotActing"
    }


def test_a_message_that_fails_five_times_and_its_log_lines_raise_alarms(
    healthy: list[MetricSample], recorder: MetricRecorder
) -> None:
    errors, clock = resource_properties("WorkerErrorLines")["FilterPattern"], FakeClock()
    assert matching_lines(errors, recorder.log_output.getvalue().splitlines()) == []
    dead_letter_queue = MemoryQueue(clock)
    queue = MemoryQueue(clock, VISIBILITY, dead_letter_queue)
    queue.send("this is no match message")
    while message := queue.receive_message(timedelta(0)):
        invocation = recorder.invoke_worker(message)
        assert invocation.response == {
            "batchItemFailures": [{"itemIdentifier": message.message_id}]
        }
        recorder.record_queue_depth("DeadLetters", len(dead_letter_queue))
        assert alarms_amid_healthy_run(healthy, recorder.samples) == set()
        clock.advance(VISIBILITY)
    error_lines = matching_lines(errors, recorder.log_output.getvalue().splitlines())
    assert ['"a message failed"' in line for line in error_lines] == [True] * 5
    for record_metric, expected in (
        (
            partial(recorder.record_queue_depth, "DeadLetters", len(dead_letter_queue)),
            "MatchDeadLetter",
        ),
        (partial(recorder.record, STACK_NAME, "ErrorLines", {}, len(error_lines)), "ErrorLogged"),
    ):
        recorder.aws_samples.clear()
        record_metric()
        assert alarms_amid_healthy_run(healthy, recorder.samples) == {expected}


def test_a_function_that_died_is_noticed() -> None:
    """The alarm's filter, `cardsharp cloud logs` and the saved query find a fatal error."""
    for pattern in (resource_properties("WorkerErrorLines")["FilterPattern"], PROBLEM_FILTER):
        assert matching_lines(pattern, [*FATAL_LOG_LINES, *NORMAL_LOG_LINES]) == FATAL_LOG_LINES
    query_pattern = re.search(
        r"@message like /(.+)/", resource_properties("RecentProblems")["QueryString"]
    )
    assert [
        line for line in [*FATAL_LOG_LINES, *NORMAL_LOG_LINES] if re.search(query_pattern[1], line)
    ] == FATAL_LOG_LINES


def test_a_message_that_no_worker_takes_raises_an_alarm(
    healthy: list[MetricSample], recorder: MetricRecorder
) -> None:
    """Only a waiting message raises the alarm; one in flight may be held for four minutes."""
    queue = MemoryQueue(FakeClock(), VISIBILITY)
    queue.send("a match")
    for expected in ({"NotTakenUp"}, set()):
        recorder.aws_samples.clear()
        for minute in range(4):
            recorder.record_queue_age(queue, minute * MINUTE)
        numbered_samples = enumerate(recorder.samples)
        aged_samples = [
            replace(sample, timestamp=sample.timestamp + MINUTE * (number // 3))
            for number, sample in numbered_samples
        ]
        start, queue_metrics = (
            aged_samples[0].timestamp - healthy[0].timestamp,
            {sample.metric for sample in aged_samples},
        )
        surrounding_samples = [
            sample
            for minute_offset in range(-1, 6)
            for sample in shift_samples(healthy, start + MINUTE * minute_offset)
        ]
        other_samples = [
            sample for sample in surrounding_samples if sample.metric not in queue_metrics
        ]
        assert alarms_fired([*other_samples, *aged_samples]) == expected
        queue.receive_message(timedelta(0))


def test_a_worker_that_fails_without_taking_a_lease_raises_an_alarm(
    healthy: list[MetricSample], tmp_path: Path
) -> None:
    """A match is dispatched repeatedly without a lease, and no message waits in the queue."""
    clock = FakeClock(datetime.now(UTC))
    samples: list[MetricSample] = []

    class Counting(Metrics):
        def count(self, metric: MetricName, number: int = 1) -> None:
            identity = MetricKey(NAMESPACE, metric, frozenset({("service", STACK_NAME)}))
            samples.append(MetricSample(identity, clock.now(), number))

    log = build_match_log(f"sqlite:{tmp_path}/log.db", clock)
    dispatcher = MatchDispatcher(log, MemoryQueue(clock), clock, metrics=Counting())
    for _ in range(300):  # in any three minutes there may be one with one offer
        dispatcher.dispatch_unattended(["m"])
        clock.advance(timedelta(seconds=1))
    assert alarms_amid_healthy_run(healthy, samples) == {"NobodyComes"}


AWS_METRIC_CASES = (
    ("ApproximateNumberOfMessagesVisible", "TickLetters", 1, {"TickFailed"}),
    (OLDEST_MESSAGE_AGE, "Ticks", 35, set()),  # a tick whose director died
    (OLDEST_MESSAGE_AGE, "Ticks", 61, {"TicksLate"}),
    *(
        ("Throttles", f"{one}Service", 1, {f"{one}Throttled"})
        for one in map(service_resource_prefix, STORE_SETTINGS_BY_GAME)
    ),
    *(("Throttles", f, 1, {f"{f}Throttled"}) for f in ("Poller", "Worker", "Director")),
)


def test_metrics_that_only_aws_records_raise_alarms(
    healthy: list[MetricSample], recorder: MetricRecorder
) -> None:
    """Failed or late ticks of the director and throttled invocations raise alarms."""
    for name, resource_name, value, expected in AWS_METRIC_CASES:
        recorder.aws_samples.clear()
        service, dimension = ("Lambda", "Function") if name == "Throttles" else ("SQS", "Queue")
        recorder.record(f"AWS/{service}", name, {f"{dimension}Name": resource_name}, value)
        assert alarms_amid_healthy_run(healthy, recorder.samples) == expected


def test_the_bot_counts_as_not_playing_for_each_of_its_causes() -> None:
    (composite,) = composite_alarm_rules().values()
    causes = {"NotListening", "NotActing", "NotTakenUp", "NobodyComes"}
    for active_alarm in template_alarms():
        states = {alarm.name: alarm is active_alarm for alarm in template_alarms()}
        assert composite_is_on(composite, states) == (active_alarm.name in causes), (
            active_alarm.name
        )


def test_a_worker_that_fails_is_noticed(
    healthy: list[MetricSample], recorder: MetricRecorder
) -> None:
    assert "InvalidInput" in str(
        recorder.invoke_function("Worker", {"no": "records"}, MINUTE).error
    )
    assert alarms_amid_healthy_run(healthy, recorder.samples) == {"WorkerFailed"}


def test_turns_taken_up_six_seconds_late_are_noticed(
    healthy: list[MetricSample], tmp_path: Path
) -> None:
    delay = timedelta(seconds=6)
    with metric_recorder(tmp_path, clock=lambda: utc_now() - delay) as recorder:
        recorder.arena.create_match_and_get_id([BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]])
        with start_steady_opponent(recorder.arena.url, tmp_path):
            recorder.run_poller()
            assert recorder.process_next_message() is not None
        assert alarms_amid_healthy_run(
            healthy, [limit_durations(sample, MetricName.DECISION) for sample in recorder.samples]
        ) == {"SlowPickUp"}


def test_a_turn_that_the_arena_times_out_raises_an_alarm(
    healthy: list[MetricSample], tmp_path: Path
) -> None:
    clock = ManualClock()
    with metric_recorder(tmp_path, clock=clock) as recorder:
        recorder.arena.create_match_and_get_id(
            [BOT_CREDENTIALS[0], BOT_CREDENTIALS[0]], timeout=timedelta(seconds=2)
        )
        clock.advance(timedelta(seconds=3))
        while (invocation := recorder.process_next_message()) is None:
            recorder.run_poller()
        assert invocation.error is None
        samples = [
            limit_durations(sample, MetricName.PICKUP_DELAY, MetricName.DECISION)
            for sample in recorder.samples
        ]
        assert alarms_amid_healthy_run(healthy, samples) == {"TurnTimedOut"}


def test_a_decision_over_half_its_limit_is_noticed(
    healthy: list[MetricSample], recorder: MetricRecorder
) -> None:
    match_id = recorder.arena.create_match_and_get_id([BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]])
    with recorder.dependencies.build_poller() as match_poller:
        position = position_from_view(match_poller.arena_client.get_match(match_id), 0)
    for _ in range(10):
        times = iter([0.0, 1.2])
        result = decide_in_time(build("steady", Random(1)), position, MINUTE, lambda: next(times))  # noqa: B023 - used at once
        metrics_recorder.record_duration(MetricName.DECISION, result.duration)
    metrics_recorder.flush()
    assert alarms_amid_healthy_run(healthy, recorder.samples) == {"SlowDecision"}


@pytest.mark.parametrize("service", STORE_SETTINGS_BY_SERVICE)
def test_a_service_that_fails_is_noticed(
    healthy: list[MetricSample], tmp_path: Path, service: str
) -> None:
    with metric_recorder(tmp_path, broken=service) as recorder:
        assert recorder.call_service(service) >= 500
        assert alarms_amid_healthy_run(healthy, recorder.samples) == {
            f"{service_resource_prefix(service)}Failing"
        }


def test_an_error_that_a_service_logs_raises_an_alarm(
    healthy: list[MetricSample], recorder: MetricRecorder
) -> None:
    """In one stack for all services, the alarm of every service is raised."""
    log_failure(StoreError("the table is throttled"))
    lines = recorder.log_output.getvalue().splitlines()
    error_lines = matching_lines(resource_properties("GameErrorLines")["FilterPattern"], lines)
    assert len(error_lines) == 1
    recorder.record(STACK_NAME, "ServiceErrorLines", {}, len(error_lines))
    services = {f"{prefix}ErrorLogged" for prefix in ("Arena", "Blef", "Euchre", "Game", "Viewer")}
    assert alarms_amid_healthy_run(healthy, recorder.samples) == services


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ((STACK_NAME, "DirectorErrorLines", {}), "DirectorErrorLogged"),
        (("AWS/Lambda", "Errors", {"FunctionName": "Director"}), "DirectorFailed"),
        (("AWS/Lambda", "Throttles", {"FunctionName": "Director"}), "DirectorThrottled"),
        (
            ("AWS/SQS", "NumberOfMessagesSent", {"QueueName": "DirectorDeadLetters"}),
            "DirectorDeadLetter",
        ),
    ],
)
def test_a_failing_director_raises_an_alarm(
    healthy: list[MetricSample],
    recorder: MetricRecorder,
    metric: tuple[str, str, dict[str, str]],
    expected: str,
) -> None:
    """Errors, throttles and dead letters of the director raise alarms.

    The errors that it survives are tested in tests/integration/test_contest_ticks.py.
    """
    recorder.record(*metric, 1)
    assert alarms_amid_healthy_run(healthy, recorder.samples) == {expected}


# --- the record of our own metrics ---------------------------------------------------------------


LAST_CARD = [{"suit": "Anchor", "value": 4}]
"""Ours in the only turn, so that what they hold before it says who wins."""

BOT_BANK, OPPONENT_CARD = [{"suit": "Chest", "value": 5}], {"suit": "Map", "value": 5}
LOST_TABLE = {
    "drawPile": LAST_CARD,
    "banks": [BOT_BANK, [OPPONENT_CARD, {"suit": "Key", "value": 7}]],
}
TIED_TABLE = {
    "drawPile": LAST_CARD,
    "banks": [BOT_BANK, [OPPONENT_CARD, {"suit": "Key", "value": 4}]],
}


class MeteredMatchHarness(MatchHarness):
    """Match harness whose poller and workers record metrics as the deployed functions do."""

    def dispatcher(self, environment: WorkerEnvironment | None = None) -> MatchDispatcher:
        return replace(
            super().dispatcher(environment or self.worker_environment()), metrics=metrics_recorder
        )


def play_metered_match(folder: Path, faults: dict[int, FaultKind], **options: Any) -> MatchHarness:  # noqa: ANN401
    folder.mkdir()
    arena = partial(SimulatedArena, **options)
    return run_harness(MeteredMatchHarness(arena, folder, faults, meter=metrics_recorder))


def fail_to_decide(_position: DeadMansDrawPosition) -> Action:
    raise ValueError("never an answer, so that the safe action is played")


def record_match_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[MetricSample]:
    """Return the metrics of workers and a poller in matches that are won, lost, tied, or fail."""
    lines = io.StringIO()
    monkeypatch.setattr(metrics_recorder, "stream", io.StringIO())
    metrics_recorder.flush()  # what another test left
    monkeypatch.setattr(metrics_recorder, "stream", lines)
    steps = play_metered_match(tmp_path / "won", {}).plan.steps
    play_metered_match(tmp_path / "lost", {}, table=LOST_TABLE)
    play_metered_match(tmp_path / "tied", {}, table=TIED_TABLE)
    play_metered_match(
        tmp_path / "stuck", {}, player=SimpleNamespace(name="stuck", decide=fail_to_decide)
    )
    play_metered_match(tmp_path / "failing", {steps.index("view"): FaultKind.HTTP_500})
    play_metered_match(tmp_path / "died", {steps.index("act"): FaultKind.CRASH_AFTER})
    play_metered_match(tmp_path / "unheard", {steps.index("send"): FaultKind.MESSAGE_LOST})
    metrics_recorder.flush()
    return list(read_emf_samples(lines.getvalue().splitlines()))


def test_the_recorded_metrics_are_those_that_the_code_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rule `own-metric` checks alarms and widgets against these recorded metrics."""
    samples = record_match_metrics(tmp_path, monkeypatch)
    # A poller's handler at an arena that answers, and at one that is gone.
    with metric_recorder(tmp_path) as recorder, stamina.set_testing(True, attempts=2):
        recorder.run_poller()
        recorder.arena.stop()
        recorder.run_poller()
        samples += recorder.samples
    written_metrics = {
        (sample.metric.name, tuple(sorted(name for name, _ in sample.metric.dimensions)))
        for sample in samples
        if sample.metric.namespace == NAMESPACE
    }
    assert written_metrics == recorded_metrics()
