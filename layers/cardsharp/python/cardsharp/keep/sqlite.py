"""Documents in one table of a SQLite file, for several processes at once, or of this memory."""

import logging
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import cast

from cardsharp.cloud.codec import decode, encode, from_micros, to_micros
from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sqlite_file import Contents, SqliteFile, steps_in
from cardsharp.errors import Conflict, StoreError
from cardsharp.keep.port import Add, Change, Delete, Document, Key, Listed, Put

_log = logging.getLogger(__name__)

_CONTENTS = Contents(
    "file of documents",
    "CARDSHARP_STORE",
    steps_in(Path(__file__).with_name("documents.sql")),
)
_FIND = (
    "SELECT * FROM documents WHERE partition = :partition AND sort = :sort "
    "AND (expires IS NULL OR expires > :now)"
)
_INSERT = (
    "INSERT INTO documents VALUES (:partition, :sort, 1, :body, :end, :listed, :at, :shown) "
    "ON CONFLICT (partition, sort) DO"
)
_SET = (
    "SET version = version + 1, body = :body, expires = :end, "
    "listed = :listed, at = :at, shown = :shown"
)
_NEW = f"{_INSERT} NOTHING"
_UNREAD = f"{_INSERT} UPDATE {_SET}"
_CHANGED = (
    f"UPDATE documents {_SET} WHERE partition = :partition AND sort = :sort "
    "AND version = :expected AND (expires IS NULL OR expires > :now)"
)
_GONE = (
    "DELETE FROM documents WHERE partition = :partition AND sort = :sort "
    "AND (:expected IS NULL OR version = :expected)"
)
_ADD = (
    "INSERT INTO documents (partition, sort, version, body, expires) "
    "VALUES (:partition, :sort, 1, json_object('count', :by), :end) "
    "ON CONFLICT (partition, sort) DO UPDATE SET expires = :end, "
    "body = json_object('count', json_extract(body, '$.count') + :by) "
    "WHERE :most IS NULL OR json_extract(body, '$.count') + :by <= :most"
)
_ENTRIES = (
    "SELECT * FROM documents WHERE listed = :name AND at > :since "
    "AND (expires IS NULL OR expires > :now) ORDER BY at DESC LIMIT :most"
)
_RANGE = (
    "SELECT * FROM documents WHERE partition = :partition AND sort > :after "
    "AND (expires IS NULL OR expires > :now) ORDER BY sort LIMIT :most"
)
_DROP = "DELETE FROM documents WHERE expires <= ?"


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
        self._clock, self._to_read = clock, to_read

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
        now = self._now()
        with self._file.transaction() as db:
            # What begins makes room; a document that goes on is not to pay for that.
            if not all(isinstance(one, Put) and one.expected for one in changes):
                db.execute(_DROP, (now,))
            for change in changes:
                _carry_out(db, change, now)

    def entries(self, name: str, since: datetime, most: int) -> Sequence[tuple[Key, Listed]]:
        """See `Keep`."""
        asked = {"name": name, "since": to_micros(since), "most": most, "now": self._now()}
        with self._file.reading() as db:
            rows = db.execute(_ENTRIES, asked).fetchall()
        found = []
        for row in rows:
            try:
                shown = cast("Mapping[str, str | bool]", decode(row["shown"]))
            except StoreError as error:  # it hides no other
                told = {"sort": row["sort"]}
                _log.warning("an entry of a list cannot be read: %s", error, extra=told)
                continue
            listed = Listed(row["listed"], from_micros(row["at"]), shown)
            found.append((Key(row["partition"], row["sort"]), listed))
        return found

    def listed(self) -> Sequence[tuple[Key, datetime | None]]:
        """The keys of all documents, the last to expire first: for who shows a whole file."""
        asked = "SELECT partition, sort, expires FROM documents ORDER BY expires DESC"
        with self._file.reading() as db:
            return [(Key(*row[:2]), _moment(row["expires"])) for row in db.execute(asked)]

    def close(self) -> None:
        """See `Keep`."""
        self._file.close()

    def _now(self) -> int:
        return 0 if self._to_read else to_micros(self._clock.now())


def _carry_out(db: sqlite3.Connection, change: Change, now: int) -> None:
    """Make one of several changes; raises `Conflict` where it cannot be made."""
    told = {"partition": change.key.partition, "sort": change.key.sort, "now": now}
    match change:
        case Add(_, by, expires, most):
            statement = _ADD
            told |= {"by": by, "end": to_micros(expires), "most": most}
        case Delete(_, expected):
            statement = _GONE
            told |= {"expected": expected}
        case Put(_, body, expected, expires, listed):
            statement = _UNREAD if expected is None else _NEW if not expected else _CHANGED
            told |= {"expected": expected, "body": encode(body)}
            told |= {"end": None if expires is None else to_micros(expires)}
            told |= {"listed": listed and listed.name, "shown": listed and encode(listed.shown)}
            told |= {"at": listed and to_micros(listed.at)}
    written = db.execute(statement, told).rowcount
    if not written and not (isinstance(change, Delete) and change.expected is None):
        raise Conflict("The document was changed by somebody else, or the count is at its most.")


def _document(row: sqlite3.Row) -> Document:
    key = Key(row["partition"], row["sort"])
    return Document(key, row["version"], decode(row["body"]), _moment(row["expires"]))


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
