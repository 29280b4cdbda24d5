"""Storage of hosted games: a document for each game, and one for each move.

| partition | sort | body |
|---|---|---|
| game#ID | game | players (name and secret's digest), seats, count of moves, state |
| game#ID | move#00001 | seat, action, state after it |
| caller#DIGEST | | see `cardsharp.server.caller_quotas` |
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from cardsharp.core.clock import Clock
from cardsharp.server.caller_quotas import count_if_allowed
from cardsharp.server.seat_secrets import seat_of_digest, secret_digest
from cardsharp.store.documents import DocumentStore, Key, Put

Json = Mapping[str, Any]
_STORED_NAMES = {
    "seats": "seats",
    "initial_state": "start",
    "state": "state",
    "move_count": "count",
}
"""Fields of a record, and what they are called where it is stored."""


@dataclass(frozen=True, slots=True)
class HostedGameRecord:
    """Current state of a game; `players` are names and digests of secrets, by seat."""

    game: str
    seats: int
    initial_state: Json
    state: Json
    players: tuple[tuple[str, str], ...] = ()
    move_count: int = 0
    version: int = 0

    @property
    def names(self) -> list[str]:
        """Names of the players by seat."""
        return [name for name, _ in self.players]

    def seat_of(self, secret: str) -> int | None:
        """Return the seat of the player with this secret, None for a spectator."""
        return seat_of_digest((digest for _, digest in self.players), secret_digest(secret))


@dataclass(frozen=True, slots=True)
class HostedMove:
    """A move and the state after it."""

    seat: int
    action: Any
    state: Json


@dataclass(frozen=True, slots=True)
class HostedGameStore:
    """Store of games by id; a game expires `ttl` after its last change."""

    documents: DocumentStore
    clock: Clock
    ttl: timedelta = timedelta(days=30)

    def find(self, game: str) -> HostedGameRecord | None:
        """Return the current record of a game, None if there is no such game."""
        document = self.documents.get(_to_game_key(game))
        if document is None:
            return None
        body: Json = document.body
        players = tuple((name, key) for name, key in body["players"])
        fields = {name: body[stored] for name, stored in _STORED_NAMES.items()}
        return HostedGameRecord(game, players=players, version=document.version, **fields)

    def moves(self, game: str, since_move: int) -> Sequence[HostedMove]:
        """Return the moves of a game from a number on."""
        documents = self.documents.query(f"game#{game}", f"move#{since_move:05}")
        return [HostedMove(**document.body) for document in documents]  # type: ignore[arg-type]

    def write(self, record: HostedGameRecord, move: HostedMove | None = None) -> None:
        """Write a game, with its new move; raise `WriteConflict` if it has changed since."""
        end = (self.clock.now() + self.ttl).replace(microsecond=0)
        body = {stored: getattr(record, name) for name, stored in _STORED_NAMES.items()}
        body["players"] = record.players
        puts = [Put(_to_game_key(record.game), body, record.version, end)]
        if move is not None:
            key = Key(f"game#{record.game}", f"move#{record.move_count:05}")
            puts.append(Put(key, asdict(move), expires_at=end))
        self.documents.commit(*puts)

    def count_creation_if_allowed(self, caller: str, max_per_day: int) -> bool:
        """Count a game created by a caller today; return False if `max_per_day` is reached."""
        return count_if_allowed(self.documents, self.clock.now(), caller, max_per_day)


def _to_game_key(game: str) -> Key:
    return Key(f"game#{game}", "game")
