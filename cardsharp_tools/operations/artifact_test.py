"""Run the built artifacts: `python -m cardsharp_tools.operations.artifact_test [--build FOLDER]`.

Poller, worker and practice function of a build are started on this machine's processor by AWS's
runtime client with their layers mounted, against the local arena and the emulator: the poller
finds a match that an opponent waits in, the worker plays it to its end, and the services of the
other games answer the requests in events/. Says what each needs.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cardsharp.aws.sqs_queue import SqsQueue
from cardsharp.core.clock import SystemClock
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp.store.match_log import MatchRecord
from cardsharp_tools.build.execution_environment import (
    ExecutionEnvironment,
    InterpreterPaths,
    merge_layers,
)
from cardsharp_tools.build.sam_build import Build, read_build, sam_build
from cardsharp_tools.build.target import (
    RUNTIME_PYTHON,
    BuildTarget,
    find_python,
    native_target,
    print_flushed,
)
from cardsharp_tools.local_cloud.api_gateway_events import (
    EVENTS,
    is_expected_status,
    sample_requests,
)
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.lambda_events import Event, schedule_event, sqs_event
from cardsharp_tools.local_cloud.template_files import (
    dedicated_stack_game_names,
    service_resource_prefix,
)
from cardsharp_tools.local_play.opponent import (
    BOT_CREDENTIALS,
    OPPONENT_CREDENTIALS,
    start_steady_opponent,
)
from cardsharp_tools.local_server.arena_server import ArenaServer
from cardsharp_tools.machine_speed import slowdown_factor

MAX_INIT_TIME = timedelta(
    milliseconds=400
)  # with AWS's clients: only then it has a whole processor
TRACING_BYTES = 16 * 1024 * 1024  # what Lambda takes of a function's memory for tracing at most

MAX_ARTIFACT_MEMORY_BYTES = 128 * 1024 * 1024 - TRACING_BYTES
_CREDENTIALS_PARAMETER = "/artifact-run/arena"
_POLLER_TIMEOUT = timedelta(seconds=48)  # polls begin while 40 s remain: for 8 s, one answer's
_LONG_POLL_TIMEOUT = timedelta(seconds=2)  # how long the arena holds a poll here

_WORKER_TIMEOUT = timedelta(seconds=300)
_REQUEST_TIMEOUT = timedelta(seconds=29)
_WARM_CALL_COUNT = 5
_EXTRA_START_COUNT = 2
_LIST_EVENT_FILE = EVENTS / "viewer_list.json"


@dataclass(frozen=True, slots=True)
class FunctionMetrics:
    """Measured resources of a function: start, idle invocation and peak memory."""

    name: str
    init_cpu: timedelta
    first_cpu: timedelta
    peak_bytes: int
    warm_seconds: timedelta

    def __str__(self) -> str:
        milliseconds = timedelta(milliseconds=1)
        return (
            f"{self.name:19} init {self.init_cpu / milliseconds:4.0f} ms CPU, "
            f"first invocation {self.first_cpu / milliseconds:4.0f} ms CPU, "
            f"peak {self.peak_bytes / 1024 / 1024:5.1f} MB, "
            f"warm {self.warm_seconds / milliseconds:4.0f} ms"
        )


@dataclass(frozen=True, slots=True)
class ArtifactTestSetup:
    """Environment in which the built functions run in the test."""

    build: Build
    mounts: InterpreterPaths
    environment: dict[str, str]
    arena: ArenaServer
    queue: SqsQueue
    log: DynamoMatchLog
    tables: Mapping[str, str]
    folder: Path

    @contextmanager
    def open_function(self, name: str) -> Iterator[ExecutionEnvironment]:
        """Open a function's execution environment; its output goes to NAME.log."""
        log, environment = self.folder / f"{name}.log", {**self.environment}
        prefix = "Arena" if name == "Director" else name.removesuffix("Service")
        if name == "ViewerService":
            environment["CARDSHARP_PUBLIC"] = "yes"
        elif table := self.tables.get(f"{prefix}Table"):
            environment["CARDSHARP_STORE"] = f"dynamodb:{table}"
        try:
            with ExecutionEnvironment(self.build, name, self.mounts, environment, log) as sandbox:
                yield sandbox
        except CardsharpError as error:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
            raise ConfigError(f"{error}\n{tail}") from error

    def measure_start_cpu(self, name: str) -> timedelta:
        """Return the processor time of one more cold start."""
        with self.open_function(name) as sandbox:
            return sandbox.init_usage.cpu


@contextmanager
def start_artifact_test_setup(build: Build, python: Path) -> Iterator[ArtifactTestSetup]:
    """Start an arena, the emulator with table and queues, and an opponent."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-run-")))
        arena = stack.enter_context(ArenaServer(ArenaConfig(long_poll_timeout=_LONG_POLL_TIMEOUT)))
        emulator = stack.enter_context(Emulator())
        resources = emulator.create_resources()
        secret = json.dumps(dict(zip(("username", "password"), BOT_CREDENTIALS, strict=True)))
        emulator.client("ssm").put_parameter(
            Name=_CREDENTIALS_PARAMETER, Value=secret, Type="SecureString"
        )
        stack.enter_context(start_steady_opponent(arena.url, folder))
        around = {**emulator.environment, **resources.bot_settings(arena.url)}
        yield ArtifactTestSetup(
            build=build,
            mounts=merge_layers(build, python, folder),
            environment={**around, "CARDSHARP_SECRET_ID": _CREDENTIALS_PARAMETER},
            arena=arena,
            queue=SqsQueue(resources.queues["MatchQueue"], emulator.client("sqs")),
            log=DynamoMatchLog(
                resources.tables["Matches"], SystemClock(), emulator.client("dynamodb")
            ),
            tables=resources.tables,
            folder=folder,
        )


def run_all_functions(setup: ArtifactTestSetup) -> tuple[list[FunctionMetrics], MatchRecord]:
    """Run every function; return its metrics and the record of the played match."""
    match_id, timestamp = (
        setup.arena.create_match_and_get_id([BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]]),
        datetime.now(UTC),
    )
    # Then too little time is left to begin a poll: what remains is the cost of being started.
    started = timedelta(seconds=30)
    metrics = [
        _measure_function(setup, "Poller", [schedule_event(timestamp)], _POLLER_TIMEOUT, started)
    ]
    message = setup.queue.receive_message(timedelta(seconds=5))
    if message is None or match_id not in message.body or not setup.log.matches():
        raise ConfigError("The poller put no message about the match on the queue.")
    # The same message again: the match is finished, so one conditional write refuses it.
    metrics += [
        _measure_function(setup, "Worker", [sqs_event([message], timestamp)], _WORKER_TIMEOUT)
    ]
    events_by_function: dict[str, list[Event]] = {
        "Practice": [{}],
        "Director": [schedule_event(timestamp)],
        "ViewerService": [json.loads(_LIST_EVENT_FILE.read_text("utf-8"))],
        **{
            f"{service_resource_prefix(game)}Service": sample_requests(game)
            for game in dedicated_stack_game_names()
        },
    }
    metrics += [
        _measure_function(setup, name, events, _REQUEST_TIMEOUT)
        for name, events in events_by_function.items()
    ]
    record = setup.log.match(match_id)
    if record is None or record.outcome is None:
        raise ConfigError(f"The match log says that match {match_id} is not finished.")
    # The least of some starts: what more it took was the machine's.
    repeat_starts = [
        [setup.measure_start_cpu(function_metrics.name) for _ in range(_EXTRA_START_COUNT)]
        for function_metrics in metrics
    ]
    return [
        replace(function_metrics, init_cpu=min(function_metrics.init_cpu, *more))
        for function_metrics, more in zip(metrics, repeat_starts, strict=True)
    ], record


def _measure_function(
    setup: ArtifactTestSetup,
    name: str,
    events: Sequence[Event],
    timeout: timedelta,
    warm_timeout: timedelta | None = None,
) -> FunctionMetrics:
    """Measure a function: invoke it with these events in order, then warm with the last one.

    `warm_timeout` is the time limit of the warm calls if it differs from `timeout`.
    """
    with setup.open_function(name) as sandbox:
        first_duration, *_ = [_time_invocation(sandbox, event, timeout)[0] for event in events]
        calls = [
            _time_invocation(sandbox, events[-1], warm_timeout or timeout)[1]
            for _ in range(_WARM_CALL_COUNT)
        ]
        peak, usual = sandbox.resource_usage().peak_bytes, sorted(calls)[_WARM_CALL_COUNT // 2]
        return FunctionMetrics(name, sandbox.init_usage.cpu, first_duration, peak, usual)


def _time_invocation(
    sandbox: ExecutionEnvironment, event: Event, timeout: timedelta
) -> tuple[timedelta, timedelta]:
    """Return the processor time and the duration of an invocation.

    Raise `ConfigError` unless its response is a success.
    """
    clock, start_cpu = SystemClock(), sandbox.resource_usage().cpu
    began = clock.monotonic()
    response = sandbox.invoke(event, timeout)
    took = timedelta(seconds=clock.monotonic() - began)
    if isinstance(response, dict) and response.get("batchItemFailures"):
        raise ConfigError(f"The worker reports failures: {response}.")
    is_http = isinstance(response, dict) and "statusCode" in response
    if is_http and not is_expected_status(event, int(response["statusCode"])):
        raise ConfigError(f"A request was refused: {response}.")
    return sandbox.resource_usage().cpu - start_cpu, took


def main() -> None:
    """Test a build, or a new one, and print the figures; exit with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, help="a build, instead of a new one")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="cardsharp-native-") as folder:
            artifacts, python = _prepare_build(arguments.build, Path(folder))
            print_flushed("running every function; the poller listens for its least time ...")
            slow = slowdown_factor()
            with start_artifact_test_setup(artifacts, python) as prepared:
                metrics, record = run_all_functions(prepared)
    except CardsharpError as error:
        sys.exit(str(error))
    sys.exit(_print_report(metrics, record, max(slow, slowdown_factor())))


def _prepare_build(build_dir: Path | None, folder: Path) -> tuple[Build, Path]:
    """Return a build, and the interpreter that can run it."""
    python = find_python(RUNTIME_PYTHON)
    if python is not None:
        print_flushed("building ..." if build_dir is None else f"taking {build_dir} ...")
        return (read_build(build_dir) if build_dir else sam_build(folder)), python
    version = native_target().python
    print_flushed(f"Python {RUNTIME_PYTHON} is not installed. Building for {version} instead.")
    # Not that of our environment, whose packages would be there whatever the layers lack.
    base = Path(getattr(sys, "_base_executable", sys.executable))
    return sam_build(folder, BuildTarget(version)), base


def _print_report(metrics: list[FunctionMetrics], record: MatchRecord, slowdown: float) -> int:
    """Print the report; return 1 if a function misses its target.

    The target for the start is scaled to the speed of this machine.
    """
    for function_metrics in metrics:
        print_flushed(f"  {function_metrics}")
    result = "?" if record.outcome is None else record.outcome.get("result")
    print_flushed(f"  match {record.match_id} played to its end by the artifacts: {result}")
    init = MAX_INIT_TIME * slowdown
    if slowdown > 1:
        print_flushed(
            f"  this machine is now {slowdown:.1f} times as slow as the machine of the limits"
        )
    missed = [
        function_metrics.name
        for function_metrics in metrics
        if function_metrics.init_cpu > init
        or function_metrics.peak_bytes > MAX_ARTIFACT_MEMORY_BYTES
    ]
    if missed:
        aims = (
            f"{init / timedelta(milliseconds=1):.0f} ms or "
            f"{MAX_ARTIFACT_MEMORY_BYTES / 1024**2:.0f} MB"
        )
        print_flushed(f"Above the limit of {aims}: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    main()
