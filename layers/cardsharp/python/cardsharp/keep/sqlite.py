"""Documents in one table of a SQLite file, for several processes at once, or of this memory."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cardsharp.cloud.codec import decode, encode, from_micros, to_micros
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sqlite_file import Contents, SqliteFile
from cardsharp.errors import Conflict
from cardsharp.keep.port import Change, Delete, Document, Key

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
_VERSION = "SELECT version FROM documents WHERE partition = ? AND sort = ?"
_WRITE = (
    "INSERT INTO documents VALUES (?, ?, 1, ?, ?) ON CONFLICT (partition, sort) DO UPDATE "
    "SET version = version + 1, body = excluded.body, expires = excluded.expires"
)
_RANGE = (
    "SELECT * FROM documents WHERE partition = :partition AND sort > :after "
    "AND (expires IS NULL OR expires > :now) ORDER BY sort LIMIT :most"
)


class SqliteKeep:
    """A `Keep` in the file of that path; raises as `SqliteFile` does.

    A file that held something before there was this port has `contents` whose steps move it here.
    With `to_read` it must be there, is only read, and shows also what has expired and is not yet
    removed.
    """

    def __init__(
        self,
        path: str | Path,
        clock: Clock,
        contents: Contents = _CONTENTS,
        *,
        to_read: bool = False,
    ) -> None:
        self._file = SqliteFile(path, contents, to_read=to_read)
        self._clock = clock
        self._to_read = to_read

    def get(self, key: Key) -> Document | None:
        """See `Keep`."""
        with self._file.reading() as db:
            row = db.execute(_FIND, {**key._asdict(), "now": self._now()}).fetchone()
        return None if row is None else _document(row)

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
                if change.expected is not None and change.expected != _version(db, change.key):
                    raise Conflict("The document was changed by somebody else.")
                _carry_out(db, change)

    def listed(self) -> Sequence[tuple[Key, datetime | None]]:
        """The keys of all documents and when each expires, the last to expire first.

        For who shows a whole file: `Keep` lists one partition, as another home could not do more.
        """
        asked = "SELECT partition, sort, expires FROM documents ORDER BY expires DESC"
        with self._file.reading() as db:
            return [(Key(*row[:2]), _moment(row["expires"])) for row in db.execute(asked)]

    def close(self) -> None:
        """See `Keep`."""
        self._file.close()

    def _now(self) -> int:
        return 0 if self._to_read else to_micros(self._clock.now())


def _version(db: sqlite3.Connection, key: Key) -> int:
    """Of a document that has not expired; 0 if there is none."""
    row = db.execute(_VERSION, key).fetchone()
    return 0 if row is None else int(row["version"])


def _carry_out(db: sqlite3.Connection, change: Change) -> None:
    if isinstance(change, Delete):
        db.execute("DELETE FROM documents WHERE partition = ? AND sort = ?", change.key)
        return
    end = None if change.expires is None else to_micros(change.expires)
    db.execute(_WRITE, (*change.key, encode(change.body), end))


def _document(row: sqlite3.Row) -> Document:
    key = Key(row["partition"], row["sort"])
    return Document(key, row["version"], decode(row["body"]), _moment(row["expires"]))


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
