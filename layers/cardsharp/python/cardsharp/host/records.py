"""A hosted game as it is kept: a document for the game, and one for each move.

| partition | sort | body |
|---|---|---|
| game#ID | game | players (name and secret's digest), seats, count of moves, state |
| game#ID | move#00001 | seat, action, state after it |
| caller#DIGEST | DAY | a count: games that a caller has created on a day |
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from cardsharp.cloud.ports import Clock
from cardsharp.keep.port import Add, Keep, Key, Put, is_done

Json = Mapping[str, Any]
_TOLD = ("seats", "start", "state", "count")


@dataclass(frozen=True, slots=True)
class Table:
    """A game as it is now: `players` are names and digests of secrets, by seat."""

    game: str
    seats: int
    start: Json
    state: Json
    players: tuple[tuple[str, str], ...] = ()
    count: int = 0
    version: int = 0

    @property
    def names(self) -> list[str]:
        """What the players are called."""
        return [name for name, _ in self.players]

    def seat_of(self, secret: str) -> int | None:
        """Whose seat the holder of a secret has, None for a stranger."""
        keys = [key for _, key in self.players]
        return keys.index(digest(secret)) if digest(secret) in keys else None


@dataclass(frozen=True, slots=True)
class Move:
    """What was done, and the state after it."""

    seat: int
    action: Any
    state: Json


@dataclass(frozen=True, slots=True)
class Tables:
    """Games by id, for so long after their last change."""

    keep: Keep
    clock: Clock
    life: timedelta = timedelta(days=30)

    def find(self, game: str) -> Table | None:
        """A game as it is now."""
        found = self.keep.get(_key(game))
        if found is None:
            return None
        body: Json = found.body
        players = tuple((name, key) for name, key in body["players"])
        told = {name: body[name] for name in _TOLD}
        return Table(game, players=players, version=found.version, **told)

    def moves(self, game: str, known: int) -> Sequence[Move]:
        """The moves from a number on."""
        found = self.keep.range(f"game#{game}", f"move#{known:05}")
        return [Move(**one.body) for one in found]  # type: ignore[arg-type]

    def write(self, table: Table, move: Move | None = None) -> None:
        """Keep a game, with the move that was made; raises `Conflict` if it has changed since."""
        end = (self.clock.now() + self.life).replace(microsecond=0)
        body = {name: getattr(table, name) for name in ("players", *_TOLD)}
        puts = [Put(_key(table.game), body, table.version, end)]
        if move is not None:
            key = Key(f"game#{table.game}", f"move#{table.count:05}")
            puts.append(Put(key, asdict(move), expires=end))
        self.keep.commit(*puts)

    def admit(self, caller: str, most: int) -> bool:
        """Count a game of a caller's today; False where `most` are counted already."""
        now = self.clock.now()
        key = Key(f"caller#{digest(caller)}", now.date().isoformat())
        return is_done(self.keep, Add(key, 1, now + timedelta(days=2), most))


def digest(secret: str) -> str:
    """Under what a secret is kept; it is too random to be guessed back."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _key(game: str) -> Key:
    return Key(f"game#{game}", "game")
