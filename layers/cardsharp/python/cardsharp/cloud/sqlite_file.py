"""The SQLite file of a match log: opening, schema and transactions.

Several processes may use the file at once. Every change is one `BEGIN IMMEDIATE` transaction in
a write-ahead log, so a process killed at any moment leaves whole transactions only.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import stamina

from cardsharp.errors import StoreError

VERSION = 1
_SCHEMA = """
CREATE TABLE matches (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  started INTEGER NOT NULL,
  header TEXT NOT NULL DEFAULT '{}',
  fence INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  lease_until INTEGER,
  announced_until INTEGER,
  outcome TEXT,
  finished INTEGER
);
CREATE INDEX matches_by_start ON matches (started);
CREATE INDEX matches_by_status ON matches (status, started);
CREATE TABLE moves (
  match_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  intent TEXT,
  facts TEXT,
  PRIMARY KEY (match_id, sequence)
) WITHOUT ROWID;
CREATE TABLE notes (
  match_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX notes_by_match ON notes (match_id, at);
"""
_BUSY = timedelta(seconds=10)


class SqliteFile:
    """One connection to the file at `path`, made with its folder if it is not there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        with self._translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path, timeout=_BUSY.total_seconds(), isolation_level=None, check_same_thread=False
            )
            self._db.row_factory = sqlite3.Row
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        """Close the file; it cannot be used afterwards."""
        # Under a thread that is in the middle of a statement it would crash the process.
        with self._lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the database; whatever is written is written at the end, or not at all."""
        with self.reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the database to one thread at a time."""
        with self._lock, self._translated():
            yield self._db

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise a failure of the file as a `StoreError` that names the file."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"The match log {self._path} cannot be used: {error}. "
                "Check the file and its folder, or set CARDSHARP_STORE to another file."
            ) from error

    def _prepare(self) -> None:
        """Switch to a write-ahead log and bring the schema up to date."""
        # Two first openers can collide in the switch, which ignores the busy timeout.
        for attempt in stamina.retry_context(on=_is_busy, attempts=5, timeout=5, wait_initial=0.02):
            with attempt:
                self._db.execute("PRAGMA journal_mode = WAL")
        # Enough for a killed process. A power cut may cost the last commits, never the file, and
        # the log is filled again from the arena's own history.
        self._db.execute("PRAGMA synchronous = NORMAL")
        with self.transaction() as db:
            found = db.execute("PRAGMA user_version").fetchone()[0]
            if found > VERSION:
                raise StoreError(
                    f"A newer Cardsharp made the match log {self._path}; "
                    "install that one or set CARDSHARP_STORE to another file."
                )
            if found < VERSION:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")


def _is_busy(error: Exception) -> bool:
    """Return whether another connection was in the way."""
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
