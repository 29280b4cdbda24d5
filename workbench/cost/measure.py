"""What a match, a minute of listening and a look at a match's pages use, measured on this machine.

The real handlers run against the local arena and the emulator, whose table reckons units by
AWS's rules. Written to measured.json by `cardsharp cost --measure`.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from math import ceil
from pathlib import Path
from unittest.mock import patch

import worker.app
from cardsharp.cloud import secrets, switches
from cardsharp.cloud.adapters import build_relay
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.codec import encode, pack
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.messages import LookMessage
from cardsharp.cloud.metrics import ALARMED
from cardsharp.cloud.ports import Message, MoveRecord
from cardsharp.cloud.telemetry import meter
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.players import ADMIN
from cardsharp.deadmansdraw.assembly import Assembly
from cardsharp.errors import CardsharpError
from cardsharp.viewer.assembly import EVERYTHING, OWNER, PARAMETER, STORE, pass_to, viewer_of
from cardsharp.web.asgi import handler_of
from cardsharp.web.events import Handler
from workbench.arena.server import ArenaServer
from workbench.cloud.emulator import Emulator
from workbench.cloud.events import Function, sqs_event
from workbench.cloud.http_events import WireRequest, http_event
from workbench.cloud.samples import read_emf
from workbench.cloud.template import TEMPLATE, create_table, load_template
from workbench.cost.games import measure_contest
from workbench.cost.load import TIMING
from workbench.cost.meter import AwsCounts, UseMeter
from workbench.cost.usage import PLATFORM_BYTES, CloudUse, Measured, PagesUse
from workbench.lab.matches import keep
from workbench.lab.plan import Plan
from workbench.stage.opponent import OPPONENT, US, steady_at
from workbench.stage.side import assembled
from workbench.stage.surroundings import environment

_POLL = timedelta(seconds=3)  # of the arena here; two of them stand for a tick's two of 30 s

_TIME = timedelta(minutes=5)

_LOOKS = 21
_SHARE = max(1, switches.KEPT // TIMING.between)  # of looks one finds settings to be read
_ITEM_BYTES = 100  # what DynamoDB bills of each item besides, for its index


@dataclass(frozen=True, slots=True)
class Bench:
    """Where it is measured."""

    arena: ArenaServer
    assembly: Assembly
    emulator: Emulator
    table: str
    uses: UseMeter

    def used(self, work: Callable[[], object]) -> AwsCounts:
        """What some work used, and the "milliseconds" that it lasted."""
        before, began = self.uses.counts, time.monotonic()
        work()
        meter.flush()
        counts = self.uses.since(before)
        counts["milliseconds"] = round((time.monotonic() - began) * 1000)
        return counts

    def looked(self, work: Callable[["Bench"], None]) -> CloudUse:
        """What a look used, the mean of some by a process that is warm."""
        work(self)
        began = time.thread_time()
        counts = AwsCounts()
        for number in range(_LOOKS):
            with _long_after() if number % _SHARE == 0 else nullcontext():
                counts.update(self.used(lambda: work(self)))
        counts["microseconds"] = round((time.thread_time() - began) * 1e6)
        counts["log bytes"] += _LOOKS * PLATFORM_BYTES
        return counts.use(_LOOKS)

    def stored_bytes(self) -> int:
        """The bytes of all items in the table, as DynamoDB reckons them: names and values."""
        scan = self.emulator.client("dynamodb").get_paginator("scan")
        items = [one for page in scan.paginate(TableName=self.table) for one in page["Items"]]
        told = [part for item in items for part in item]
        told += [value for item in items for typed in item.values() for value in typed.values()]
        sizes = (len(one if isinstance(one, bytes) else str(one).encode()) for one in told)
        return len(items) * _ITEM_BYTES + sum(sizes)


def measure(matches: int = 10) -> Measured:
    """The means of some matches, of listening and looking; raises `CardsharpError`."""
    with bench() as at:
        idle, played = at.used(lambda: _listen(at)), AwsCounts()
        for _ in range(matches):
            with _long_after():
                played.update(at.used(lambda: _play(at)))
        stored, look, tick = at.stored_bytes(), at.looked(_look_by_message), at.looked(_rest)
        busy = at.used(lambda: _look_while_running(at))
        metrics = {one.metric for one in read_emf(at.uses.logged.getvalue().splitlines())}
        renewals = 1 / at.assembly.settings.renew.total_seconds()
    poller = load_template(TEMPLATE)["Resources"]["Poller"]["Properties"]
    looks = 1 / float(poller["Environment"]["Variables"]["CARDSHARP_WATCH_SECONDS"])
    renewed = round(played["milliseconds"] / 1000 * renewals)
    return Measured(
        date=datetime.now(UTC).date(),
        matches=matches,
        # Without what goes by their time: renewals of the lease.
        match_write_units=round((played["write units"] - renewed) / matches),
        match_read_units=round(played["read units"] / matches, 1),
        match_queue_requests=round(played.of("sqs") / matches, 1),
        match_log_bytes=round(played["log bytes"] / matches + PLATFORM_BYTES),
        match_stored_bytes=round(stored / matches),
        renewals_per_second=renewals,
        idle_minute_read_units=idle["read units"],
        idle_minute_log_bytes=idle["log bytes"] + PLATFORM_BYTES,
        busy_minute_read_units=busy["read units"] * looks * 60,
        metrics=len(metrics),
        alarmed_metrics=len({one.name for one in metrics} & ALARMED),
        look=look,
        tick=tick,
        contest=measure_contest(),
        pages=measure_pages(),
    )


@contextmanager
def bench() -> Iterator[Bench]:
    """An arena, an opponent, and our handlers on the emulator's table and queue."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardsharp-cost-")))
        arena = stack.enter_context(ArenaServer(ArenaConfig(poll_timeout=_POLL)))
        uses = stack.enter_context(UseMeter())
        emulator = stack.enter_context(Emulator())
        made = emulator.create()
        stack.enter_context(steady_at(arena.url, folder))
        variables = {
            **emulator.environment,
            **made.bot_at(arena.url),
            "CARDSHARP_USER": US[0],
            "CARDSHARP_PASSWORD": US[1],
        }
        assembly = stack.enter_context(assembled(variables))
        yield Bench(arena, assembly, emulator, made.tables["Matches"], uses)


def _long_after() -> AbstractContextManager[object]:
    """As if what an operator has set was read long ago."""
    return patch.object(switches, "KEPT", timedelta(0))


def _play(at: Bench) -> None:
    """Announce a match as the poller does, and have it played as the queue mapping does."""
    match_id = at.arena.create_match([US[0], OPPONENT[0]])
    at.assembly.offering.offer_one(match_id)
    message = at.assembly.queue.receive(timedelta(seconds=5))
    if message is None:
        raise CardsharpError(f"The match {match_id} did not come out of the queue.")
    context = Function("worker", worker.app.handler, _TIME).context(SystemClock())
    answer = worker.app.handler(sqs_event([message], datetime.now(UTC)), context)
    if answer["batchItemFailures"]:
        raise CardsharpError(f"The match {match_id} was not played to its end.")
    at.assembly.queue.delete(message)


def _listen(at: Bench) -> None:
    """Listen to an arena in which nothing happens, for two polls: a tick of the poller."""
    left = iter([_TIME, _TIME])
    with at.assembly.scout() as scout:
        scout.listen(lambda: next(left, timedelta(0)))


def _look_by_message(_at: Bench) -> None:
    """Have the worker look at the arena once, as a message says that it is due."""
    now = datetime.now(UTC)
    body = LookMessage(look=0).body
    context = Function("worker", worker.app.handler, _TIME).context(SystemClock())
    worker.app.handler(sqs_event([Message(body, "look", "look", 1, now)], now), context)


def _rest(at: Bench) -> None:
    """Start the poller of a stack with Listening=looks, while nothing happens."""
    with at.assembly.scout() as scout:
        scout.post.quiet = scout.post.looks = True
        scout.listen(lambda: _TIME)


def _look_while_running(at: Bench) -> None:
    """Look once for lone matches and a successor, as a waiting poller, while one is attended."""
    lease = at.assembly.log.take("running", "somebody", _TIME)
    at.assembly.offering.offer()
    build_relay(at.assembly.settings.store).newest()
    if lease is not None:
        at.assembly.log.release(lease)


# --- pages ---------------------------------------------------------------------------------------


_WORD = "a password for measuring"
_NAME = "/cost/viewer"
_LIVE = "live"
_UNIT = 4096  # bytes of a read unit

_VIEW = ("/matches/{}", "/matches/{}/steps", "/matches/{}/analysis")
"""What a browser asks for that opens a match; all else it keeps for a year."""


@dataclass(frozen=True, slots=True)
class _Pages:
    """A match log, the handler of its pages, and what counts."""

    log: DynamoLog
    handler: Handler
    uses: UseMeter

    def used(self, *targets: str, moves: Sequence[MoveRecord] = ()) -> AwsCounts:
        """The sum of answers to who knows the password; `moves` are read once, by their sizes."""
        now = datetime.now(UTC)
        cookie = ("cookie", f"{OWNER}={pass_to(EVERYTHING, now + _TIME, _WORD)}")
        function = Function("viewer", lambda *_: None, timedelta(seconds=29))
        before, began = self.uses.counts, time.process_time()
        for target in targets:
            event = http_event(WireRequest("GET", target, (cookie,)), now)
            status = self.handler(event, function.context(SystemClock()))["statusCode"]
            if status != HTTPStatus.OK:
                raise CardsharpError(f"{target} was answered {status}.")
        counts = self.uses.since(before)
        counts["requests"] = len(targets)
        counts["microseconds"] = round((time.process_time() - began) * 1e6)
        bodies = (body for move in moves for body in (move.intent, move.facts) if body is not None)
        size = sum(len(pack(encode(body))) for body in bodies)  # as the table keeps them
        counts["read units"] += max(0, ceil(size / _UNIT) - 1)
        return counts


def measure_pages() -> PagesUse:
    """A match opened, and one watched live, by a warm function; raises `CardsharpError`."""
    with _pages() as pages:
        plan = Plan(first="captain", second="steady", pairs=1)
        (played,) = keep(plan, [(0, 0)], "cost", datetime.now(UTC), pages.log)
        moves = pages.log.moves(played)
        pages.used("/matches")  # connections and templates
        view = pages.used(*(one.format(played) for one in _VIEW), moves=moves).use(1)
        lease = pages.log.take(_LIVE, "cost", _TIME, {"names": ["a", "b"], "players": ["a", "b"]})
        if lease is None:
            raise CardsharpError("The match cannot be played once more.")
        news, nothing = AwsCounts(), AwsCounts()
        for number, move in enumerate(moves):
            if move.intent is not None:
                pages.log.intend(lease, move.sequence, move.intent)
            pages.log.record(lease, {move.sequence: move.facts or {}})
            steps = f"/matches/{_LIVE}/steps?wait=1&from="
            news.update(pages.used(f"{steps}{number}", moves=moves[: number + 1]))
            nothing.update(pages.used(f"{steps}{number + 1}"))
    number = len(moves)
    return PagesUse(moves=number, view=view, news=news.use(number), nothing=nothing.use(number))


@contextmanager
def _pages() -> Iterator[_Pages]:
    with Emulator() as emulator, UseMeter() as uses, environment(emulator.environment):
        secret = json.dumps({"username": ADMIN, "password": _WORD})
        emulator.client("ssm").put_parameter(Name=_NAME, Value=secret, Type="SecureString")
        table = create_table(emulator.client("dynamodb"), "Matches")
        secrets.provider.cache_clear()
        shown = viewer_of({STORE: f"dynamodb:{table}", PARAMETER: _NAME})
        log = DynamoLog(table, SystemClock(), emulator.client("dynamodb"))
        yield _Pages(log, handler_of(shown), uses)
        secrets.provider.cache_clear()


def write_measured(measured: Measured, path: Path) -> None:
    """Write the figures to a file that `load_measured` reads."""
    path.write_text(f"{measured.model_dump_json(indent=2)}\n", encoding="utf-8")
