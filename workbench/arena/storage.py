"""Matches that survive the process: one SQLite file, one transaction a move.

A match is stored as a snapshot beside its history, not replayed from its moves: it goes on from
exactly the table it was on even where the rules' code has changed meanwhile, and a start reads
one short row a match, however long the histories are.
"""

import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from cardsharp.errors import ConfigError, StoreError
from workbench.arena.match import Match, Move

VERSION = 1
_SCHEMA = f"""
BEGIN;
CREATE TABLE matches (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE moves (
  match_id TEXT NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (match_id, sequence)
) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
COMMIT;
"""

_MATCH = TypeAdapter(Match)
_MOVE = TypeAdapter(Move)


class Storage(Protocol):
    """Where matches are kept."""

    def matches(self) -> Iterable[Match]:
        """All stored matches."""

    def history(self, match_id: str) -> list[Move]:
        """The moves of a stored match, in order."""

    def save(self, match: Match, move: Move) -> None:
        """Store a match and its newest move together; they are safe when this returns."""

    def close(self) -> None:
        """Let go of the file."""


class MemoryStorage:
    """Keeps nothing: the matches end with the process."""

    def matches(self) -> Iterable[Match]:
        """No match outlives its process here."""
        return ()

    def history(self, match_id: str) -> list[Move]:
        """No history outlives its process here."""
        raise KeyError(match_id)

    def save(self, match: Match, move: Move) -> None:
        """Do nothing: the lobby holds the match."""

    def close(self) -> None:
        """Do nothing."""


class SqliteStorage:
    """Keeps matches in the SQLite file at `path`, which one arena at a time may use."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = _opened(path)
        except (sqlite3.Error, OSError) as error:
            raise ConfigError(
                f"The arena's data file {path} cannot be used: {error}. "
                "Is another arena running on it? Stop that one, or name another file with --data."
            ) from None

    def matches(self) -> Iterable[Match]:
        """All stored matches."""
        try:
            rows = self._db.execute("SELECT body FROM matches").fetchall()
            return [_MATCH.validate_json(body) for (body,) in rows]
        except (sqlite3.Error, ValidationError) as error:
            raise ConfigError(
                f"The arena's data file {self._path} cannot be read: {error}. "
                "Name another file with --data."
            ) from None

    def history(self, match_id: str) -> list[Move]:
        """The moves of a stored match, in order."""
        query = "SELECT body FROM moves WHERE match_id = ? ORDER BY sequence"
        return [_MOVE.validate_json(body) for (body,) in self._db.execute(query, (match_id,))]

    def save(self, match: Match, move: Move) -> None:
        """Store a match and its newest move together; they are safe when this returns."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(
                "INSERT INTO matches VALUES (?, ?) "
                "ON CONFLICT (id) DO UPDATE SET body = excluded.body",
                (match.id, _MATCH.dump_json(match).decode()),
            )
            self._db.execute(
                "INSERT INTO moves VALUES (?, ?, ?)",
                (match.id, move.sequence, _MOVE.dump_json(move).decode()),
            )
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise StoreError(f"The arena's data file cannot be written: {error}") from None

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def _opened(path: Path) -> sqlite3.Connection:
    # The server's thread is the only one that uses the connection, and not the one that opens it.
    db = sqlite3.connect(path, timeout=1, isolation_level=None, check_same_thread=False)
    try:
        # Exclusive: a second arena on the same file would overwrite the first one's matches.
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        # Nothing answered is lost when the process dies. Only a power cut may cost the last moves,
        # never the file; FULL would hold up every other match for 4 ms a move.
        db.execute("PRAGMA synchronous = NORMAL")
        _bring_up_to_date(db)
    except BaseException:
        db.close()
        raise
    return db


def _bring_up_to_date(db: sqlite3.Connection) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise sqlite3.DatabaseError("a newer Cardsharp made it")
    if version < VERSION:
        db.executescript(_SCHEMA)
