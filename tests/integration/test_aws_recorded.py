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
from cardsharp.core.metrics import MetricName, Metrics
from cardsharp.errors import StoreError
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import position_from_view
from cardsharp.games.deadmansdraw.fallback import decide_in_time
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import build
from cardsharp.server.failure_log import log_failure
from cardsharp_tools.build.template_rules.monitoring import recorded_metrics
from cardsharp_tools.local_cloud.emulator_process import log_filter_matcher
from cardsharp_tools.local_cloud.metric_samples import MetricKey, MetricSample, read_emf_samples
from cardsharp_tools.local_cloud.template_files import service_prefix
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


def shifted(samples: list[MetricSample], by: timedelta) -> list[MetricSample]:
    """A recording as if everything had happened later."""
    return [replace(sample, timestamp=sample.timestamp + by) for sample in samples]


def every_minute(samples: list[MetricSample], count: int) -> list[MetricSample]:
    """A recording again and again, each minute once."""
    return [sample for n in range(count) for sample in shifted(samples, MINUTE * n)]


def on_amid(healthy: list[MetricSample], samples: list[MetricSample]) -> set[str]:
    """The alarms that go on when something happens in the middle of a healthy time."""
    start = min(sample.timestamp for sample in samples) - healthy[0].timestamp
    surrounding_samples = [shifted(healthy, start + MINUTE * n) for n in range(-6, 7)]
    return alarms_fired([*samples, *(sample for part in surrounding_samples for sample in part)])


def matching_lines(pattern: str, lines: list[str]) -> list[str]:
    """Return the lines that match a filter pattern of CloudWatch."""
    return list(filter(log_filter_matcher(pattern), lines))


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> list[MetricSample]:
    """A minute in which a match against another player was found and played to its end."""
    folder = tmp_path_factory.mktemp("healthy")
    with metric_recorder(folder) as recorder, start_steady_opponent(recorder.arena.url, folder):
        match_id = recorder.arena.create_match_and_get_id(
            [OPPONENT_CREDENTIALS[0], BOT_CREDENTIALS[0]]
        )
        while (done := recorder.process_next_message()) is None:
            assert recorder.run_poller().error is None
        assert done.error is None
        assert recorder.assembly.match_log.match(match_id).outcome  # type: ignore[union-attr]
        for service in SERVICES:
            assert recorder.call_service(service) == 200
        recorder.record_queue_depth("DeadLetters", 0)
        recorder.record_queue_depth("TickLetters", 0)
        recorder.record("AWS/SQS", OLDEST, {"QueueName": "Ticks"}, 5)
        recorder.record("AWS/Lambda", "Errors", {"FunctionName": "Director"}, 0)
        recorder.record("AWS/Lambda", "Throttles", {"FunctionName": "Director"}, 0)
        recorder.record("AWS/SQS", "NumberOfMessagesSent", {"QueueName": "DirectorDeadLetters"}, 0)
        recorder.record_queue_age(MemoryQueue(FakeClock()), timedelta(0))
        return [
            in_time(sample, MetricName.PICKUP_DELAY, MetricName.DECISION)
            for sample in recorder.samples
        ]


def in_time(sample: MetricSample, *timed: MetricName) -> MetricSample:
    """Limit a sample's durations to `QUICK`: that this machine is busy is no fault of the code."""
    return (
        replace(sample, value=min(sample.value, QUICK)) if sample.metric.name in timed else sample
    )


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[MetricRecorder]:
    with metric_recorder(tmp_path) as recorder:
        yield recorder


def test_a_healthy_run_says_all_that_alarms_listen_to_and_none_is_on_until_polls_end(
    healthy: list[MetricSample],
) -> None:
    emitted_metrics = {sample.metric for sample in healthy}
    # A further game is watched as the others are, but there is none.
    alarms = [alarm for alarm in template_alarms() if not alarm.name.startswith("Game")]
    watched = {series.metric for alarm in alarms for series in alarm.series.values()}
    faults = {metric.name for metric in watched - emitted_metrics}
    lines = {"ErrorLines", "ServiceErrorLines", "DirectorErrorLines"}
    assert faults <= {MetricName.UNANSWERED_DISPATCHES, *lines}
    assert alarms_fired(every_minute(healthy, 25)) == set()
    steady = every_minute(healthy, 5)
    assert alarms_fired(steady, tail=2 * MINUTE) == set()
    assert alarms_fired(steady, tail=5 * MINUTE) == {"NotListening"}


def test_an_arena_that_refuses_us_is_noticed_at_once_and_counts_no_poll(tmp_path: Path) -> None:
    expected = {"NotListening", "PollerFailed", "TickDeadLetter"}
    with metric_recorder(tmp_path, password="wrong") as recorder:
        assert "Unauthorized" in str(recorder.run_poller().error)
        assert not [sample for sample in recorder.samples if sample.metric.name == MetricName.POLLS]
        assert alarms_fired(every_minute(recorder.samples, 5)) == expected


def test_ten_minutes_without_an_action_are_noticed(
    healthy: list[MetricSample], quiet: MetricRecorder
) -> None:
    quiet.assembly.match_log.acquire_lease("abandoned", "a worker", timedelta(hours=1))
    quiet.run_poller()
    start = min(sample.timestamp for sample in quiet.samples) - healthy[0].timestamp - 15 * MINUTE
    earlier_samples = every_minute(shifted(healthy, start), 15)
    assert alarms_fired([*earlier_samples, *every_minute(quiet.samples, 5)]) == set(), "not yet"
    assert alarms_fired([*earlier_samples, *every_minute(quiet.samples, 21)]) == {"NotActing"}


def test_a_message_that_fails_five_times_and_its_log_lines_raise_alarms(
    healthy: list[MetricSample], quiet: MetricRecorder
) -> None:
    errors, clock = properties("WorkerErrorLines")["FilterPattern"], FakeClock()
    assert matching_lines(errors, quiet.log_output.getvalue().splitlines()) == []
    letters = MemoryQueue(clock)
    queue = MemoryQueue(clock, VISIBILITY, letters)
    queue.send("this is no match message")
    while message := queue.receive_message(timedelta(0)):
        done = quiet.deliver(message)
        assert done.response == {"batchItemFailures": [{"itemIdentifier": message.message_id}]}
        quiet.record_queue_depth("DeadLetters", len(letters))
        assert on_amid(healthy, quiet.samples) == set()
        clock.advance(VISIBILITY)
    error_lines = matching_lines(errors, quiet.log_output.getvalue().splitlines())
    assert ['"a message failed"' in line for line in error_lines] == [True] * 5
    for note, expected in (
        (partial(quiet.record_queue_depth, "DeadLetters", len(letters)), "MatchDeadLetter"),
        (partial(quiet.record, STACK, "ErrorLines", {}, len(error_lines)), "ErrorLogged"),
    ):
        quiet.aws_samples.clear()
        note()
        assert on_amid(healthy, quiet.samples) == {expected}


def test_a_function_that_died_is_noticed() -> None:
    """By the filter of the alarm, by `cardsharp cloud logs` and by the saved query."""
    for pattern in (properties("WorkerErrorLines")["FilterPattern"], PROBLEM_FILTER):
        assert matching_lines(pattern, [*DEATHS, *LIVES]) == DEATHS
    query_pattern = re.search(r"@message like /(.+)/", properties("RecentProblems")["QueryString"])
    assert [line for line in [*DEATHS, *LIVES] if re.search(query_pattern[1], line)] == DEATHS


def test_a_message_that_no_worker_takes_raises_an_alarm(
    healthy: list[MetricSample], quiet: MetricRecorder
) -> None:
    """But none in flight: a worker may hold a match, and with it the message, for four minutes."""
    queue = MemoryQueue(FakeClock(), VISIBILITY)
    queue.send("a match")
    for expected in ({"NotTakenUp"}, set()):
        quiet.aws_samples.clear()
        for minute in range(4):
            quiet.record_queue_age(queue, minute * MINUTE)
        noted = enumerate(quiet.samples)
        aged_samples = [
            replace(sample, timestamp=sample.timestamp + MINUTE * (number // 3))
            for number, sample in noted
        ]
        start, of_queue = (
            aged_samples[0].timestamp - healthy[0].timestamp,
            {sample.metric for sample in aged_samples},
        )
        around = [sample for n in range(-1, 6) for sample in shifted(healthy, start + MINUTE * n)]
        rest = [sample for sample in around if sample.metric not in of_queue]
        assert alarms_fired([*rest, *aged_samples]) == expected
        queue.receive_message(timedelta(0))


def test_a_worker_that_fails_without_taking_a_lease_raises_an_alarm(
    healthy: list[MetricSample], tmp_path: Path
) -> None:
    """Offered again and again, in vain; all messages are received, so that none waits."""
    clock = FakeClock(datetime.now(UTC))
    samples: list[MetricSample] = []

    class Counting(Metrics):
        def count(self, metric: MetricName, number: int = 1) -> None:
            identity = MetricKey(NAMESPACE, metric, frozenset({("service", STACK)}))
            samples.append(MetricSample(identity, clock.now(), number))

    log = build_match_log(f"sqlite:{tmp_path}/log.db", clock)
    offering = MatchDispatcher(log, MemoryQueue(clock), clock, metrics=Counting())
    for _ in range(300):  # in any three minutes there may be one with one offer
        offering.dispatch_unattended(["m"])
        clock.advance(timedelta(seconds=1))
    assert on_amid(healthy, samples) == {"NobodyComes"}


SEEN = (
    ("ApproximateNumberOfMessagesVisible", "TickLetters", 1, {"TickFailed"}),
    (OLDEST, "Ticks", 35, set()),  # a tick whose director died
    (OLDEST, "Ticks", 61, {"TicksLate"}),
    *(("Throttles", f"{one}Service", 1, {f"{one}Throttled"}) for one in map(service_prefix, GAMES)),
    *(("Throttles", f, 1, {f"{f}Throttled"}) for f in ("Poller", "Worker", "Director")),
)


def test_metrics_that_only_aws_records_raise_alarms(
    healthy: list[MetricSample], quiet: MetricRecorder
) -> None:
    """Ticks of the director that fail or wait, and invocations that had to wait."""
    for name, of, value, expected in SEEN:
        quiet.aws_samples.clear()
        service, dimension = ("Lambda", "Function") if name == "Throttles" else ("SQS", "Queue")
        quiet.record(f"AWS/{service}", name, {f"{dimension}Name": of}, value)
        assert on_amid(healthy, quiet.samples) == expected


def test_the_bot_counts_as_not_playing_for_each_of_its_causes() -> None:
    (composite,) = composite_alarm_rules().values()
    causes = {"NotListening", "NotActing", "NotTakenUp", "NobodyComes"}
    for active_alarm in template_alarms():
        states = {alarm.name: alarm is active_alarm for alarm in template_alarms()}
        assert composite_is_on(composite, states) == (active_alarm.name in causes), (
            active_alarm.name
        )


def test_a_worker_that_fails_is_noticed(healthy: list[MetricSample], quiet: MetricRecorder) -> None:
    assert "InvalidInput" in str(quiet.call("Worker", {"no": "records"}, MINUTE).error)
    assert on_amid(healthy, quiet.samples) == {"WorkerFailed"}


def test_turns_taken_up_six_seconds_late_are_noticed(
    healthy: list[MetricSample], tmp_path: Path
) -> None:
    late = timedelta(seconds=6)
    with metric_recorder(tmp_path, clock=lambda: utc_now() - late) as recorder:
        recorder.arena.create_match_and_get_id([BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]])
        with start_steady_opponent(recorder.arena.url, tmp_path):
            recorder.run_poller()
            assert recorder.process_next_message() is not None
        assert on_amid(
            healthy, [in_time(sample, MetricName.DECISION) for sample in recorder.samples]
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
        while (done := recorder.process_next_message()) is None:
            recorder.run_poller()
        assert done.error is None
        samples = [
            in_time(sample, MetricName.PICKUP_DELAY, MetricName.DECISION)
            for sample in recorder.samples
        ]
        assert on_amid(healthy, samples) == {"TurnTimedOut"}


def test_a_decision_over_half_its_limit_is_noticed(
    healthy: list[MetricSample], quiet: MetricRecorder
) -> None:
    match_id = quiet.arena.create_match_and_get_id([BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]])
    with quiet.assembly.build_poller() as scout:
        position = position_from_view(scout.arena_client.get_match(match_id), 0)
    for _ in range(10):
        looks = iter([0.0, 1.2])
        decided = decide_in_time(build("steady", Random(1)), position, MINUTE, lambda: next(looks))  # noqa: B023 - used at once
        metrics_recorder.record_duration(MetricName.DECISION, decided.duration)
    metrics_recorder.flush()
    assert on_amid(healthy, quiet.samples) == {"SlowDecision"}


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_fails_is_noticed(
    healthy: list[MetricSample], tmp_path: Path, service: str
) -> None:
    with metric_recorder(tmp_path, broken=service) as recorder:
        assert recorder.call_service(service) >= 500
        assert on_amid(healthy, recorder.samples) == {f"{service_prefix(service)}Failing"}


def test_an_error_that_a_service_logs_raises_an_alarm(
    healthy: list[MetricSample], quiet: MetricRecorder
) -> None:
    """By the alarm of every service here, where all of them are one stack."""
    log_failure(StoreError("the table is throttled"))
    lines = quiet.log_output.getvalue().splitlines()
    logged = matching_lines(properties("GameErrorLines")["FilterPattern"], lines)
    assert len(logged) == 1
    quiet.record(STACK, "ServiceErrorLines", {}, len(logged))
    services = {f"{prefix}ErrorLogged" for prefix in ("Arena", "Blef", "Euchre", "Game", "Viewer")}
    assert on_amid(healthy, quiet.samples) == services


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ((STACK, "DirectorErrorLines", {}), "DirectorErrorLogged"),
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
    quiet: MetricRecorder,
    metric: tuple[str, str, dict[str, str]],
    expected: str,
) -> None:
    """That it logs what it survives: tests/integration/test_contest_ticks.py."""
    quiet.record(*metric, 1)
    assert on_amid(healthy, quiet.samples) == {expected}


# --- the record of our own metrics ---------------------------------------------------------------


LAST_CARD = [{"suit": "Anchor", "value": 4}]
"""Ours in the only turn, so that what they hold before it says who wins."""

BOT_BANK, OPPONENT_CARD = [{"suit": "Chest", "value": 5}], {"suit": "Map", "value": 5}
LOST = {"drawPile": LAST_CARD, "banks": [BOT_BANK, [OPPONENT_CARD, {"suit": "Key", "value": 7}]]}
TIED = {"drawPile": LAST_CARD, "banks": [BOT_BANK, [OPPONENT_CARD, {"suit": "Key", "value": 4}]]}


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


def stuck(_position: DeadMansDrawPosition) -> Action:
    raise ValueError("never an answer, so that the safe action is played")


def of_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[MetricSample]:
    """Return the metrics of workers and a poller in matches that are won, lost, tied, or fail."""
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
    return list(read_emf_samples(lines.getvalue().splitlines()))


def test_the_recorded_metrics_are_those_that_the_code_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rule `own-metric` holds what alarms and widgets ask against it."""
    samples = of_matches(tmp_path, monkeypatch)
    # A poller's handler at an arena that answers, and at one that is gone.
    with metric_recorder(tmp_path) as recorder, stamina.set_testing(True, attempts=2):
        recorder.run_poller()
        recorder.arena.stop()
        recorder.run_poller()
        samples += recorder.samples
    written = {
        (sample.metric.name, tuple(sorted(name for name, _ in sample.metric.dimensions)))
        for sample in samples
        if sample.metric.namespace == NAMESPACE
    }
    assert written == recorded_metrics()
