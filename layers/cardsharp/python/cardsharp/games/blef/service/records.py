"""A game as the service keeps it: who plays, and the round that is being played."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from cardsharp.games.blef.rules import Round
from cardsharp.server.seat_secrets import seat_of_digest, secret_digest


class GameStatus(StrEnum):
    """Status of a game, with the values of the API."""

    NOT_STARTED = "Not started"
    RUNNING = "Running"
    FINISHED = "Finished"


IDLE_TTL = {
    GameStatus.NOT_STARTED: timedelta(days=1),
    GameStatus.RUNNING: timedelta(days=14),
    GameStatus.FINISHED: timedelta(days=7),
}
"""Time that a game is stored after its last change, by status."""

UNJOINED_TTL = timedelta(hours=1)  # how long a game is kept that nobody has joined
MAX_TTL = timedelta(days=90)  # after its creation a game is kept at most, and its closed rounds
ACTIVE_WINDOW = timedelta(
    minutes=30
)  # a game changed within it is active, and listed if it is public


@dataclass(frozen=True, slots=True)
class GamePlayer:
    """A player who joined; `uuid_digest` is a digest of the player's secret uuid.

    `bot_name` is the strategy of an invited bot, None for any other player.
    """

    nickname: str
    uuid_digest: str = field(repr=False)
    bot_name: str | None = None


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game: players in the order of joining, and from the start on in seating order."""

    uuid: str
    created_at: datetime
    is_public: bool = False
    admin_digest: str | None = None
    players: tuple[GamePlayer, ...] = ()
    round: Round | None = None

    @property
    def status(self) -> GameStatus:
        """Status of the game."""
        if self.round is None:
            return GameStatus.NOT_STARTED
        return GameStatus.RUNNING if self.round.winner is None else GameStatus.FINISHED

    @property
    def round_number(self) -> int:
        """The number of the present round, 0 before the start."""
        return 0 if self.round is None else self.round.number

    @property
    def nicknames(self) -> tuple[str, ...]:
        """The players' names in order."""
        return tuple(player.nickname for player in self.players)

    def seat_of(self, player_uuid: str) -> int | None:
        """The seat of the player with this uuid; takes the same time whoever it is."""
        return self.seat_of_digest(secret_digest(player_uuid))

    def seat_of_digest(self, key: str) -> int | None:
        """The seat of the player with this digest; takes the same time whoever it is."""
        return seat_of_digest((player.uuid_digest for player in self.players), key)

    def is_admin(self, player_uuid: str) -> bool:
        """Return True if this is the uuid of the player who joined first."""
        seat = self.seat_of(player_uuid)
        return seat is not None and self.players[seat].nickname == self.admin_digest

    def with_player(
        self, nickname: str, player_uuid: str, agent: str | None = None
    ) -> "GameRecord":
        """The game with one more player; the first to join becomes the admin."""
        player = GamePlayer(nickname, secret_digest(player_uuid), agent)
        return replace(
            self, players=(*self.players, player), admin_digest=self.admin_digest or nickname
        )

    def expires_at(self, changed_at: datetime) -> datetime:
        """Return the expiry, in whole seconds, if the game does not change after `changed_at`."""
        life = IDLE_TTL[self.status] if self.players else UNJOINED_TTL
        return min(changed_at + life, self.created_at + MAX_TTL).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class ClosedRound:
    """A round that is over, all hands open, and when it was checked."""

    round: Round
    closed_at: datetime


def room_number(game_uuid: str) -> int:
    """A number from 10 to 99 by which people know a game in the list, drawn with its uuid."""
    return int(game_uuid[:8], 16) % 90 + 10
