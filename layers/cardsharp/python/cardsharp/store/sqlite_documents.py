"""Documents in one table of a SQLite file, for several processes at once, or in memory."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import cast

from cardsharp.core.clock import Clock
from cardsharp.core.timestamps import from_micros, to_micros
from cardsharp.errors import StoreError, WriteConflict
from cardsharp.store.codec import decode, encode
from cardsharp.store.documents import Delete, Document, Increment, IndexEntry, Key, Put, Write
from cardsharp.store.sqlite_file import (
    Connection,
    FileSchema,
    Row,
    SqliteFile,
    parse_migrations,
)

_log = logging.getLogger(__name__)

_SCHEMA = FileSchema(
    "file of documents",
    "CARDSHARP_STORE",
    parse_migrations(Path(__file__).with_name("documents.sql")),
)
_SELECT = (
    "SELECT * FROM documents WHERE partition = :partition_key AND sort = :sort_key "
    "AND (expires IS NULL OR expires > :now)"
)
_INSERT = (
    "INSERT INTO documents VALUES (:partition_key, :sort_key, 1, :body, :end, :listed, "
    ":at, :shown) "
    "ON CONFLICT (partition, sort) DO"
)
_SET = (
    "SET version = version + 1, body = :body, expires = :end, "
    "listed = :listed, at = :at, shown = :shown"
)
_INSERT_IF_ABSENT = f"{_INSERT} NOTHING"
_UPSERT = f"{_INSERT} UPDATE {_SET}"
_UPDATE_VERSION = (
    f"UPDATE documents {_SET} WHERE partition = :partition_key AND sort = :sort_key "
    "AND version = :expected AND (expires IS NULL OR expires > :now)"
)
_DELETE = (
    "DELETE FROM documents WHERE partition = :partition_key AND sort = :sort_key "
    "AND (:expected IS NULL OR version = :expected)"
)
_INCREMENT = (
    "INSERT INTO documents (partition, sort, version, body, expires) "
    "VALUES (:partition_key, :sort_key, 1, json_object('count', :by), :end) "
    "ON CONFLICT (partition, sort) DO UPDATE SET expires = :end, "
    "body = json_object('count', json_extract(body, '$.count') + :by) "
    "WHERE :most IS NULL OR json_extract(body, '$.count') + :by <= :most"
)
_SELECT_INDEX = (
    "SELECT * FROM documents WHERE listed = :name AND at > :since "
    "AND (expires IS NULL OR expires > :now) ORDER BY at DESC LIMIT :most"
)
_SELECT_RANGE = (
    "SELECT * FROM documents WHERE partition = :partition_key AND sort > :after "
    "AND (expires IS NULL OR expires > :now) ORDER BY sort LIMIT :most"
)
_DELETE_EXPIRED = "DELETE FROM documents WHERE expires <= ?"


class SqliteDocumentStore:
    """`DocumentStore` in a file; raises as `SqliteFile` does.

    A file from before this store existed needs a `schema` whose migrations move its content
    here. With `read_only` the file must exist, and expired documents that are not removed yet
    are visible.
    """

    def __init__(
        self,
        path: str | Path,
        clock: Clock,
        schema: FileSchema = _SCHEMA,
        *,
        read_only: bool = False,
    ) -> None:
        self._file = SqliteFile(path, schema, read_only=read_only)
        self._clock, self._read_only = clock, read_only

    def get(self, key: Key) -> Document | None:
        """See `DocumentStore`."""
        with self._file.locked_connection() as db:
            row = db.execute(_SELECT, {**key._asdict(), "now": self._current_micros()}).fetchone()
        return None if row is None else _to_document(row)

    def query(
        self, partition: str, exclusive_start: str = "", limit: int = 1000
    ) -> Sequence[Document]:
        """See `DocumentStore`."""
        params = {
            "partition_key": partition,
            "after": exclusive_start,
            "most": limit,
            "now": self._current_micros(),
        }
        with self._file.locked_connection() as db:
            return [_to_document(row) for row in db.execute(_SELECT_RANGE, params)]

    def commit(self, *writes: Write) -> None:
        """Make all writes, or none if a condition fails; see `DocumentStore`."""
        current_micros = self._current_micros()
        with self._file.transaction() as db:
            # A new document removes expired ones, so that the file does not grow. A mere update
            # does not pay for that.
            if not all(isinstance(write, Put) and write.expected_version for write in writes):
                db.execute(_DELETE_EXPIRED, (current_micros,))
            for change in writes:
                _apply_write(db, change, current_micros)

    def query_index(
        self, index_name: str, since: datetime, limit: int
    ) -> Sequence[tuple[Key, IndexEntry]]:
        """See `DocumentStore`."""
        params = {
            "name": index_name,
            "since": to_micros(since),
            "most": limit,
            "now": self._current_micros(),
        }
        with self._file.locked_connection() as db:
            rows = db.execute(_SELECT_INDEX, params).fetchall()
        entries = []
        for row in rows:
            try:
                attributes = cast("Mapping[str, str | bool]", decode(row["shown"]))
            except StoreError as error:  # it hides no other
                log_context = {"sort": row["sort"]}
                _log.warning("an index entry cannot be read: %s", error, extra=log_context)
                continue
            listed = IndexEntry(row["listed"], from_micros(row["at"]), attributes)
            entries.append((Key(row["partition"], row["sort"]), listed))
        return entries

    def keys_and_expiries(self) -> Sequence[tuple[Key, datetime | None]]:
        """Return the keys and expiries of all documents, the last to expire first."""
        query = "SELECT partition, sort, expires FROM documents ORDER BY expires DESC"
        with self._file.locked_connection() as db:
            return [(Key(*row[:2]), _to_datetime(row["expires"])) for row in db.execute(query)]

    def close(self) -> None:
        """Close the store; see `DocumentStore`."""
        self._file.close()

    def _current_micros(self) -> int:
        return 0 if self._read_only else to_micros(self._clock.now())


def _apply_write(db: Connection, change: Write, current_micros: int) -> None:
    """Apply a write; raise `WriteConflict` if its condition does not hold."""
    params = {
        "partition_key": change.key.partition_key,
        "sort_key": change.key.sort_key,
        "now": current_micros,
    }
    match change:
        case Increment(_, by, expires, max_value):
            statement = _INCREMENT
            params |= {"by": by, "end": to_micros(expires), "most": max_value}
        case Delete(_, expected):
            statement = _DELETE
            params |= {"expected": expected}
        case Put(_, body, expected, expires, listed):
            statement = (
                _UPSERT
                if expected is None
                else _INSERT_IF_ABSENT
                if not expected
                else _UPDATE_VERSION
            )
            params |= {"expected": expected, "body": encode(body)}
            params |= {"end": None if expires is None else to_micros(expires)}
            params |= {
                "listed": listed and listed.index_name,
                "shown": listed and encode(listed.attributes),
            }
            params |= {"at": listed and to_micros(listed.sort_time)}
    row_count = db.execute(statement, params).rowcount
    if not row_count and not (isinstance(change, Delete) and change.expected_version is None):
        raise WriteConflict(
            "The document was changed by somebody else, or the counter is at its maximum."
        )


def _to_document(row: Row) -> Document:
    key = Key(row["partition"], row["sort"])
    return Document(key, row["version"], decode(row["body"]), _to_datetime(row["expires"]))


def _to_datetime(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
