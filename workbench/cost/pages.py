"""What looking at the pages of a deployed match log uses; a part of `cardsharp cost --measure`.

The real handler answers, at the emulator's table, which reckons units by AWS's rules.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from math import ceil
from statistics import mean

from cardsharp.cloud import secrets
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.codec import encode, pack
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.ports import MoveRecord
from cardsharp.errors import CardsharpError
from cardsharp.viewer.assembly import EVERYTHING, OWNER, PARAMETER, STORE, pass_to, viewer_of
from cardsharp.web.asgi import handler_of
from cardsharp.web.events import Handler
from workbench.cloud.emulator import Emulator
from workbench.cloud.events import Function
from workbench.cloud.http_events import WireRequest, http_event
from workbench.cloud.template import create_table
from workbench.cost.meter import UseMeter
from workbench.cost.usage import CloudUse, PagesUse
from workbench.lab.matches import keep
from workbench.lab.plan import Plan
from workbench.stage.surroundings import environment

WORD = "a password for measuring"
NAME = "/cost/viewer"
TTL = timedelta(minutes=5)
LIVE = "live"
UNIT = 4096  # bytes of a read unit

VIEW = ("/matches/{}", "/matches/{}/steps", "/matches/{}/analysis")
"""What a browser asks for that opens a match; all else it keeps for a year."""


@dataclass(frozen=True, slots=True)
class _Bench:
    """A match log, the handler of its pages, and what counts."""

    log: DynamoLog
    handler: Handler
    uses: UseMeter

    def used(self, *targets: str, moves: Sequence[MoveRecord] = ()) -> CloudUse:
        """The sum of answers to who knows the password; `moves` are read once, by their sizes."""
        now = datetime.now(UTC)
        cookie = ("cookie", f"{OWNER}={pass_to(EVERYTHING, now + TTL, WORD)}")
        function = Function("viewer", lambda *_: None, timedelta(seconds=29))
        before, began = self.uses.counts, time.process_time()
        for target in targets:
            event = http_event(WireRequest("GET", target, (cookie,)), now)
            status = self.handler(event, function.context(SystemClock()))["statusCode"]
            if status != HTTPStatus.OK:
                raise CardsharpError(f"{target} was answered {status}.")
        seconds, counts = time.process_time() - began, self.uses.since(before)
        bodies = (body for move in moves for body in (move.intent, move.facts) if body is not None)
        size = sum(len(pack(encode(body))) for body in bodies)  # as the table keeps them
        counts["read units"] += max(0, ceil(size / UNIT) - 1)
        return counts.use(1, requests=len(targets), seconds=seconds, log_bytes=0)


def measure_pages() -> PagesUse:
    """A match opened, and one watched live, by a warm function; raises `CardsharpError`."""
    with _bench() as bench:
        plan = Plan(first="captain", second="steady", pairs=1)
        (played,) = keep(plan, [(0, 0)], "cost", datetime.now(UTC), bench.log)
        moves = bench.log.moves(played)
        bench.used("/matches")  # connections and templates
        view = bench.used(*(one.format(played) for one in VIEW), moves=moves)
        lease = bench.log.take(LIVE, "cost", TTL, {"names": ["a", "b"], "players": ["a", "b"]})
        if lease is None:
            raise CardsharpError("The match cannot be played once more.")
        news, nothing = [], []
        for number, move in enumerate(moves):
            if move.intent is not None:
                bench.log.intend(lease, move.sequence, move.intent)
            bench.log.record(lease, {move.sequence: move.facts or {}})
            steps = f"/matches/{LIVE}/steps?wait=1&from="
            news.append(bench.used(f"{steps}{number}", moves=moves[: number + 1]))
            nothing.append(bench.used(f"{steps}{number + 1}"))
    return PagesUse(moves=len(moves), view=view, news=_mean(news), nothing=_mean(nothing))


@contextmanager
def _bench() -> Iterator[_Bench]:
    with Emulator() as emulator, UseMeter() as uses, environment(emulator.environment):
        secret = json.dumps({"username": "admin", "password": WORD})
        emulator.client("ssm").put_parameter(Name=NAME, Value=secret, Type="SecureString")
        table = create_table(emulator.client("dynamodb"), "Matches")
        secrets.provider.cache_clear()
        pages = viewer_of({STORE: f"dynamodb:{table}", PARAMETER: NAME})
        log = DynamoLog(table, SystemClock(), emulator.client("dynamodb"))
        yield _Bench(log, handler_of(pages), uses)
        secrets.provider.cache_clear()


def _mean(uses: Sequence[CloudUse]) -> CloudUse:
    """The mean of some answers."""
    fields = {name: [getattr(one, name) for one in uses] for name in CloudUse.model_fields}
    return CloudUse(**{name: round(mean(those), 4) for name, those in fields.items()})
