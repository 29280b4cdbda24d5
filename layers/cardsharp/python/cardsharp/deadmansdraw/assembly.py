"""Bot and scout put together from settings: the one place where ports meet their adapters."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.pause import PauseSwitch
from cardsharp.cloud.ports import Clock, MatchLog, Queue
from cardsharp.cloud.secrets import credentials, guarded
from cardsharp.cloud.settings import Settings
from cardsharp.cloud.timing import limits_of, timing_of
from cardsharp.cloud.wiring import build_log, build_pause, build_queue
from cardsharp.deadmansdraw.arena import ArenaClient, Credentials
from cardsharp.deadmansdraw.bot import Bot
from cardsharp.deadmansdraw.scout import Scout, ScoutTiming
from cardsharp.deadmansdraw.seats import DUMMY_ID, Players, Seat
from cardsharp.deadmansdraw.strategies import build
from cardsharp.errors import ConfigError, StoreError, Unauthorized

DEFAULT_STRATEGY = "captain"


@dataclass(frozen=True, slots=True)
class Assembly:
    """What an invocation uses; the arena's clients are made for each one and closed by it."""

    settings: Settings
    clock: Clock
    log: MatchLog
    queue: Queue
    meter: Meter
    pause: PauseSwitch

    @contextmanager
    def bot(self, worker: str) -> Iterator[Bot]:
        """A bot for our seat and, where the settings name a strategy for it, the dummy's."""
        settings = self.settings
        timing = timing_of(settings)
        with self._keeping_up(), ExitStack() as clients:
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
        with self._keeping_up(), self._client(self._credentials()) as client:
            scout = Scout(client, self.log, self.queue, self.clock, settings.tags, timing)
            yield replace(scout, meter=self.meter, pause=self.pause)

    @property
    def player_id(self) -> str:
        """Our user id at the arena."""
        return self._credentials().user

    @contextmanager
    def _keeping_up(self) -> Iterator[None]:
        """Where the arena refuses our password, see to it that the next try has a new one."""
        try:
            yield
        except Unauthorized:
            with suppress(StoreError, ConfigError):
                credentials(self.settings, fresh=True)
            raise

    def _credentials(self) -> Credentials:
        return credentials(self.settings)

    def _seat(self, clients: ExitStack, given: Credentials, strategy: str) -> Seat:
        client = clients.enter_context(self._client(given))
        return Seat(given.user, client, build(strategy, Random()), strategy)

    def _client(self, given: Credentials) -> ArenaClient:
        settings = self.settings
        digest = settings.arena_auth == "digest"
        return ArenaClient(settings.arena_url, given, limits_of(settings), digest)


@lru_cache(maxsize=8)
def assemble(settings: Settings, meter: Meter) -> Assembly:
    """The assembly for `settings`, made once a process: its stores keep their connections."""
    clock = SystemClock()
    log, queue = build_log(settings.store, clock), build_queue(settings.queue, clock)
    return Assembly(settings, clock, log, queue, meter, build_pause(settings.store, clock))
