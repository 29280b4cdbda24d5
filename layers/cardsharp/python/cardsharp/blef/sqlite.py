"""The games in one SQLite file, for this machine; `:memory:` keeps them in this process.

Every method is one transaction, so the condition and what is written under it are one thing.
"""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from cardsharp.blef.codec import decode_game, decode_round, encode_game, encode_round
from cardsharp.blef.records import RECENT, WHOLE_LIFE, ClosedRound, GameRecord
from cardsharp.blef.state import Round
from cardsharp.blef.store import LIST_LIMIT, Listing, Saved, caller_on, closed_at, moment_of
from cardsharp.cloud.codec import from_micros, to_micros
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sqlite_file import Contents, SqliteFile
from cardsharp.cloud.telemetry import logger
from cardsharp.errors import Conflict

_FIRST = """
CREATE TABLE games (
  uuid TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  nicknames TEXT NOT NULL,
  started INTEGER NOT NULL,
  public INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  expires INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX games_by_change ON games (public, changed);
CREATE INDEX games_by_expiry ON games (expires);
CREATE TABLE rounds (
  uuid TEXT NOT NULL,
  number INTEGER NOT NULL,
  body TEXT NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY (uuid, number)
) WITHOUT ROWID;
CREATE INDEX rounds_by_expiry ON rounds (expires);
"""

_SECOND = """
CREATE TABLE callers (
  name TEXT PRIMARY KEY,
  games INTEGER NOT NULL,
  expires INTEGER NOT NULL
) WITHOUT ROWID
"""

_GAMES = Contents("file of games", "BLEF_STORE", (_FIRST, _SECOND))


class SqliteGames:
    """A `GameStore` in the SQLite file at `path`, made with its folder if it is not there."""

    def __init__(self, path: str | Path, clock: Clock) -> None:
        self._clock = clock
        self._file = SqliteFile(path, _GAMES)

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._file.close()

    def create(self, game: GameRecord) -> None:
        """Keep a new game, and remove what has expired."""
        now = self._clock.now()
        with self._file.transaction() as db:
            db.execute("DELETE FROM games WHERE expires <= ?", (to_micros(now),))
            db.execute("DELETE FROM rounds WHERE expires <= ?", (to_micros(now),))
            db.execute(
                "INSERT INTO games (uuid, version, body, nicknames, started, public, changed, "
                "expires) VALUES (?, 1, ?, ?, ?, ?, ?, ?)",
                (game.uuid, *_columns(game, now)),
            )

    def admit(self, caller: str, most: int) -> bool:
        """Count a game that a caller creates today; False where `most` are counted already."""
        now = self._clock.now()
        name = caller_on(now.date(), caller)
        with self._file.transaction() as db:
            db.execute("DELETE FROM callers WHERE expires <= ?", (to_micros(now),))
            return (
                db.execute(
                    "INSERT INTO callers (name, games, expires) VALUES (?, 1, ?) "
                    "ON CONFLICT (name) DO UPDATE SET games = games + 1 WHERE games < ?",
                    (name, to_micros(now + timedelta(days=1)), most),
                ).rowcount
                == 1
            )

    def read(self, game_uuid: str) -> Saved | None:
        """A game as of now, or None."""
        with self._file.reading() as db:
            row = db.execute(
                "SELECT body, version, changed, expires FROM games WHERE uuid = ? AND expires > ?",
                (game_uuid, to_micros(self._clock.now())),
            ).fetchone()
        if row is None:
            return None
        body, version, changed, expires = row
        return Saved(
            decode_game(game_uuid, body), version, from_micros(changed), from_micros(expires)
        )

    def write(self, saved: Saved, game: GameRecord, closed: Round | None = None) -> Saved:
        """Put `game` in the place of what was read; raises `Conflict` if that has changed."""
        changed = moment_of(self._clock.now(), saved.changed)
        with self._file.transaction() as db:
            written = db.execute(
                "UPDATE games SET version = version + 1, body = ?, nicknames = ?, started = ?, "
                "public = ?, changed = ?, expires = ? WHERE uuid = ? AND version = ?",
                (*_columns(game, changed), game.uuid, saved.version),
            ).rowcount
            if written != 1:
                raise Conflict("The game was changed by somebody else.")
            if closed is not None:
                db.execute(
                    "INSERT INTO rounds (uuid, number, body, expires) VALUES (?, ?, ?, ?)",
                    (
                        game.uuid,
                        closed.number,
                        encode_round(closed_at(changed, closed)),
                        to_micros(game.created + WHOLE_LIFE),
                    ),
                )
        return Saved(game, saved.version + 1, changed, game.expires(changed))

    def closed_round(self, game_uuid: str, number: int) -> ClosedRound | None:
        """A closed round of a game, or None."""
        with self._file.reading() as db:
            row = db.execute(
                "SELECT body FROM rounds WHERE uuid = ? AND number = ?", (game_uuid, number)
            ).fetchone()
        return None if row is None else decode_round(row[0])

    def listed(self) -> list[Listing]:
        """The public games that changed recently, by uuid."""
        now = self._clock.now()
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT * FROM (SELECT uuid, nicknames, started, changed FROM games "
                "WHERE public = 1 AND changed > ? AND expires > ? ORDER BY changed DESC LIMIT ?) "
                "ORDER BY uuid",
                (to_micros(now - RECENT), to_micros(now), LIST_LIMIT),
            ).fetchall()
        return [one for row in rows for one in _listing(*row)]

    def count_active(self) -> int:
        """How many games changed recently."""
        since = to_micros(self._clock.now() - RECENT)
        return self._count("public IN (0, 1) AND changed > ?", since)

    def count_all(self) -> int:
        """How many games there are."""
        return self._count("expires > ?", to_micros(self._clock.now()))

    def _count(self, condition: str, moment: int) -> int:
        with self._file.reading() as db:
            query = f"SELECT COUNT(*) FROM games WHERE {condition}"  # noqa: S608 - our own texts
            count: int = db.execute(query, (moment,)).fetchone()[0]
        return count


def _columns(game: GameRecord, changed: datetime) -> tuple[str, str, bool, bool, int, int]:
    """What a game is kept as, from body to expires."""
    return (
        encode_game(game),
        json.dumps(game.nicknames),
        game.round is not None,
        game.public,
        to_micros(changed),
        to_micros(game.expires(changed)),
    )


def _listing(uuid: str, names: str, started: int, changed: int) -> Iterator[Listing]:
    """Yield a game as it is listed; one that cannot be read is left out, and the log says so."""
    try:
        nicknames = tuple(json.loads(names))
    except (ValueError, TypeError):
        logger.warning("a stored game cannot be read", extra={"game": uuid})
        return
    yield Listing(uuid, nicknames, bool(started), from_micros(changed))
