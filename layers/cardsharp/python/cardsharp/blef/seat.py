"""A seat of ours in a game: where it is, who plays there, and by which secret it is ours."""

import hashlib
from dataclasses import dataclass, replace
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from cardsharp.blef.client import service_address
from cardsharp.blef.params import MAX_NICKNAME, is_nickname
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Body
from cardsharp.cloud.redaction import register
from cardsharp.cloud.vault import Vault
from cardsharp.errors import ConfigError, Malformed, StoreError

GAME = "blef"
DEFAULT_STRATEGY = "bayes"
_CLAIM = "seat order"
_PREFIX = "Value error, "
"""What pydantic puts before a sentence of ours."""


class SeatOrder(BaseModel):
    """What an operator asks for: to join this game, there, by this name."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str
    game: UUID
    nickname: str = Field(max_length=MAX_NICKNAME)
    strategy: str = DEFAULT_STRATEGY

    @field_validator("url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        try:
            return service_address(value)
        except ConfigError as error:
            raise ValueError(str(error)) from None

    @field_validator("nickname")
    @classmethod
    def _check_nickname(cls, value: str) -> str:
        if not is_nickname(value):
            raise ValueError("a nickname is a letter, then letters and digits")
        return value

    @property
    def match_id(self) -> str:
        """The name of this seat in the match log; the same order names the same seat."""
        name = hashlib.sha256(f"{self.url} {self.nickname}".encode()).hexdigest()
        return f"{self.game.hex}{name[:12]}"


def parse_order(event: object) -> SeatOrder:
    """The order in a function's event.

    Raises:
        Malformed: with one sentence a fault.
    """
    try:
        return SeatOrder.model_validate(event)
    except ValidationError as error:
        faults = (
            f"{'.'.join(map(str, fault['loc'])) or 'event'}: {fault['msg'].removeprefix(_PREFIX)}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise Malformed(f"The seat cannot be taken. {'; '.join(faults)}.") from None


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat with its secret; whoever has `player` is this player."""

    url: str
    game: str
    nickname: str
    strategy: str
    player: SecretStr

    def known_as(self, player: str) -> "Seat":
        """The same seat under the uuid that the service gave to it, which is a secret too."""
        register(player)
        return replace(self, player=SecretStr(player))

    @property
    def body(self) -> Body:
        """The seat as the vault keeps it."""
        return {
            "url": self.url,
            "game": self.game,
            "nickname": self.nickname,
            "strategy": self.strategy,
            "player": self.player.get_secret_value(),
        }

    @property
    def secret(self) -> str:
        """The uuid by which the service knows us."""
        return self.player.get_secret_value()


def order_seat(order: SeatOrder, player: UUID, vault: Vault, offering: Offering) -> str:
    """Have the bot join a game and play it; the seat's name in the match log.

    `player` is to be random and secret. The seat is running from before it is offered, so that
    the poller finds it whatever dies here. Asking for the same again changes nothing.

    Raises:
        ConfigError: new matches are paused.
    """
    if offering.pause.is_on():
        raise ConfigError("New matches are paused; `cardsharp cloud resume` ends that.")
    match_id = order.match_id
    seat = Seat(order.url, str(order.game), order.nickname, order.strategy, SecretStr(str(player)))
    vault.add(match_id, seat.body)
    log = offering.log
    if log.match(match_id) is None:
        lease = log.take(match_id, _CLAIM, offering.announce, header_body(seat))
        if lease is not None:
            log.release(lease)
    offering.offer_one(match_id, GAME)
    return match_id


def find_seat(vault: Vault, match_id: str) -> Seat:
    """The seat of that name; its secret is blotted out of logs from now on.

    Raises:
        StoreError: there is none.
    """
    kept = vault.find(match_id)
    if kept is None:
        raise StoreError(f"There is no seat {match_id}; order it again.")
    url, game, name, strategy, player = (
        str(kept[key]) for key in ("url", "game", "nickname", "strategy", "player")
    )
    register(player)
    return Seat(url, game, name, strategy, SecretStr(player))


def header_body(seat: Seat) -> dict[str, object]:
    """What the match log's header says of a seat: all but the secret."""
    return {
        "game": GAME,
        "url": seat.url,
        "gameUuid": seat.game,
        "names": [seat.nickname],
        "players": [],
        "seats": {},
        "strategy": seat.strategy,
    }
