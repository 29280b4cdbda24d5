"""A SQLite file of ours: opening, migrations, transactions and errors.

No other module imports `sqlite3`. Several processes may use the file at once. Every change is
one `BEGIN IMMEDIATE` transaction in a write-ahead log, so a process killed at any moment leaves
complete transactions only.
"""

import json
import logging
import re
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeAlias

from cardsharp.core.private_files import ensure_private_file, restrict_to_owner
from cardsharp.errors import StoreError

Connection: TypeAlias = sqlite3.Connection
Row: TypeAlias = sqlite3.Row

_log = logging.getLogger(__name__)

MEMORY_PATH = ":memory:"  # the path of what is kept in this process only
_BUSY_TIMEOUT = timedelta(seconds=10)
_EXCLUSIVE_BUSY_TIMEOUT = timedelta(seconds=1)
_SIDECARS = ("-wal", "-shm", "-journal")  # beside an open file, with the file's own mode


class FileInUse(StoreError):
    """Another process uses the file, and let us wait for too long."""


@dataclass(frozen=True, slots=True)
class FileSchema:
    """Schema of a file: its description, the setting that names the file, and the migrations.

    Each migration leads from the schema of the one before to the next, the first from an empty
    file. A file stores how many were applied and applies the rest when it is opened, so a
    published migration is never changed. An `is_exclusive` file has one user at a time.
    """

    description: str
    setting_name: str
    migrations: tuple[str, ...]
    is_exclusive: bool = False

    def tables_at_version(self, version: int) -> set[str]:
        """Return the names of the tables after the first `version` migrations."""
        with closing(sqlite3.connect(MEMORY_PATH)) as db:
            db.executescript(";".join(self.migrations[:version]))
            return _read_schema(db)[1]


def read_table_names(path: Path) -> set[str]:
    """Return the names of the tables in any SQLite file, which is not changed.

    Raises `FileInUse` if the process that uses the file shares it with nobody, and `StoreError`
    if it is no such file.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", 1, uri=True)) as db:
            return _read_schema(db)[1]
    except sqlite3.Error as error:
        message = f"The file {path} cannot be used: {error}"
        raise (FileInUse if _is_busy(error) else StoreError)(message) from error


def parse_migrations(script: Path) -> tuple[str, ...]:
    """Return the migrations in a script, each after a line that begins with `-- step`."""
    return tuple(re.split(r"(?m)^-- step.*$", script.read_text("utf-8"))[1:])


class SqliteFile:
    """One connection to the file at `path`, which is created with its folder if missing.

    Only its owner can read it. With `read_only` it must exist, and nothing can be written to
    it. Raises `StoreError` if it cannot be used, is not ours, or a newer version created it,
    and `FileInUse` if another process does not let us use it.
    """

    def __init__(self, path: str | Path, schema: FileSchema, *, read_only: bool = False) -> None:
        self._path = Path(path)
        self._schema = schema
        self._lock = threading.RLock()  # a file that is replaced is prepared in the midst of it
        self._read_only = read_only
        with self._translate_errors():
            self._open()

    def close(self) -> None:
        """Close the file; it cannot be used afterwards."""
        # Closing it while another thread executes a statement would crash the process.
        with self._lock:
            self._finalizer()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Yield the database; everything written in the block is committed, or nothing."""
        with self.locked_connection() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def locked_connection(self) -> Iterator[Connection]:
        """Yield the connection under a lock: one thread at a time uses it."""
        with self._lock, self._translate_errors():
            if self._is_replaced():
                self._replace()
            yield self._db

    def _open(self) -> None:
        """Connect to the database.

        A missing file that is to be written is created first, accessible to its owner only.
        """
        database, exclusive = str(self._path), self._schema.is_exclusive
        if self._read_only:
            database = f"{self._path.absolute().as_uri()}?mode=rw"
        elif database != MEMORY_PATH and not self._path.exists():
            ensure_private_file(self._path)
        wait = _EXCLUSIVE_BUSY_TIMEOUT if exclusive else _BUSY_TIMEOUT
        self._db = sqlite3.connect(
            database,
            timeout=wait.total_seconds(),
            isolation_level=None,
            check_same_thread=False,
            uri=self._read_only,
        )
        self._file_identity = _read_file_identity(self._path)
        # Closes a database in memory when nobody refers to it any more.
        self._finalizer = weakref.finalize(self, self._db.close)
        self._db.row_factory = Row
        # One damaged character must not hide the other rows of a result.
        self._db.text_factory = partial(str, encoding="utf-8", errors="replace")
        try:
            self._prepare_schema()
        except BaseException:
            self._finalizer()
            raise

    def _is_replaced(self) -> bool:
        """Return True if our file was deleted or replaced, so that writes to it would be lost."""
        writes = self._finalizer.alive and not self._read_only and str(self._path) != MEMORY_PATH
        return writes and _read_file_identity(self._path) != self._file_identity

    def _replace(self) -> None:
        """Continue with the file that replaced ours, or with a new one.

        Raise `StoreError` for an exclusive file: its owner has data in memory that a new file
        would lack.
        """
        name, path = self._schema.description, self._path
        message = f"The {name} {path} was deleted or replaced while it was in use"
        if self._schema.is_exclusive:
            raise StoreError(f"{message}. Put it back, or start again with a new file.")
        _log.error("%s. Its data is lost, and the file that is there now is used instead.", message)
        self._finalizer()
        for end in _SIDECARS:  # of the deleted file; in a new one they would be taken for its own
            if not path.exists():
                Path(f"{path}{end}").unlink(missing_ok=True)
        self._open()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise a failure of the file as a `StoreError` that names the file."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise (FileInUse if _is_busy(error) else StoreError)(
                f"The {self._schema.description} {self._path} cannot be used: "
                f"{str(error).rstrip('.')}. Check the file and its folder, "
                f"or set {self._schema.setting_name} to another file."
            ) from error

    def _prepare_schema(self) -> None:
        """Bring the schema up to date; if the file is written, switch to a write-ahead log."""
        try:
            version = self._read_version_and_enable_wal()
        except sqlite3.OperationalError as error:
            if self._schema.is_exclusive or not _is_busy(error):
                raise
            version = self._retry_first_opening()
        if version < len(self._schema.migrations):
            with self.transaction():
                # Another process may have migrated the file since we read its version.
                for migration in self._schema.migrations[self._read_version(may_be_empty=True) :]:
                    for statement in filter(str.strip, migration.split(";")):
                        self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {len(self._schema.migrations)}")
        if self._read_only:
            self._db.execute("PRAGMA query_only = ON")

    def _read_version_and_enable_wal(self) -> int:
        version = self._read_version(may_be_empty=not self._read_only)
        if not self._read_only:
            self._enable_wal()
        return version

    def _retry_first_opening(self) -> int:
        """Return the file's version; two first openers may have collided.

        They collide in the switch to a write-ahead log, which ignores the busy timeout.
        """
        import stamina  # noqa: PLC0415 - slow to import, and most files are opened at once

        attempts = stamina.retry_context(on=_is_busy, attempts=4, timeout=5, wait_initial=0.02)
        for attempt in attempts.with_name(f"open {self._path}", (), {}):  # for a retry's log line
            with attempt:
                return self._read_version_and_enable_wal()
        raise AssertionError(self._path)  # the last attempt has raised its error

    def _enable_wal(self) -> None:
        """Restrict the file and its sidecars to its owner, and switch to a write-ahead log."""
        if str(self._path) != MEMORY_PATH:
            for end in ("", *_SIDECARS):
                restrict_to_owner(Path(f"{self._path}{end}"))
        if self._schema.is_exclusive:
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute("PRAGMA journal_mode = WAL")
        # Enough for a killed process. A power cut may cost the last commits, never the file.
        self._db.execute("PRAGMA synchronous = NORMAL")

    def _read_version(self, *, may_be_empty: bool) -> int:
        """Return the number of migrations of the file; raise `StoreError` unless it is ours."""
        contents, (version, tables) = self._schema, _read_schema(self._db)
        if version > len(contents.migrations) and tables & contents.tables_at_version(
            len(contents.migrations)
        ):
            raise StoreError(
                f"A newer Cardsharp made the {contents.description} {self._path}; "
                f"install that one or set {contents.setting_name} to another file."
            )
        is_supported = version in range(0 if may_be_empty else 1, len(contents.migrations) + 1)
        if not is_supported or tables != contents.tables_at_version(version):
            raise StoreError(
                f"The file {self._path} is no {contents.description} of Cardsharp's; "
                f"set {contents.setting_name} to another file."
            )
        return version


def _read_schema(db: Connection) -> tuple[int, set[str]]:
    """Return the version in a file and its tables, both read in one query."""
    version, tables = db.execute(
        "SELECT user_version, (SELECT json_group_array(name) FROM sqlite_master "
        "WHERE type = 'table' AND name NOT LIKE 'sqlite%') FROM pragma_user_version"
    ).fetchone()
    return version, set(json.loads(tables))


def _read_file_identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, None if it does not exist or is in memory."""
    try:
        stat_result = path.stat()
    except FileNotFoundError:
        return None
    return stat_result.st_dev, stat_result.st_ino


def _is_busy(error: Exception) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
