"""Composition of arena client, stores and poller from the settings."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache

from cardsharp.bot.bootstrap import build_dispatcher, build_poller_generations
from cardsharp.bot.control.poller_shift import PollerShift, PollerTiming
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.client.config import RequestLimits
from cardsharp.client.session_state import ClientSessionState
from cardsharp.core.clock import Clock
from cardsharp.core.credentials import Credentials
from cardsharp.core.metrics import Metrics
from cardsharp.core.queue import Queue
from cardsharp.errors import ConfigError, StoreError, Unauthorized
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.match_poller import MatchPoller
from cardsharp.games.deadmansdraw.arena_bot.settings import ArenaBotSettings
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.play.game import InvocationContext
from cardsharp.play.strategy_registry import registry_for
from cardsharp.store.match_log import MatchLog


@dataclass(frozen=True, slots=True)
class ArenaBotDependencies:
    """Dependencies of an invocation, which creates and closes its own arena clients."""

    settings: ArenaBotSettings
    dispatcher: MatchDispatcher
    session_states: dict[str, ClientSessionState] = field(
        default_factory=dict
    )  # of the arena, by user

    @property
    def clock(self) -> Clock:
        """Clock that the bot goes by."""
        return self.dispatcher.clock

    @property
    def match_log(self) -> MatchLog:
        """Match log in which the bot's matches are stored."""
        return self.dispatcher.match_log

    @property
    def queue(self) -> Queue:
        """The queue of matches."""
        return self.dispatcher.queue

    @contextmanager
    def build_poller(self) -> Iterator[MatchPoller]:
        """Build a poller that signs in as our user, with the latest password.

        It is one of as many as the settings say.
        """
        settings = self.settings
        timing = PollerTiming(
            list_interval=settings.pace,
            min_request_interval=min(settings.pace, PollerTiming().min_request_interval),
            lease_check_interval=settings.lease_check_interval,
            long_poll_timeout=settings.long_poll_timeout,
        )
        shift = PollerShift(
            build_poller_generations(settings.store), settings.pollers, windows=settings.windows
        )
        # The poller itself repeats what failed, so that every request for the list is paced.
        with self.build_client(replace(settings.request_limits, max_attempts=1)) as client:

            def sign_in() -> None:
                with suppress(StoreError, ConfigError):
                    client.set_credentials(settings.credentials(force_fetch=True))

            yield MatchPoller(client, self.dispatcher, settings.tags, timing, shift, sign_in)

    @contextmanager
    def build_client(self, limits: RequestLimits | None = None) -> Iterator[ArenaClient]:
        """Build an arena client that signs in as our user."""
        with (
            self.refresh_credentials_on_401(),
            self.build_client_for(self.settings.credentials(), limits) as client,
        ):
            yield client

    @property
    def player_id(self) -> str:
        """Our user id at the arena."""
        return self.settings.credentials().user

    @property
    def strategy_name_without_override(self) -> str:
        """Name of our seat's strategy without an operator's override."""
        return self.settings.strategy or GAME.default_strategy

    def current_strategy_name(self) -> str:
        """Return the name of the strategy to play, including the operator's override.

        Raises `ConfigError` if there is no such strategy, or `StoreError`.
        """
        override = self.dispatcher.runtime_settings.read().strategy
        if override is None:
            return self.strategy_name_without_override
        registry_for(GAME.strategy_package).factory(override)
        return override

    def match_tags_to_play(self) -> tuple[str, ...]:
        """Return the tags of the matches to play: the operator's, else those of the settings.

        Raises `StoreError`.
        """
        override = self.dispatcher.runtime_settings.read().tags
        return self.settings.tags if override is None else override

    @contextmanager
    def refresh_credentials_on_401(self) -> Iterator[None]:
        """Fetch the password again if the block raises `Unauthorized`, and raise that again.

        So the next attempt has the new password.
        """
        try:
            yield
        except Unauthorized:
            with suppress(StoreError, ConfigError):
                self.settings.credentials(force_fetch=True)
            raise

    def session_state_of(self, user: str) -> ClientSessionState:
        """Return the client state of that user, shared by all sessions of this process."""
        return self.session_states.setdefault(user, ClientSessionState(self.clock))

    def build_client_for(
        self, credentials: Credentials, limits: RequestLimits | None = None
    ) -> ArenaClient:
        """Return an arena client with other credentials than those of the settings."""
        settings = self.settings
        digest = settings.arena_auth == "digest"
        contact = self.session_state_of(credentials.user)
        return ArenaClient(
            settings.address, credentials, limits or settings.request_limits, digest, contact
        )


@lru_cache(maxsize=8)
def build_dependencies(settings: ArenaBotSettings, metrics: Metrics) -> ArenaBotDependencies:
    """Build the dependencies once a process, so that stores keep their connections.

    Raises `ConfigError` if an unknown strategy is named. The poller and practice orders check
    that as well, so that no match begins that cannot be played.
    """
    for name in filter(None, (settings.strategy, settings.dummy_strategy)):
        registry_for(GAME.strategy_package).factory(name)
    return ArenaBotDependencies(settings, build_dispatcher(settings, metrics))


def dependencies_for(context: InvocationContext) -> ArenaBotDependencies:
    """Return the dependencies for an invocation's settings; raises `ConfigError`."""
    return build_dependencies(context.load_settings(ArenaBotSettings), context.metrics)


def run_poller(context: InvocationContext) -> int:
    """Poll the arena until the time is nearly up; return the number of queued matches."""
    with dependencies_for(context).build_poller() as poller:
        return poller.run(context.remaining_time)
