"""Documents in one table of a SQLite file, which several processes may use at once."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cardsharp.cloud.codec import decode, encode, from_micros, to_micros
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sqlite_file import Contents, SqliteFile
from cardsharp.errors import Conflict
from cardsharp.keep.port import Change, Check, Delete, Document, Key

TABLE = (
    "CREATE TABLE documents (partition TEXT NOT NULL, sort TEXT NOT NULL, "
    "version INTEGER NOT NULL, body TEXT NOT NULL, expires INTEGER, "
    "PRIMARY KEY (partition, sort)) WITHOUT ROWID"
)
"""The schema step that makes the table of documents."""

_BY_END = "CREATE INDEX documents_by_end ON documents (expires)"
_CONTENTS = Contents(
    "file of documents",
    "CARDSHARP_STORE",
    (TABLE, _BY_END),
)
_FIND = (
    "SELECT * FROM documents WHERE partition = :partition AND sort = :sort "
    "AND (expires IS NULL OR expires > :now)"
)
_RANGE = (
    "SELECT * FROM documents WHERE partition = :partition AND sort > :after "
    "AND (expires IS NULL OR expires > :now) ORDER BY sort LIMIT :most"
)


class SqliteKeep:
    """A `Keep` in the file of that path; raises as `SqliteFile` does.

    A file that held something before there was this port has `contents` whose steps move it here.
    """

    def __init__(self, path: str | Path, clock: Clock, contents: Contents = _CONTENTS) -> None:
        self._file = SqliteFile(path, contents)
        self._clock = clock

    def get(self, key: Key) -> Document | None:
        """See `Keep`."""
        with self._file.reading() as db:
            return self._find(db, key)

    def range(self, partition: str, after: str = "", most: int = 1000) -> Sequence[Document]:
        """See `Keep`."""
        asked = {"partition": partition, "after": after, "most": most, "now": self._now()}
        with self._file.reading() as db:
            return [_document(row) for row in db.execute(_RANGE, asked)]

    def commit(self, *changes: Change) -> None:
        """See `Keep`."""
        with self._file.transaction() as db:
            db.execute("DELETE FROM documents WHERE expires <= ?", (self._now(),))
            for change in changes:
                there = self._find(db, change.key)
                if change.expected != (0 if there is None else there.version):
                    raise Conflict("The document was changed by somebody else.")
            for change in changes:
                _carry_out(db, change)

    def close(self) -> None:
        """See `Keep`."""
        self._file.close()

    def _find(self, db: sqlite3.Connection, key: Key) -> Document | None:
        row = db.execute(_FIND, {**key._asdict(), "now": self._now()}).fetchone()
        return None if row is None else _document(row)

    def _now(self) -> int:
        return to_micros(self._clock.now())


def _carry_out(db: sqlite3.Connection, change: Change) -> None:
    match change:
        case Check():
            pass
        case Delete(key):
            db.execute("DELETE FROM documents WHERE partition = ? AND sort = ?", key)
        case _:
            end = None if change.expires is None else to_micros(change.expires)
            row = (*change.key, change.expected + 1, encode(change.body), end)
            db.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)", row)


def _document(row: sqlite3.Row) -> Document:
    end: datetime | None = None if row["expires"] is None else from_micros(row["expires"])
    key = Key(row["partition"], row["sort"])
    return Document(key, row["version"], decode(row["body"]), end)
