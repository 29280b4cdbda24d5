"""Metrics recorded from the real handlers on this machine, and what AWS itself would add.

The functions' own metrics are read from the lines that they print. What Lambda and SQS measure
(errors, queue depth, age) is taken from the invocations and the queue, by AWS's rules.
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path

import poller.app
import viewer.app
import web.app
import worker.app
from cardsharp.cloud.clock import SystemClock, utc_now
from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.ports import Message
from cardsharp.cloud.telemetry import meter, redirect
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.assembly import Assembly
from cardsharp.games import games
from support.cloud_benches import moto_client
from workbench.arena.server import ArenaServer
from workbench.build.target import ROOT
from workbench.cloud.events import (
    Event,
    Function,
    Invocation,
    LambdaHandler,
    invoke,
    schedule_event,
    sqs_event,
)
from workbench.cloud.samples import MetricKey, Sample, read_emf
from workbench.cloud.template import create_table
from workbench.stage.opponent import US
from workbench.stage.side import assembled, embedded_in
from workbench.stage.surroundings import environment

FUNCTIONS: dict[str, LambdaHandler] = {"Poller": poller.app.handler, "Worker": worker.app.handler}
GAMES = {
    game.name: game.service.load().store
    for game in games()
    if game.service is not None and any((ROOT / "events").glob(f"{game.name}_*.json"))
}
"""The games that the template has by name, and the setting where each keeps its matches."""

SERVICES = {**GAMES, "viewer": "CARDSHARP_STORE"}
TABLES = {"deadmansdraw": "deadmansdrawTable", "viewer": "Matches"}
"""The tables of those that in the cloud keep nothing elsewhere."""

LISTENING = timedelta(seconds=41)  # a second more than a poller needs to begin a poll at all


@dataclass
class Recorder:
    """The real handlers between an arena and an embedded cloud, and all that they measured."""

    arena: ArenaServer
    assembly: Assembly
    lines: io.StringIO
    broken: str = ""
    extra: list[Sample] = field(default_factory=list)

    @property
    def samples(self) -> list[Sample]:
        return [*read_emf(self.lines.getvalue().splitlines()), *self.extra]

    def listen(self) -> Invocation:
        """One tick of the schedule, cut to about a second of listening."""
        return self.call("Poller", schedule_event(datetime.now(UTC)), LISTENING)

    def work(self) -> Invocation | None:
        """What the queue mapping does with the next message, None if there is none."""
        message = self.assembly.queue.receive(timedelta(0))
        if message is None:
            return None
        invocation = self.deliver(message)
        self.assembly.queue.delete(message)
        return invocation

    def deliver(self, message: Message) -> Invocation:
        return self.call("Worker", sqs_event([message], datetime.now(UTC)), timedelta(minutes=5))

    def call(self, name: str, event: Event, timeout: timedelta) -> Invocation:
        """Invoke a function; Lambda counts its errors, and keeps a tick that failed."""
        function = Function(name, FUNCTIONS[name], timeout)
        done = invoke(function, event, function.context(SystemClock()))
        failed = done.error is not None
        self.note("AWS/Lambda", "Errors", {"FunctionName": name}, failed)
        self.note("AWS/Lambda", "Throttles", {"FunctionName": name}, 0)
        if name == "Poller":
            self.note("AWS/SQS", "NumberOfMessagesSent", {"QueueName": "PollerDeadLetters"}, failed)
        return done

    def serve(self, name: str) -> int:
        """Ask a service its first sample; API Gateway counts a failure as a 5xx."""
        # Who watches the arena needs no password then.
        told = {web.app.GAME: name, "CARDSHARP_PUBLIC": "yes"}
        handler = viewer.app.handler if name == "viewer" else web.app.handler
        with ExitStack() as stack:
            if name in TABLES:
                table = create_table(stack.enter_context(moto_client()), TABLES[name])
                place = "nowhere" if self.broken == name else table
                told[SERVICES[name]] = f"dynamodb:{place}"
            stack.enter_context(environment(told))
            event = json.loads(min((ROOT / "events").glob(f"{name}_*.json")).read_text())
            asked = Function(name, handler, timedelta(seconds=29))
            done = invoke(asked, event, asked.context(SystemClock()))
        answer = done.answer if isinstance(done.answer, dict) else {}
        status = int(answer.get("statusCode", HTTPStatus.INTERNAL_SERVER_ERROR))
        failed = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        self.note("AWS/ApiGateway", "5xx", {"ApiId": f"{name}Api"}, failed)
        self.note("AWS/Lambda", "Throttles", {"FunctionName": f"{name}Service"}, 0)
        return status

    def note_depth(self, queue: str, messages: int) -> None:
        name = "ApproximateNumberOfMessagesVisible"
        self.note("AWS/SQS", name, {"QueueName": queue}, messages)

    def note_queue(self, queue: MemoryQueue, age: timedelta) -> None:
        """What SQS tells of the match queue, whose oldest message was sent so long ago.

        A message in flight counts as old, as some sources have it, and never as visible.
        """
        in_flight, name = {"QueueName": "MatchQueue"}, "ApproximateNumberOfMessages"
        self.note("AWS/SQS", f"{name}Visible", in_flight, queue.visible)
        self.note("AWS/SQS", f"{name}NotVisible", in_flight, len(queue) - queue.visible)
        oldest = age.total_seconds() if len(queue) else 0
        self.note("AWS/SQS", "ApproximateAgeOfOldestMessage", in_flight, oldest)

    def note(self, namespace: str, name: str, dimensions: Mapping[str, str], value: float) -> None:
        identity = MetricKey(namespace, name, frozenset(dimensions.items()))
        self.extra.append(Sample(identity, datetime.now(UTC), value))


@contextmanager
def recorder(
    folder: Path,
    *,
    password: str = US[1],
    clock: Callable[[], datetime] = utc_now,
    broken: str = "",
) -> Iterator[Recorder]:
    """A recording; where the arena's `clock` is behind ours, we seem to be late.

    The service that is `broken` finds no table, and no database in its file.
    """
    lines = io.StringIO()
    with ExitStack() as stack:
        config = ArenaConfig(poll_timeout=timedelta(milliseconds=500), clock=clock)
        arena = stack.enter_context(ArenaServer(config))
        before = meter.stream
        redirect(lines)
        stack.callback(setattr, meter, "stream", before)
        variables = {
            "CARDSHARP_ARENA_URL": arena.url,
            "CARDSHARP_USER": US[0],
            "CARDSHARP_PASSWORD": password,
            "CARDSHARP_PACE_SECONDS": "0.3",
            "CARDSHARP_STRATEGY": "draw-3",
            **embedded_in(folder / "matches.db"),
            **{store: f"sqlite:{folder / game}.db" for game, store in GAMES.items()},
        }
        if broken:
            (folder / f"{broken}.db").write_text("this is no database")
        web.app.api.cache_clear()
        stack.callback(web.app.api.cache_clear)
        yield Recorder(arena, stack.enter_context(assembled(variables)), lines, broken)
