"""Bot and scout put together from settings: the one place where ports meet their adapters."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from cardsharp.cloud.adapters import build_offering
from cardsharp.cloud.attend import Bot
from cardsharp.cloud.attended import Attended
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Clock, MatchLog, Queue
from cardsharp.cloud.secrets import credentials, guarded
from cardsharp.cloud.timing import limits_of, timing_of
from cardsharp.deadmansdraw.bot import meeting
from cardsharp.deadmansdraw.client import ArenaClient, Credentials
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.scout import Scout, ScoutTiming
from cardsharp.deadmansdraw.seats import DUMMY_ID, Players, Seat
from cardsharp.deadmansdraw.settings import Settings
from cardsharp.deadmansdraw.strategies import build
from cardsharp.errors import ConfigError, StoreError, Unauthorized
from cardsharp.game import Job


@dataclass(frozen=True, slots=True)
class Assembly:
    """What an invocation uses; the arena's clients are made for each one and closed by it."""

    settings: Settings
    offering: Offering

    @property
    def clock(self) -> Clock:
        """The time."""
        return self.offering.clock

    @property
    def log(self) -> MatchLog:
        """The match log."""
        return self.offering.log

    @property
    def queue(self) -> Queue:
        """The queue of matches."""
        return self.offering.queue

    @contextmanager
    def bot(self, worker: str) -> Iterator[Bot]:
        """A bot for our seat and, where the settings name a strategy for it, the dummy's."""
        settings = self.settings
        with self._keeping_up(), ExitStack() as clients:
            name = settings.strategy or GAME.default_strategy
            me = self._seat(clients, credentials(settings), name)
            dummy = None
            if settings.dummy_strategy is not None:
                given = guarded(DUMMY_ID, settings.dummy_password.get_secret_value())
                dummy = self._seat(clients, given, settings.dummy_strategy)
            meet = meeting(Players(me, dummy), self.log)
            yield Bot(GAME.name, meet, self.offering, worker, timing_of(settings))

    @contextmanager
    def scout(self) -> Iterator[Scout]:
        """A scout that speaks to the arena as ourselves."""
        settings = self.settings
        timing = ScoutTiming(pace=settings.pace, watch=settings.watch, long_poll=settings.read)
        with self.client() as client:
            yield Scout(client, self.offering, settings.tags, timing)

    @contextmanager
    def client(self) -> Iterator[ArenaClient]:
        """A session at the arena as ourselves."""
        with self._keeping_up(), self._client(credentials(self.settings)) as client:
            yield client

    @property
    def player_id(self) -> str:
        """Our user id at the arena."""
        return credentials(self.settings).user

    @contextmanager
    def _keeping_up(self) -> Iterator[None]:
        """Where the arena refuses our password, see to it that the next try has a new one."""
        try:
            yield
        except Unauthorized:
            with suppress(StoreError, ConfigError):
                credentials(self.settings, fresh=True)
            raise

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
    return Assembly(settings, build_offering(settings, meter))


def assembly_of(job: Job) -> Assembly:
    """The assembly for the settings that an invocation was given; raises `ConfigError`."""
    return assemble(job.settings(Settings), job.meter)


def attend(match_id: str, job: Job) -> Attended:
    """Play a match at the arena; see `Bot.attend`."""
    with assembly_of(job).bot(job.worker) as bot:
        return bot.attend(match_id, job.remaining)


def listen(job: Job) -> int:
    """Listen at the arena until the time is nearly up; how many matches were offered."""
    with assembly_of(job).scout() as scout:
        return scout.listen(job.remaining)
