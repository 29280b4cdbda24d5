"""A SQLite file that keeps something of ours: opening, schema and transactions.

Several processes may use the file at once. Every change is one `BEGIN IMMEDIATE` transaction in
a write-ahead log, so a process killed at any moment leaves whole transactions only.
"""

import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import stamina

from cardsharp.errors import StoreError

MEMORY = ":memory:"
"""The path of what is kept in this process only."""

_BUSY = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file keeps: the words for it, the setting that names the file, and its schema.

    `version` is that of the schema; a file of a newer one is refused.
    """

    name: str
    setting: str
    schema: str
    version: int = 1


class SqliteFile:
    """One connection to the file at `path`, made with its folder if it is not there."""

    def __init__(self, path: str | Path, contents: Contents) -> None:
        self._path = path
        self._contents = contents
        self._lock = threading.Lock()
        with self._translated():
            if str(path) != MEMORY:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path, timeout=_BUSY.total_seconds(), isolation_level=None, check_same_thread=False
            )
            # What is kept in memory goes when nobody has it any more, without a call of `close`.
            self._end = weakref.finalize(self, self._db.close)
            self._db.row_factory = sqlite3.Row
            try:
                self._prepare()
            except BaseException:
                self._end()
                raise

    def close(self) -> None:
        """Close the file; it cannot be used afterwards."""
        # Under a thread that is in the middle of a statement it would crash the process.
        with self._lock:
            self._end()

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
                f"The {self._contents.name} {self._path} cannot be used: {error}. Check the file "
                f"and its folder, or set {self._contents.setting} to another file."
            ) from error

    def _prepare(self) -> None:
        """Switch to a write-ahead log and bring the schema up to date."""
        # Two first openers can collide in the switch, which ignores the busy timeout.
        for attempt in stamina.retry_context(on=_is_busy, attempts=5, timeout=5, wait_initial=0.02):
            with attempt:
                self._db.execute("PRAGMA journal_mode = WAL")
        # Enough for a killed process. A power cut may cost the last commits, never the file; a
        # match log is filled again from the arena's own history.
        self._db.execute("PRAGMA synchronous = NORMAL")
        with self.transaction() as db:
            found = db.execute("PRAGMA user_version").fetchone()[0]
            if found > self._contents.version:
                raise StoreError(
                    f"A newer Cardsharp made the {self._contents.name} {self._path}; "
                    f"install that one or set {self._contents.setting} to another file."
                )
            if found < self._contents.version:
                for statement in filter(str.strip, self._contents.schema.split(";")):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {self._contents.version}")


def _is_busy(error: Exception) -> bool:
    """Whether another connection was in the way."""
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
