"""Measured usage of a match, a minute of polling and a view of a match's pages on this machine.

The real handlers run against the local arena and the emulator, whose table counts units by
AWS's rules. `cardsharp cost --measure` writes the result to measured.json.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from math import ceil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import worker.app
from cardsharp.aws import ssm_credentials
from cardsharp.aws.telemetry import metrics_recorder
from cardsharp.bot.bootstrap import build_poller_generations
from cardsharp.bot.control import runtime_settings
from cardsharp.core.clock import SystemClock
from cardsharp.core.metrics import ALARM_METRICS
from cardsharp.errors import CardsharpError
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import ArenaBotDependencies
from cardsharp.server.access_gate import (
    ALL_MATCHES,
    OWNER_COOKIE,
    PASSWORD_SETTING,
    STORE_SETTING,
    build_pages,
    sign_access_token,
)
from cardsharp.server.asgi_service import asgi_handler
from cardsharp.server.gateway_events import LambdaHandler
from cardsharp.store.codec import encode
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp.store.match_log import MoveRecord
from cardsharp_tools.costs.aws_meter import AwsCounts, AwsMeter
from cardsharp_tools.costs.game_costs import measure_arena
from cardsharp_tools.costs.usage import PLATFORM_LOG_BYTES, MeasuredUsage, ViewerUsage
from cardsharp_tools.lab.match_runner import store_matches
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, to_event
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.lambda_events import LambdaFunction, sqs_event
from cardsharp_tools.local_cloud.metric_samples import read_emf_samples
from cardsharp_tools.local_cloud.template_files import TEMPLATE, create_table, load_template
from cardsharp_tools.local_play.bot_runtime import open_assembly
from cardsharp_tools.local_play.handler_environment import settings_environment
from cardsharp_tools.local_play.opponent import (
    BOT_CREDENTIALS,
    OPPONENT_CREDENTIALS,
    start_steady_opponent,
)
from cardsharp_tools.local_server.arena_server import ArenaServer

_POLL = timedelta(seconds=3)  # of the arena here; two of them stand for a tick's two of 30 s

_TIME = timedelta(minutes=5)

_ITEM_BYTES = 100  # what DynamoDB bills of each item besides, for its index


@dataclass(frozen=True, slots=True)
class MeasurementSetup:
    """Setup for measuring: arena, opponent, handlers and emulator."""

    arena: ArenaServer
    assembly: ArenaBotDependencies
    emulator: Emulator
    table: str
    counters: AwsMeter

    def measure(self, action: Callable[[], object]) -> AwsCounts:
        """Return the usage of an action, including its duration as "milliseconds"."""
        start_counts, began = self.counters.counts, time.monotonic()
        action()
        metrics_recorder.flush()
        counts = self.counters.since(start_counts)
        counts["milliseconds"] = round((time.monotonic() - began) * 1000)
        return counts

    def stored_bytes(self) -> int:
        """The bytes of all items in the table, as DynamoDB reckons them: names and values."""
        scan = self.emulator.client("dynamodb").get_paginator("scan")
        items = [item for page in scan.paginate(TableName=self.table) for item in page["Items"]]
        return sum(_ITEM_BYTES + _size({"M": item}) for item in items)


def _size(attribute: Mapping[str, Any]) -> int:
    """The bytes of an attribute's value, about as DynamoDB counts them."""
    ((kind, value),) = attribute.items()
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + _size(member) for name, member in value.items())
    if kind == "L":
        return 3 + sum(1 + _size(element) for element in value)
    return len(value if isinstance(value, bytes) else str(value).encode())


def measure(matches: int = 10) -> MeasuredUsage:
    """The means of some matches, of listening and looking; raises `CardsharpError`."""
    with measurement_setup() as at:
        idle, played = at.measure(lambda: _listen(at)), AwsCounts()
        for _ in range(matches):
            with _expired_settings_cache():
                played.update(at.measure(lambda: _play(at)))
        stored = at.stored_bytes()
        busy = at.measure(lambda: _look_while_running(at))
        metrics = {
            sample.metric for sample in read_emf_samples(at.counters.logged.getvalue().splitlines())
        }
        renewals = 1 / at.assembly.settings.renew_interval.total_seconds()
    poller = load_template(TEMPLATE)["Resources"]["Poller"]["Properties"]
    looks = 1 / float(poller["Environment"]["Variables"]["CARDSHARP_WATCH_SECONDS"])
    renewed = round(played["milliseconds"] / 1000 * renewals)
    return MeasuredUsage(
        date=datetime.now(UTC).date(),
        matches=matches,
        # Without what goes by their time: renewals of the lease.
        match_write_units=round((played["write units"] - renewed) / matches),
        match_read_units=round(played["read units"] / matches, 1),
        match_queue_requests=round(played.count_for("sqs") / matches, 1),
        match_log_bytes=round(played["log bytes"] / matches + PLATFORM_LOG_BYTES),
        match_stored_bytes=round(stored / matches),
        renewals_per_second=renewals,
        idle_minute_read_units=idle["read units"],
        idle_minute_log_bytes=idle["log bytes"] + PLATFORM_LOG_BYTES,
        busy_minute_read_units=busy["read units"] * looks * 60,
        metrics=len(metrics),
        alarmed_metrics=len({metric.name for metric in metrics} & ALARM_METRICS),
        contest=measure_arena(),
        pages=measure_viewer_pages(),
    )


@contextmanager
def measurement_setup() -> Iterator[MeasurementSetup]:
    """An arena, an opponent, and our handlers on the emulator's table and queue."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-cost-")))
        arena = stack.enter_context(ArenaServer(ArenaConfig(long_poll_timeout=_POLL)))
        uses = stack.enter_context(AwsMeter())
        emulator = stack.enter_context(Emulator())
        resources = emulator.create_resources()
        stack.enter_context(start_steady_opponent(arena.url, folder))
        variables = {
            **emulator.environment,
            **resources.bot_settings(arena.url),
            "CARDSHARP_USER": BOT_CREDENTIALS[0],
            "CARDSHARP_PASSWORD": BOT_CREDENTIALS[1],
        }
        assembly = stack.enter_context(open_assembly(variables))
        yield MeasurementSetup(arena, assembly, emulator, resources.tables["Matches"], uses)


def _expired_settings_cache() -> AbstractContextManager[object]:
    """Simulate that an operator's settings were read long ago, so that they are read again."""
    return patch.object(runtime_settings, "CACHE_TTL", timedelta(0))


def _play(at: MeasurementSetup) -> None:
    """Announce a match as the poller does, and have it played as the queue mapping does."""
    match_id = at.arena.create_match([BOT_CREDENTIALS[0], OPPONENT_CREDENTIALS[0]])
    at.assembly.dispatcher.dispatch(match_id)
    message = at.assembly.queue.receive(timedelta(seconds=5))
    if message is None:
        raise CardsharpError(f"The match {match_id} did not come out of the queue.")
    context = LambdaFunction("worker", worker.app.handler, _TIME).context(SystemClock())
    answer = worker.app.handler(sqs_event([message], datetime.now(UTC)), context)
    if answer["batchItemFailures"]:
        raise CardsharpError(f"The match {match_id} was not played to its end.")
    at.assembly.queue.delete(message)


def _listen(at: MeasurementSetup) -> None:
    """Listen to an arena in which nothing happens, for two polls: a tick of the poller."""
    tick_times = iter([_TIME, _TIME])
    with at.assembly.build_poller() as poller:
        poller.run(lambda: next(tick_times, timedelta(0)))


def _look_while_running(at: MeasurementSetup) -> None:
    """Look once for lone matches and a successor, as a waiting poller, while one is attended."""
    lease = at.assembly.match_log.acquire_lease("running", "somebody", _TIME)
    at.assembly.dispatcher.dispatch_unattended()
    build_poller_generations(at.assembly.settings.store).latest_generation()
    if lease is not None:
        at.assembly.match_log.release_lease(lease)


# --- pages ---------------------------------------------------------------------------------------


_PASSWORD = "a password for measuring"  # noqa: S105 - a made-up one
_NAME = "/cost/viewer"
_LIVE = "live"
_UNIT = 4096  # bytes of a read unit

_VIEW = ("/matches/{}", "/matches/{}/steps", "/matches/{}/analysis")
"""Paths that a browser requests to open a match; it caches everything else for a year."""


@dataclass(frozen=True, slots=True)
class _Pages:
    """A match log, the handler of its pages, and what counts."""

    log: DynamoMatchLog
    handler: LambdaHandler
    uses: AwsMeter

    def used(self, *targets: str, moves: Sequence[MoveRecord] = ()) -> AwsCounts:
        """Return the usage of requests by an owner of the pages.

        The read units of `moves` are added by their stored size, as one read.
        """
        current_time = datetime.now(UTC)
        cookie = (
            "cookie",
            f"{OWNER_COOKIE}={sign_access_token(ALL_MATCHES, current_time + _TIME, _PASSWORD)}",
        )
        function = LambdaFunction("viewer", lambda *_: None, timedelta(seconds=29))
        start_counts, began = self.uses.counts, time.process_time()
        for target in targets:
            event = to_event(HttpRequest("GET", target, (cookie,)), current_time)
            status = self.handler(event, function.context(SystemClock()))["statusCode"]
            if status != HTTPStatus.OK:
                raise CardsharpError(f"{target} was answered {status}.")
        counts = self.uses.since(start_counts)
        counts["requests"] = len(targets)
        counts["microseconds"] = round((time.process_time() - began) * 1e6)
        bodies = (body for move in moves for body in (move.intent, move.facts) if body is not None)
        size = sum(len(encode(body)) for body in bodies)  # about what the table keeps
        counts["read units"] += max(0, ceil(size / _UNIT) - 1)
        return counts


def measure_viewer_pages() -> ViewerUsage:
    """A match opened, and one watched live, by a warm function; raises `CardsharpError`."""
    with _pages() as pages:
        plan = DuelPlan(first="captain", second="steady", pairs=1)
        (played,) = store_matches(plan, [(0, 0)], "cost", datetime.now(UTC), pages.log)
        moves = pages.log.moves(played)
        pages.used("/matches")  # connections and templates
        view = pages.used(*(target.format(played) for target in _VIEW), moves=moves).average(1)
        lease = pages.log.acquire_lease(
            _LIVE, "cost", _TIME, {"names": ["a", "b"], "players": ["a", "b"]}
        )
        if lease is None:
            raise CardsharpError("The match cannot be played once more.")
        news, nothing = AwsCounts(), AwsCounts()
        for number, move in enumerate(moves):
            if move.intent is not None:
                pages.log.write_intent(lease, move.sequence, move.intent)
            pages.log.write_facts(lease, {move.sequence: move.facts or {}})
            steps = f"/matches/{_LIVE}/steps?wait=1&from="
            news.update(pages.used(f"{steps}{number}", moves=moves[: number + 1]))
            nothing.update(pages.used(f"{steps}{number + 1}"))
    number = len(moves)
    return ViewerUsage(
        moves=number, view=view, news=news.average(number), nothing=nothing.average(number)
    )


@contextmanager
def _pages() -> Iterator[_Pages]:
    with Emulator() as emulator, AwsMeter() as uses, settings_environment(emulator.environment):
        secret = json.dumps({"username": ADMIN, "password": _PASSWORD})
        emulator.client("ssm").put_parameter(Name=_NAME, Value=secret, Type="SecureString")
        table = create_table(emulator.client("dynamodb"), "Matches")
        ssm_credentials.ssm_provider.cache_clear()
        pages_app = build_pages({STORE_SETTING: f"dynamodb:{table}", PASSWORD_SETTING: _NAME})
        log = DynamoMatchLog(table, SystemClock(), emulator.client("dynamodb"))
        yield _Pages(log, asgi_handler(pages_app), uses)
        ssm_credentials.ssm_provider.cache_clear()


def write_measured(measured: MeasuredUsage, path: Path) -> None:
    """Write the figures to a file that `load_measured` reads."""
    path.write_text(f"{measured.model_dump_json(indent=2)}\n", encoding="utf-8")
