"""Bot and scout put together from settings: the one place where ports meet their adapters."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.ports import Clock, MatchLog, Queue
from cardsharp.cloud.secrets import credentials, guarded
from cardsharp.cloud.settings import Settings
from cardsharp.cloud.wiring import build_log, build_queue
from cardsharp.deadmansdraw.arena import ArenaClient, Credentials, Limits
from cardsharp.deadmansdraw.bot import Bot, Timing
from cardsharp.deadmansdraw.scout import Scout, ScoutTiming
from cardsharp.deadmansdraw.seats import DUMMY_ID, Players, Seat
from cardsharp.deadmansdraw.strategies import build

DEFAULT_STRATEGY = "steady"


@dataclass(frozen=True, slots=True)
class Assembly:
    """What an invocation uses; the arena's clients are made for each one and closed by it."""

    settings: Settings
    clock: Clock
    log: MatchLog
    queue: Queue
    meter: Meter

    @contextmanager
    def bot(self, worker: str) -> Iterator[Bot]:
        """A bot for our seat and, where the settings name a strategy for it, the dummy's."""
        settings = self.settings
        timing = Timing(
            lease=settings.lease,
            renew=settings.renew,
            decision=settings.decision,
            act=settings.act,
            long_poll=settings.read,
            handover=settings.handover,
        )
        with ExitStack() as clients:
            name = settings.strategy or DEFAULT_STRATEGY
            me = self._seat(clients, self._credentials(), name)
            dummy = None
            if settings.dummy_strategy is not None:
                given = guarded(DUMMY_ID, settings.dummy_password.get_secret_value())
                dummy = self._seat(clients, given, settings.dummy_strategy)
            players = Players(me, dummy)
            yield Bot(players, self.log, self.clock, worker, timing, self.meter)

    @contextmanager
    def scout(self) -> Iterator[Scout]:
        """A scout that speaks to the arena as ourselves."""
        settings = self.settings
        timing = ScoutTiming(
            pace=settings.pace,
            watch=settings.watch,
            announce=settings.announce,
            long_poll=settings.read,
        )
        with self._client(self._credentials()) as client:
            yield Scout(client, self.log, self.queue, self.clock, settings.tags, timing, self.meter)

    @property
    def player_id(self) -> str:
        """Our user id at the arena."""
        return self._credentials().user

    def _credentials(self) -> Credentials:
        return credentials(self.settings)

    def _seat(self, clients: ExitStack, given: Credentials, strategy: str) -> Seat:
        client = clients.enter_context(self._client(given))
        return Seat(given.user, client, build(strategy, Random()), strategy)

    def _client(self, given: Credentials) -> ArenaClient:
        settings = self.settings
        limits = Limits(
            connect=settings.connect,
            long_poll=settings.read,
            act=settings.act,
            body=settings.max_answer_bytes,
        )
        digest = settings.arena_auth == "digest"
        return ArenaClient(settings.arena_url, given, limits, digest)


@lru_cache(maxsize=8)
def assemble(settings: Settings, meter: Meter) -> Assembly:
    """The assembly for `settings`, made once a process: its stores keep their connections."""
    clock = SystemClock()
    log, queue = build_log(settings.store, clock), build_queue(settings.queue, clock)
    return Assembly(settings, clock, log, queue, meter)
