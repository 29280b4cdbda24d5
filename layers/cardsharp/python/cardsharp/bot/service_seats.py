"""A seat of our bot at a service: its address, its strategy and its secret.

Anybody with the secret is the player, so it is stored in the vault and redacted from all logs.
A game whose bot takes such seats defines only how to open a match from one (`SeatTakingBot`).
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any
from uuid import uuid4

from pydantic import SecretStr, field_validator

from cardsharp.bot.bootstrap import build_dispatcher, build_vault
from cardsharp.bot.bot import Bot
from cardsharp.bot.match_dispatcher import MISSING_GAME, MatchDispatcher
from cardsharp.bot.queueing.orders import OperatorOrder
from cardsharp.bot.session_result import SessionResult
from cardsharp.bot.settings import WorkerSettings
from cardsharp.client.config import normalize_base_url
from cardsharp.core.metrics import Metrics
from cardsharp.core.redaction import register_secrets
from cardsharp.errors import ConfigError, StoreError, WriteConflict
from cardsharp.play.game import InvocationContext
from cardsharp.store.match_log import Body
from cardsharp.store.secret_vault import SecretVault

_LEASE_OWNER = "seat order"
_MAX_ID_LENGTH = 64

_RESERVATION_TTL = timedelta(seconds=10)  # time for the few writes that make a seat ours


class JoinGameOrder(OperatorOrder):
    """Order to join this game at this service under this nickname."""

    refusal = "The seat cannot be taken."

    url: str
    game: str
    nickname: str
    strategy: str

    @field_validator("url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        try:
            return cls.normalize_address(value)
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @staticmethod
    def normalize_address(url: str) -> str:
        """Return the normalized address of a service; raise `ConfigError` if it is none."""
        return normalize_base_url(url)

    @property
    def match_id(self) -> str:
        """The name of this seat in the match log; the same order names the same seat."""
        return _derive_match_id(self.url, self.game, self.nickname)


@dataclass(frozen=True, slots=True)
class ServiceSeat:
    """A seat with its secret `player_secret`, which identifies the player to the service."""

    url: str
    game: str
    nickname: str
    strategy: str
    player_secret: SecretStr

    @property
    def unique_match_id(self) -> str:
        """Match id of this seat in the log, unique even if others use the same nickname."""
        return _derive_match_id(self.url, self.game, f"{self.nickname} {self.secret}")

    def with_secret(self, player_secret: str) -> "ServiceSeat":
        """Return the same seat with the secret that the service gave it."""
        register_secrets(player_secret)
        return replace(self, player_secret=SecretStr(player_secret))

    @property
    def vault_record(self) -> Body:
        """The seat as the vault stores it."""
        return {
            "url": self.url,
            "game": self.game,
            "nickname": self.nickname,
            "strategy": self.strategy,
            "player": self.secret,
        }

    @property
    def secret(self) -> str:
        """Secret by which the service identifies us."""
        return self.player_secret.get_secret_value()

    def match_header(self, game: str) -> dict[str, object]:
        """Return the header that the match log has of this seat: everything but the secret."""
        return {
            "game": game,
            "url": self.url,
            "gameUuid": self.game,
            "names": [self.nickname],
            "players": [],
            "seats": {},
            "strategy": self.strategy,
        }


def join_and_dispatch(
    game: str,
    order: JoinGameOrder,
    player_secret: str,
    vault: SecretVault,
    dispatcher: MatchDispatcher,
) -> str:
    """Have the bot join a match of this game and play it; return the seat's match id.

    `player_secret` must be random and secret. The seat is registered in the log before it is
    queued,
    so the poller finds it even if this process dies. The same order again changes nothing,
    except that a seat which was rejected is tried again. Raises `ConfigError` if new matches
    are paused.
    """
    _check_not_paused(dispatcher)
    match_id = order.match_id
    seat = ServiceSeat(
        order.url, order.game, order.nickname, order.strategy, SecretStr(player_secret)
    )
    vault.add(match_id, seat.vault_record)
    log = dispatcher.match_log
    record = log.match(match_id)
    if record is None:
        lease = log.acquire_lease(
            match_id, _LEASE_OWNER, dispatcher.queue_ttl, seat.match_header(game)
        )
        if lease is not None:
            log.release_lease(lease)
    elif record.outcome is not None and record.outcome.get("result") == MISSING_GAME:
        log.reopen(record)
    dispatcher.dispatch(match_id, game)
    return match_id


@contextmanager
def reserve_seat(
    game: str, seat: ServiceSeat, vault: SecretVault, dispatcher: MatchDispatcher
) -> Iterator[None]:
    """Reserve a seat while the `with` block takes it; afterwards have the bot play it.

    The seat is claimed before the block begins, under a lease that keeps the bot away.
    If this process dies, the bot finds the seat after that lease, and checks at its first
    read if it is ours. If the block raises, the seat is closed. Raises `ConfigError` if new
    matches are paused, and `WriteConflict` if somebody else is reserving the same seat.
    """
    _check_not_paused(dispatcher)
    log, match_id = dispatcher.match_log, seat.unique_match_id
    vault.add(match_id, seat.vault_record)
    record = log.match(match_id)
    if record is not None and record.outcome is not None:  # an earlier attempt failed
        log.reopen(record)
    lease = log.acquire_lease(
        match_id, f"{_LEASE_OWNER} {uuid4()}", _RESERVATION_TTL, seat.match_header(game)
    )
    if lease is None:
        raise WriteConflict("Somebody else is reserving this seat.")
    try:
        yield
    except BaseException:
        with suppress(StoreError):
            log.finish(lease, {"result": MISSING_GAME})
        raise
    # If this fails, the lease expires and the poller queues the seat.
    with suppress(StoreError):
        log.release_lease(lease)
        dispatcher.dispatch(match_id, game)


def _check_not_paused(dispatcher: MatchDispatcher) -> None:
    if dispatcher.runtime_settings.read().paused:
        raise ConfigError(
            "New matches are paused. To allow them again, run `cardsharp cloud resume`."
        )


def _derive_match_id(url: str, game: str, nickname: str) -> str:
    name = hashlib.sha256(f"{url} {nickname}".encode()).hexdigest()[:12]
    return re.sub(r"[^0-9A-Za-z]", "", game)[: _MAX_ID_LENGTH - len(name)] + name


def find_seat(vault: SecretVault, match_id: str) -> ServiceSeat:
    """Return the seat of this match id; raise `StoreError` if there is none.

    Its secret is redacted from logs from then on.
    """
    record = vault.find(match_id)
    if record is None:
        raise StoreError(f"There is no seat {match_id}; order it again.")
    url, game, name, strategy, player = (
        str(record[key]) for key in ("url", "game", "nickname", "strategy", "player")
    )
    register_secrets(player)
    return ServiceSeat(url, game, name, strategy, SecretStr(player))


@dataclass(frozen=True, slots=True)
class SeatDependencies:
    """Dependencies of an invocation: settings, match dispatcher and vault of secrets."""

    settings: WorkerSettings
    dispatcher: MatchDispatcher
    vault: SecretVault


@lru_cache(maxsize=8)
def build_seat_dependencies(settings: WorkerSettings, metrics: Metrics) -> SeatDependencies:
    """Return the dependencies for `settings`, cached per process to reuse their connections."""
    dispatcher = build_dispatcher(settings, metrics)
    return SeatDependencies(settings, dispatcher, build_vault(settings.store, dispatcher.clock))


@dataclass(frozen=True, slots=True)
class SeatTakingBot:
    """The bot of a game that takes seats; `open_match` opens the match of a seat by its id."""

    game: str
    order_type: type[JoinGameOrder]
    open_match: Callable[[SeatDependencies, str], AbstractContextManager[Any]]

    def run_session(self, match_id: str, context: InvocationContext) -> SessionResult:
        """Play a seat of ours; see `Bot.run_session`."""
        dependencies = build_seat_dependencies(
            context.load_settings(WorkerSettings), context.metrics
        )
        open_match = partial(self.open_match, dependencies)
        bot = Bot(
            self.game,
            open_match,
            dependencies.dispatcher,
            context.worker_id,
            dependencies.settings.session_timing,
        )
        return bot.run_session(match_id, context.remaining_time)

    def place_order(self, event: Mapping[str, Any], context: InvocationContext) -> Sequence[str]:
        """Carry out an order: have the bot join a game and play it.

        Return the match id of the seat.
        """
        order = self.order_type.parse(event)
        dependencies = build_seat_dependencies(
            context.load_settings(WorkerSettings), context.metrics
        )
        return [
            join_and_dispatch(
                self.game, order, str(uuid4()), dependencies.vault, dependencies.dispatcher
            )
        ]
