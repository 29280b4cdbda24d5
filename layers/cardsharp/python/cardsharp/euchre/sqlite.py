"""The deals in one SQLite file, for this machine; `:memory:` keeps them in this process.

Every method is one statement, so the condition and what is written under it are one thing.
"""

import sqlite3
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from cardsharp.cloud.codec import to_micros
from cardsharp.cloud.ports import Clock
from cardsharp.errors import Conflict, StoreError
from cardsharp.euchre.cards import Card
from cardsharp.euchre.records import DealKey, Event, Record, decode_event, encode_event
from cardsharp.euchre.store import LIFE

MEMORY = ":memory:"
_BUSY = timedelta(seconds=10)
_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS deals (
  token TEXT NOT NULL,
  game INTEGER NOT NULL,
  deal INTEGER NOT NULL,
  cards TEXT NOT NULL,
  events TEXT NOT NULL DEFAULT '',
  version INTEGER NOT NULL DEFAULT 0,
  born TEXT NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY (token, game, deal)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS deals_by_expiry ON deals (expires);
"""
_THIS = "token = ? AND game = ? AND deal = ?"


class SqliteDeals:
    """A `DealStore` in the SQLite file at `path`, made with its folder if it is not there."""

    def __init__(self, path: str, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        with self._translated():
            if path != MEMORY:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path, timeout=_BUSY.total_seconds(), isolation_level=None, check_same_thread=False
            )
            self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._db.close()

    def begin(self, key: DealKey, cards: tuple[Card, ...]) -> None:
        """Keep a new deal in the place of any older one of that key; remove what has expired."""
        now = self._clock.now()
        with self._open() as db:
            db.execute("DELETE FROM deals WHERE expires <= ?", (to_micros(now),))
            db.execute(
                "INSERT OR REPLACE INTO deals (token, game, deal, cards, born, expires) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*_key(key), ",".join(map(str, cards)), uuid.uuid4().hex, to_micros(now + LIFE)),
            )

    def read(self, key: DealKey) -> Record | None:
        """Return a deal with every event that was acknowledged, or None."""
        with self._open() as db:
            row = db.execute(
                f"SELECT cards, events, born FROM deals WHERE {_THIS}",  # noqa: S608 - a constant
                _key(key),
            ).fetchone()
        if row is None:
            return None
        cards, events, born = row
        log = tuple(decode_event(line) for line in events.splitlines())
        return Record(key, tuple(map(int, cards.split(","))), born, log)

    def append(self, record: Record, event: Event) -> None:
        """Add an event to the deal as it was read; raises `Conflict` if that has changed."""
        with self._open() as db:
            written = db.execute(
                "UPDATE deals SET events = events || ?, version = version + 1 "  # noqa: S608 - a constant
                f"WHERE {_THIS} AND born = ? AND version = ?",
                (encode_event(event) + "\n", *_key(record.key), record.born, len(record.log)),
            ).rowcount
        if written != 1:
            raise Conflict("The deal was changed by somebody else.")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
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
                f"The deals in {self._path} cannot be used: {error}. "
                "Check the file and its folder, or set EUCHRE_STORE to another file."
            ) from error


def _key(key: DealKey) -> tuple[str, int, int]:
    return key.token, key.game, key.deal
