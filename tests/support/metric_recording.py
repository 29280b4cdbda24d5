"""Metrics of the real handlers on this machine, and the metrics that AWS would add.

The functions' metrics are read from the lines that they print. The metrics of Lambda and
SQS (errors, queue depth, age) are derived from the invocations and the queue, by AWS's
rules.
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path

import game_api.app
import pages.app
import poller.app
import worker.app
from cardsharp.aws.telemetry import metrics_recorder, redirect_logs_and_metrics
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.core.clock import SystemClock, utc_now
from cardsharp.core.queue import Message
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import ArenaBotDependencies
from cardsharp.play.catalog import all_games
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.local_cloud.lambda_events import (
    Event,
    InvocationResult,
    LambdaFunction,
    LambdaHandler,
    invoke,
    schedule_event,
    sqs_event,
)
from cardsharp_tools.local_cloud.metric_samples import MetricKey, MetricSample, read_emf_samples
from cardsharp_tools.local_cloud.template_files import create_table, service_resource_prefix
from cardsharp_tools.local_play.bot_runtime import (
    in_process_backend_settings,
    open_bot_dependencies,
)
from cardsharp_tools.local_play.handler_environment import override_settings_environment
from cardsharp_tools.local_play.opponent import BOT_CREDENTIALS
from cardsharp_tools.local_server.arena_server import ArenaServer
from support.store_fixtures import moto_client

HANDLERS: dict[str, LambdaHandler] = {"Poller": poller.app.handler, "Worker": worker.app.handler}
STORE_SETTINGS_BY_GAME = {
    game.name: game.http_service.load().store_setting
    for game in all_games()
    if game.http_service is not None
    and any((REPOSITORY_ROOT / "events").glob(f"{game.name}_*.json"))
}
"""The games with a service of their own, and the setting where each keeps its matches."""

STORE_SETTINGS_BY_SERVICE = {**STORE_SETTINGS_BY_GAME, "viewer": "CARDSHARP_STORE"}
TABLES = {"deadmansdraw": "ArenaTable", "viewer": "Matches"}
"""The tables of those that in the cloud keep nothing elsewhere."""

POLLER_TIMEOUT = timedelta(seconds=41)  # a second more than a poller needs to begin a poll at all


@dataclass
class MetricRecorder:
    """Recorder of all metrics of the real handlers, at an arena and an embedded cloud."""

    arena: ArenaServer
    dependencies: ArenaBotDependencies
    log_output: io.StringIO
    broken_service: str = ""
    aws_samples: list[MetricSample] = field(default_factory=list)

    @property
    def samples(self) -> list[MetricSample]:
        return [*read_emf_samples(self.log_output.getvalue().splitlines()), *self.aws_samples]

    def run_poller(self) -> InvocationResult:
        """Invoke the poller once, with about a second for polling."""
        return self.invoke_function("Poller", schedule_event(datetime.now(UTC)), POLLER_TIMEOUT)

    def process_next_message(self) -> InvocationResult | None:
        """Invoke the worker with the next message; return None if there is none."""
        message = self.dependencies.queue.receive_message(timedelta(0))
        if message is None:
            return None
        invocation = self.invoke_worker(message)
        self.dependencies.queue.delete(message)
        return invocation

    def invoke_worker(self, message: Message) -> InvocationResult:
        return self.invoke_function(
            "Worker", sqs_event([message], datetime.now(UTC)), timedelta(minutes=5)
        )

    def invoke_function(self, name: str, event: Event, timeout: timedelta) -> InvocationResult:
        """Invoke a function, and record its errors; a failed schedule event is a dead letter."""
        function = LambdaFunction(name, HANDLERS[name], timeout)
        result = invoke(function, event, function.context(SystemClock()))
        has_error = result.error is not None
        self.record("AWS/Lambda", "Errors", {"FunctionName": name}, has_error)
        self.record("AWS/Lambda", "Throttles", {"FunctionName": name}, 0)
        if name == "Poller":
            self.record(
                "AWS/SQS", "NumberOfMessagesSent", {"QueueName": "PollerDeadLetters"}, has_error
            )
        return result

    def call_service(self, name: str) -> int:
        """Send a service its first sample event; a failure is recorded as a 5xx of API Gateway."""
        # Who watches the arena needs no password then.
        variables = {game_api.app.GAME_SETTING: name, "CARDSHARP_PUBLIC": "yes"}
        handler = pages.app.handler if name == "viewer" else game_api.app.handler
        with ExitStack() as stack:
            if name in TABLES:
                table = create_table(stack.enter_context(moto_client()), TABLES[name])
                table_name = "nowhere" if self.broken_service == name else table
                variables[STORE_SETTINGS_BY_SERVICE[name]] = f"dynamodb:{table_name}"
            stack.enter_context(override_settings_environment(variables))
            event = json.loads(min((REPOSITORY_ROOT / "events").glob(f"{name}_*.json")).read_text())
            function = LambdaFunction(name, handler, timedelta(seconds=29))
            result = invoke(function, event, function.context(SystemClock()))
        response = result.response if isinstance(result.response, dict) else {}
        status = int(response.get("statusCode", HTTPStatus.INTERNAL_SERVER_ERROR))
        failed = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        self.record(
            "AWS/ApiGateway", "5xx", {"ApiId": f"{service_resource_prefix(name)}Api"}, failed
        )
        self.record(
            "AWS/Lambda",
            "Throttles",
            {"FunctionName": f"{service_resource_prefix(name)}Service"},
            0,
        )
        return status

    def record_queue_depth(self, queue: str, messages: int) -> None:
        name = "ApproximateNumberOfMessagesVisible"
        self.record("AWS/SQS", name, {"QueueName": queue}, messages)

    def record_queue_age(self, queue: MemoryQueue, age: timedelta) -> None:
        """Record SQS's metrics of the match queue, whose oldest message is of that age.

        A message in flight counts for the age, as some sources say, but never as visible.
        """
        dimensions, name = {"QueueName": "MatchQueue"}, "ApproximateNumberOfMessages"
        self.record("AWS/SQS", f"{name}Visible", dimensions, queue.visible_count)
        self.record("AWS/SQS", f"{name}NotVisible", dimensions, len(queue) - queue.visible_count)
        max_age = age.total_seconds() if len(queue) else 0
        self.record("AWS/SQS", "ApproximateAgeOfOldestMessage", dimensions, max_age)

    def record(
        self, namespace: str, name: str, dimensions: Mapping[str, str], value: float
    ) -> None:
        identity = MetricKey(namespace, name, frozenset(dimensions.items()))
        self.aws_samples.append(MetricSample(identity, datetime.now(UTC), value))


@contextmanager
def metric_recorder(
    folder: Path,
    *,
    password: str = BOT_CREDENTIALS[1],
    clock: Callable[[], datetime] = utc_now,
    broken: str = "",
) -> Iterator[MetricRecorder]:
    """Yield a recorder; if the arena's `clock` is behind ours, requests seem late.

    The service named `broken` has no table, and no valid database in its file.
    """
    lines = io.StringIO()
    with ExitStack() as stack:
        config = ArenaConfig(long_poll_timeout=timedelta(milliseconds=500), clock=clock)
        arena = stack.enter_context(ArenaServer(config))
        previous_stream = metrics_recorder.stream
        redirect_logs_and_metrics(lines)
        stack.callback(setattr, metrics_recorder, "stream", previous_stream)
        variables = {
            "CARDSHARP_ARENA_URL": arena.url,
            "CARDSHARP_USER": BOT_CREDENTIALS[0],
            "CARDSHARP_PASSWORD": password,
            "CARDSHARP_PACE_SECONDS": "0.3",
            "CARDSHARP_STRATEGY": "draw-3",
            **in_process_backend_settings(folder / "matches.db"),
            **{
                store: f"sqlite:{folder / game}.db"
                for game, store in STORE_SETTINGS_BY_GAME.items()
            },
        }
        if broken:
            (folder / f"{broken}.db").write_text("this is no database")
        game_api.app.build_handler.cache_clear()
        stack.callback(game_api.app.build_handler.cache_clear)
        yield MetricRecorder(
            arena, stack.enter_context(open_bot_dependencies(variables)), lines, broken
        )
