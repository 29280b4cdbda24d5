"""Run the built artifacts: `python -m workbench.operate.built [--build FOLDER]`.

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

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.ports import MatchRecord
from cardsharp.cloud.sqs import SqsQueue
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.errors import CardsharpError, ConfigError
from workbench.arena.server import ArenaServer
from workbench.build.sam import Build, read_build, sam_build
from workbench.build.sandbox import Mounts, Sandbox, mount
from workbench.build.target import RUNTIME_PYTHON, Target, find_python, say, this_machine
from workbench.cloud.emulator import Emulator
from workbench.cloud.events import Event, schedule_event, sqs_event
from workbench.cloud.http_events import EVENTS, is_served, sample_requests
from workbench.cloud.template import services
from workbench.machine import slowness
from workbench.stage.opponent import OPPONENT, US, steady_at

INIT_AIM = timedelta(milliseconds=400)  # with AWS's clients: only then it has a whole processor
TRACING = 16 * 1024 * 1024  # what Lambda takes of a function's memory for tracing at most

MEMORY_AIM = 128 * 1024 * 1024 - TRACING
_CREDENTIALS = "/artifact-run/arena"
_POLLER_TIME = timedelta(seconds=48)  # polls begin while 40 s remain: for 8 s, one answer's
_POLL = timedelta(seconds=2)  # how long the arena holds a poll here

_WORKER_TIME = timedelta(seconds=300)
_REQUEST_TIME = timedelta(seconds=29)
_WARM_CALLS = 5
_MORE_STARTS = 2
_LIST = EVENTS / "viewer_list.json"


@dataclass(frozen=True, slots=True)
class FunctionFigures:
    """What one function needed: to start, at its largest, and for an invocation with no work."""

    name: str
    init_cpu: timedelta
    first_cpu: timedelta
    peak_bytes: int
    warm: timedelta

    def __str__(self) -> str:
        milliseconds = timedelta(milliseconds=1)
        return (
            f"{self.name:19} init {self.init_cpu / milliseconds:4.0f} ms CPU, "
            f"first invocation {self.first_cpu / milliseconds:4.0f} ms CPU, "
            f"peak {self.peak_bytes / 1024 / 1024:5.1f} MB, "
            f"warm {self.warm / milliseconds:4.0f} ms"
        )


@dataclass(frozen=True, slots=True)
class BuiltScene:
    """Where the artifacts run."""

    build: Build
    mounts: Mounts
    environment: dict[str, str]
    arena: ArenaServer
    queue: SqsQueue
    log: DynamoLog
    tables: Mapping[str, str]
    folder: Path

    @contextmanager
    def function(self, name: str) -> Iterator[Sandbox]:
        """A function's execution environment; its output goes to NAME.log."""
        log, environment = self.folder / f"{name}.log", {**self.environment}
        game = "deadmansdraw" if name == "Director" else name.removesuffix("Service")
        if name == "viewerService":
            environment["CARDSHARP_PUBLIC"] = "yes"
        elif table := self.tables.get(f"{game}Table"):
            environment["CARDSHARP_STORE"] = f"dynamodb:{table}"
        try:
            with Sandbox(self.build, name, self.mounts, environment, log) as sandbox:
                yield sandbox
        except CardsharpError as error:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
            raise ConfigError(f"{error}\n{tail}") from error

    def started(self, name: str) -> timedelta:
        """The processor time of one more start."""
        with self.function(name) as sandbox:
            return sandbox.init.cpu


@contextmanager
def scene(build: Build, python: Path) -> Iterator[BuiltScene]:
    """The arena, the emulator with the template's table and queues, and an opponent at play."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-run-")))
        arena = stack.enter_context(ArenaServer(ArenaConfig(poll_timeout=_POLL)))
        emulator = stack.enter_context(Emulator())
        made = emulator.create()
        secret = json.dumps(dict(zip(("username", "password"), US, strict=True)))
        emulator.client("ssm").put_parameter(Name=_CREDENTIALS, Value=secret, Type="SecureString")
        stack.enter_context(steady_at(arena.url, folder))
        around = {**emulator.environment, **made.bot_at(arena.url)}
        yield BuiltScene(
            build=build,
            mounts=mount(build, python, folder),
            environment={**around, "CARDSHARP_SECRET_ID": _CREDENTIALS},
            arena=arena,
            queue=SqsQueue(made.queues["MatchQueue"], emulator.client("sqs")),
            log=DynamoLog(made.tables["Matches"], SystemClock(), emulator.client("dynamodb")),
            tables=made.tables,
            folder=folder,
        )


def play(scene: BuiltScene) -> tuple[list[FunctionFigures], MatchRecord]:
    """Have every function do its work; what each needed, and the record of the match played."""
    match_id, now = scene.arena.create_match([US[0], OPPONENT[0]]), datetime.now(UTC)
    # Then too little time is left to begin a poll: what remains is the cost of being started.
    started = timedelta(seconds=30)
    figures = [_measured(scene, "Poller", [schedule_event(now)], _POLLER_TIME, started)]
    message = scene.queue.receive(timedelta(seconds=5))
    if message is None or match_id not in message.body or not scene.log.matches():
        raise ConfigError("The poller put no message about the match on the queue.")
    # The same message again: the match is finished, so one conditional write refuses it.
    figures += [_measured(scene, "Worker", [sqs_event([message], now)], _WORKER_TIME)]
    asked: dict[str, list[Event]] = {
        "Practice": [{}],
        "Director": [schedule_event(now)],
        "viewerService": [json.loads(_LIST.read_text("utf-8"))],
        **{f"{game}Service": sample_requests(game) for game in services()},
    }
    figures += [_measured(scene, name, events, _REQUEST_TIME) for name, events in asked.items()]
    record = scene.log.match(match_id)
    if record is None or record.outcome is None:
        raise ConfigError(f"The match {match_id} is not finished in the match log.")
    # The least of some starts: what more it took was the machine's.
    again = [[scene.started(one.name) for _ in range(_MORE_STARTS)] for one in figures]
    return [
        replace(one, init_cpu=min(one.init_cpu, *more))
        for one, more in zip(figures, again, strict=True)
    ], record


def _measured(
    scene: BuiltScene,
    name: str,
    events: Sequence[Event],
    limit: timedelta,
    warm: timedelta | None = None,
) -> FunctionFigures:
    """What a function needs for these in their order; a warm invocation is the last of them again.

    It has the time of `warm` then, where that is another.
    """
    with scene.function(name) as sandbox:
        first, *_ = [_timed(sandbox, event, limit)[0] for event in events]
        calls = [_timed(sandbox, events[-1], warm or limit)[1] for _ in range(_WARM_CALLS)]
        peak, usual = sandbox.usage().peak_bytes, sorted(calls)[_WARM_CALLS // 2]
        return FunctionFigures(name, sandbox.init.cpu, first, peak, usual)


def _timed(sandbox: Sandbox, event: Event, timeout: timedelta) -> tuple[timedelta, timedelta]:
    """The processor time and the time that an invocation took; its answer must be a success."""
    clock, before = SystemClock(), sandbox.usage().cpu
    began = clock.monotonic()
    answer = sandbox.invoke(event, timeout)
    took = timedelta(seconds=clock.monotonic() - began)
    if isinstance(answer, dict) and answer.get("batchItemFailures"):
        raise ConfigError(f"The worker reports failures: {answer}.")
    asked = isinstance(answer, dict) and "statusCode" in answer
    if asked and not is_served(event, int(answer["statusCode"])):
        raise ConfigError(f"A request was refused: {answer}.")
    return sandbox.usage().cpu - before, took


def main() -> None:
    """Run a build, or make one first, and print the figures; exits with 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, help="a build, instead of a new one")
    given = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="cardsharp-native-") as folder:
            artifacts, python = _prepared(given.build, Path(folder))
            say("running every function; the poller listens for its least time ...")
            slow = slowness()
            with scene(artifacts, python) as prepared:
                figures, record = play(prepared)
    except CardsharpError as error:
        sys.exit(str(error))
    sys.exit(_report(figures, record, max(slow, slowness())))


def _prepared(given: Path | None, folder: Path) -> tuple[Build, Path]:
    """A build, and the interpreter to run it with."""
    python = find_python(RUNTIME_PYTHON)
    if python is not None:
        say("building ..." if given is None else f"taking {given} ...")
        return (read_build(given) if given else sam_build(folder)), python
    version = this_machine().python
    say(f"There is no Python {RUNTIME_PYTHON} here: built for {version} and run by it.")
    # Not that of our environment, whose packages would be there whatever the layers lack.
    base = Path(getattr(sys, "_base_executable", sys.executable))
    return sam_build(folder, Target(version)), base


def _report(figures: list[FunctionFigures], record: MatchRecord, slow: float) -> int:
    """Print everything; 1 where an aim is missed, that of the start as seconds are here now."""
    for one in figures:
        say(f"  {one}")
    result = "?" if record.outcome is None else record.outcome.get("result")
    say(f"  match {record.match_id} played to its end by the artifacts: {result}")
    init = INIT_AIM * slow
    if slow > 1:
        say(f"  this machine is {slow:.1f} times as slow just now as the one the aims are for")
    missed = [one.name for one in figures if one.init_cpu > init or one.peak_bytes > MEMORY_AIM]
    if missed:
        aims = f"{init / timedelta(milliseconds=1):.0f} ms or {MEMORY_AIM / 1024**2:.0f} MB"
        say(f"above {aims}: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    main()
