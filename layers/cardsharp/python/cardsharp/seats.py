"""A seat of ours at a service: where it is, who plays there, and by which secret it is ours.

Whoever has the secret is the player, so it is kept in the vault and redacted from all logs. A game
whose bot takes such seats says how it meets a match from one (`Seated`), and no more.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any
from uuid import uuid4

from pydantic import SecretStr, field_validator

from cardsharp.access import checked_address
from cardsharp.cloud.adapters import build_offering, build_vault
from cardsharp.cloud.attend import Bot
from cardsharp.cloud.attended import Attended
from cardsharp.cloud.messages import OrderBody
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.offering import MISSING, Offering
from cardsharp.cloud.ports import Body
from cardsharp.cloud.redaction import register
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.vault import Vault
from cardsharp.errors import ConfigError, Conflict, StoreError
from cardsharp.game import Job

_CLAIM = "seat order"
_ID_LENGTH = 64

_RESERVED = timedelta(seconds=10)  # how long a seat may be on its way to be ours: a few writes


class SeatOrder(OrderBody):
    """What an operator asks for: to join this game, there, by this name."""

    refusal = "The seat cannot be taken."

    url: str
    game: str
    nickname: str
    strategy: str

    @field_validator("url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        try:
            return cls.address(value)
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @staticmethod
    def address(url: str) -> str:
        """The service's address; raises `ConfigError` if it is none."""
        return checked_address(url)

    @property
    def match_id(self) -> str:
        """The name of this seat in the match log; the same order names the same seat."""
        return _match_id(self.url, self.game, self.nickname)


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat with its secret; whoever has `player` is this player."""

    url: str
    game: str
    nickname: str
    strategy: str
    player: SecretStr

    @property
    def own_id(self) -> str:
        """A name in the match log that no other seat has, whoever else wants the same nickname."""
        return _match_id(self.url, self.game, f"{self.nickname} {self.secret}")

    def known_as(self, player: str) -> "Seat":
        """The same seat under the secret that the service gave to it."""
        register(player)
        return replace(self, player=SecretStr(player))

    @property
    def body(self) -> Body:
        """The seat as the vault keeps it."""
        return {**asdict(self), "player": self.secret}

    @property
    def secret(self) -> str:
        """That by which the service knows us."""
        return self.player.get_secret_value()

    def header(self, game: str) -> dict[str, object]:
        """What the match log's header says of a seat in that game: all but the secret."""
        return {
            "game": game,
            "url": self.url,
            "gameUuid": self.game,
            "names": [self.nickname],
            "players": [],
            "seats": {},
            "strategy": self.strategy,
        }


def order_seat(game: str, order: SeatOrder, player: str, vault: Vault, offering: Offering) -> str:
    """Have the bot join a match of that game and play it; the seat's name in the match log.

    `player` is to be random and secret. The seat is running from before it is offered, so that the
    poller finds it whatever dies here. Asking for the same again changes nothing, but a seat that
    was refused is tried again. Raises `ConfigError` if new matches are paused.
    """
    _check_not_paused(offering)
    match_id = order.match_id
    seat = Seat(order.url, order.game, order.nickname, order.strategy, SecretStr(player))
    vault.add(match_id, seat.body)
    log = offering.log
    record = log.match(match_id)
    if record is None:
        lease = log.take(match_id, _CLAIM, offering.announce, seat.header(game))
        if lease is not None:
            log.release(lease)
    elif record.outcome is not None and record.outcome.get("result") == MISSING:
        log.reopen(record)
    offering.offer_one(match_id, game)
    return match_id


@contextmanager
def reserved(game: str, seat: Seat, vault: Vault, offering: Offering) -> Iterator[None]:
    """Have the bot ready for a seat that the block makes ours, and play it from then on.

    The seat is claimed before the block begins, under a lease that keeps the bot away from it. So
    whatever dies, the bot finds it after that lease, and at its first look whether it is ours; and
    where the block raises, it is closed. Raises `ConfigError` if new matches are paused, and
    `Conflict` if somebody else is at the same.
    """
    _check_not_paused(offering)
    log, match_id = offering.log, seat.own_id
    vault.add(match_id, seat.body)
    record = log.match(match_id)
    if record is not None and record.outcome is not None:  # an attempt that came to nothing
        log.reopen(record)
    lease = log.take(match_id, f"{_CLAIM} {uuid4()}", _RESERVED, seat.header(game))
    if lease is None:
        raise Conflict("Somebody else is at this seat.")
    try:
        yield
    except BaseException:
        with suppress(StoreError):
            log.finish(lease, {"result": MISSING})
        raise
    # Where this fails, the lease runs out, and the poller offers the seat.
    with suppress(StoreError):
        log.release(lease)
        offering.offer_one(match_id, game)


def _check_not_paused(offering: Offering) -> None:
    if offering.switchboard.read().paused:
        raise ConfigError("New matches are paused; `cardsharp cloud resume` ends that.")


def _match_id(url: str, game: str, nickname: str) -> str:
    name = hashlib.sha256(f"{url} {nickname}".encode()).hexdigest()[:12]
    return re.sub(r"[^0-9A-Za-z]", "", game)[: _ID_LENGTH - len(name)] + name


def find_seat(vault: Vault, match_id: str) -> Seat:
    """The seat of that name, its secret redacted from logs from now on; raises `StoreError`."""
    kept = vault.find(match_id)
    if kept is None:
        raise StoreError(f"There is no seat {match_id}; order it again.")
    url, game, name, strategy, player = (
        str(kept[key]) for key in ("url", "game", "nickname", "strategy", "player")
    )
    register(player)
    return Seat(url, game, name, strategy, SecretStr(player))


@dataclass(frozen=True, slots=True)
class Places:
    """What an invocation uses: settings, what offers matches, and where the secrets are kept."""

    settings: Workplace
    offering: Offering
    vault: Vault


@lru_cache(maxsize=8)
def assemble(settings: Workplace, meter: Meter) -> Places:
    """What `settings` name, made once a process: its stores keep their connections."""
    offering = build_offering(settings, meter)
    return Places(settings, offering, build_vault(settings.store, offering.clock))


@dataclass(frozen=True, slots=True)
class Seated:
    """The bot of a game that takes seats; `meet` says how it meets a match from one, by its id."""

    game: str
    kind: type[SeatOrder]
    meet: Callable[[Places, str], AbstractContextManager[Any]]

    def attend(self, match_id: str, job: Job) -> Attended:
        """Play a seat of ours; see `Bot.attend`."""
        places = assemble(job.settings(Workplace), job.meter)
        meet = partial(self.meet, places)
        bot = Bot(self.game, meet, places.offering, job.worker, places.settings.timing)
        return bot.attend(match_id, job.remaining)

    def order(self, event: Mapping[str, Any], job: Job) -> Sequence[str]:
        """Have the bot join a game and play it; the seat's name in the match log."""
        wanted = self.kind.parse(event)
        places = assemble(job.settings(Workplace), job.meter)
        return [order_seat(self.game, wanted, str(uuid4()), places.vault, places.offering)]
