"""A game as the service keeps it: who plays, and the round that is being played."""

import hashlib
import hmac
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from cardsharp.blef.rules import Round


class Status(StrEnum):
    """How far a game is, in the words of the API."""

    NOT_STARTED = "Not started"
    RUNNING = "Running"
    FINISHED = "Finished"


IDLE_LIFE = {
    Status.NOT_STARTED: timedelta(days=1),
    Status.RUNNING: timedelta(days=14),
    Status.FINISHED: timedelta(days=7),
}
"""How long after its last change a game is kept."""

UNJOINED_LIFE = timedelta(hours=1)  # how long a game is kept that nobody has joined
WHOLE_LIFE = timedelta(days=90)  # after its creation a game is kept at most, and its closed rounds
RECENT = timedelta(minutes=30)  # a game changed within it is active, and listed if it is public


@dataclass(frozen=True, slots=True)
class Player:
    """Somebody who joined; `key` is a digest of the player's secret uuid.

    `agent` is the strategy of a bot of ours that was invited, None for everybody else.
    """

    nickname: str
    key: str = field(repr=False)
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game: players in the order of joining, and from the start on in seating order."""

    uuid: str
    created: datetime
    public: bool = False
    admin: str | None = None
    players: tuple[Player, ...] = ()
    round: Round | None = None

    @property
    def status(self) -> Status:
        """How far the game is."""
        if self.round is None:
            return Status.NOT_STARTED
        return Status.RUNNING if self.round.winner is None else Status.FINISHED

    @property
    def number(self) -> int:
        """The number of the present round, 0 before the start."""
        return 0 if self.round is None else self.round.number

    @property
    def nicknames(self) -> tuple[str, ...]:
        """The players' names in order."""
        return tuple(player.nickname for player in self.players)

    def seat_of(self, player_uuid: str) -> int | None:
        """The seat of the player with this uuid; takes the same time whoever it is."""
        return self.seat_with(key_of(player_uuid))

    def seat_with(self, key: str) -> int | None:
        """The seat of the player with this digest; takes the same time whoever it is."""
        matches = [hmac.compare_digest(player.key, key) for player in self.players]
        return matches.index(True) if True in matches else None

    def is_admin(self, player_uuid: str) -> bool:
        """Whether this is the uuid of the player who joined first."""
        seat = self.seat_of(player_uuid)
        return seat is not None and self.players[seat].nickname == self.admin

    def joined_by(self, nickname: str, player_uuid: str, agent: str | None = None) -> "GameRecord":
        """The game with one more player; the first to join becomes the admin."""
        player = Player(nickname, key_of(player_uuid), agent)
        return replace(self, players=(*self.players, player), admin=self.admin or nickname)

    def expires(self, changed: datetime) -> datetime:
        """When the game expires unless it changes again after `changed`: a whole second."""
        life = IDLE_LIFE[self.status] if self.players else UNJOINED_LIFE
        return min(changed + life, self.created + WHOLE_LIFE).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class ClosedRound:
    """A round that is over, all hands open, and when it was checked."""

    round: Round
    at: datetime


def room_of(game_uuid: str) -> int:
    """A number from 10 to 99 by which people know a game in the list, drawn with its uuid."""
    return int(game_uuid[:8], 16) % 90 + 10


def key_of(player_uuid: str) -> str:
    """The digest under which a player's uuid is kept; a uuid is too random to be guessed back."""
    return hashlib.sha256(player_uuid.encode()).hexdigest()
