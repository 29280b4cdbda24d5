"""Arena, stores and scout put together from settings: where ports meet their adapters."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache

from cardsharp.access import Credentials
from cardsharp.cloud.adapters import build_offering, build_relay
from cardsharp.cloud.messages import LookMessage
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Clock, MatchLog, Queue
from cardsharp.contact import Contact
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.scout import Post, Scout, ScoutTiming
from cardsharp.deadmansdraw.settings import Settings
from cardsharp.errors import ConfigError, StoreError, Unauthorized
from cardsharp.game import Job
from cardsharp.registry import strategies_of


@dataclass(frozen=True, slots=True)
class Assembly:
    """What an invocation uses; the arena's clients are made for each one and closed by it."""

    settings: Settings
    offering: Offering
    contacts: dict[str, Contact] = field(default_factory=dict)  # of the arena, by user

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
    def scout(self) -> Iterator[Scout]:
        """A scout that speaks to the arena as ourselves, by a new password as soon as there is one.

        It is one of as many as the settings say.
        """
        settings = self.settings
        timing = ScoutTiming(pace=settings.pace, watch=settings.watch, long_poll=settings.read)
        post = Post(
            build_relay(settings.store),
            settings.pollers,
            quiet=settings.listening != "always",
            looks=settings.listening == "looks",
            windows=settings.windows,
        )
        with self.client() as client:

            def sign_in() -> None:
                with suppress(StoreError, ConfigError):
                    client.sign_in(settings.credentials(fresh=True))

            yield Scout(client, self.offering, settings.tags, timing, post, sign_in)

    @contextmanager
    def client(self) -> Iterator[ArenaClient]:
        """A session at the arena as ourselves."""
        with self.keeping_up(), self.client_of(self.settings.credentials()) as client:
            yield client

    @property
    def player_id(self) -> str:
        """Our user id at the arena."""
        return self.settings.credentials().user

    @property
    def strategy(self) -> str:
        """The name of the strategy for our seat without an operator's wish."""
        return self.settings.strategy or GAME.default_strategy

    def wanted_strategy(self) -> str:
        """The same with it; raises `ConfigError` if it does not exist, or `StoreError`."""
        wanted = self.offering.switchboard.read().strategy
        if wanted is None:
            return self.strategy
        strategies_of(GAME.strategies).maker(wanted)
        return wanted

    def wanted_tags(self) -> tuple[str, ...]:
        """The tags to attend, as an operator or the settings say; raises `StoreError`."""
        wanted = self.offering.switchboard.read().tags
        return self.settings.tags if wanted is None else wanted

    @contextmanager
    def keeping_up(self) -> Iterator[None]:
        """Where the arena refuses our password, see to it that the next try has a new one."""
        try:
            yield
        except Unauthorized:
            with suppress(StoreError, ConfigError):
                self.settings.credentials(fresh=True)
            raise

    def contact_of(self, user: str) -> Contact:
        """What is known of the arena as that user, shared by all sessions of this process."""
        return self.contacts.setdefault(user, Contact(self.clock))

    def client_of(self, given: Credentials) -> ArenaClient:
        """A session at the arena as somebody else."""
        settings = self.settings
        digest = settings.arena_auth == "digest"
        contact = self.contact_of(given.user)
        return ArenaClient(settings.address, given, settings.limits, digest, contact)


@lru_cache(maxsize=8)
def assemble(settings: Settings, meter: Meter) -> Assembly:
    """The assembly for `settings`, made once a process: its stores keep their connections.

    Raises `ConfigError` if a strategy is named that does not exist. Also the poller and whoever
    orders matches find that, so that none begins which nobody can play.
    """
    for name in filter(None, (settings.strategy, settings.dummy_strategy)):
        strategies_of(GAME.strategies).maker(name)
    return Assembly(settings, build_offering(settings, meter))


def assembly_of(job: Job) -> Assembly:
    """The assembly for the settings that an invocation was given; raises `ConfigError`."""
    return assemble(job.settings(Settings), job.meter)


def look(due: LookMessage, job: Job) -> int:
    """Look once at the arena, as the poller ordered; how many matches were offered."""
    with assembly_of(job).scout() as scout:
        return scout.look(due)


def listen(job: Job) -> int:
    """Listen at the arena until the time is nearly up; how many matches were offered."""
    with assembly_of(job).scout() as scout:
        return scout.listen(job.remaining)
