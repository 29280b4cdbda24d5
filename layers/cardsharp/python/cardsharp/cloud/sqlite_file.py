"""A SQLite file that keeps something of ours: opening, schema and transactions.

Several processes may use the file at once. Every change is one `BEGIN IMMEDIATE` transaction in
a write-ahead log, so a process killed at any moment leaves whole transactions only.
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

import stamina

from cardsharp.cloud.private import make_private, narrow
from cardsharp.errors import StoreError

_log = logging.getLogger(__name__)

MEMORY = ":memory:"  # the path of what is kept in this process only
_BUSY = timedelta(seconds=10)
_BUSY_EXCLUSIVE = timedelta(seconds=1)
_SIDECARS = ("-wal", "-shm", "-journal")  # beside an open file, with the file's own mode


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file keeps: the words for it, the setting that names the file, and its schema.

    Each of `steps` makes the schema from that of the one before, the first in an empty file. A file
    knows how many it has taken and takes the others when it is opened, so a step that was published
    is never changed. Of an `exclusive` file there is one user at a time.
    """

    name: str
    setting: str
    steps: tuple[str, ...]
    exclusive: bool = False

    def tables(self, version: int) -> set[str]:
        """The tables after so many steps."""
        with closing(sqlite3.connect(MEMORY)) as db:
            db.executescript(";".join(self.steps[:version]))
            return _found(db)[1]


def steps_in(script: Path) -> tuple[str, ...]:
    """The steps of a script, each after a line that begins with `-- step`."""
    return tuple(re.split(r"(?m)^-- step.*$", script.read_text("utf-8"))[1:])


class SqliteFile:
    """One connection to the file at `path`, made with its folder if it is not there.

    Only its owner can read it. With `to_read` it must be there, and nothing can be written to it.
    Raises `StoreError` if it cannot be used, is not ours, or a newer version made it.
    """

    def __init__(self, path: str | Path, contents: Contents, *, to_read: bool = False) -> None:
        self._path = Path(path)
        self._contents = contents
        self._lock = threading.RLock()  # a file that is replaced is prepared in the midst of it
        self._to_read = to_read
        with self._translated():
            self._open()

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
            if self._is_gone():
                self._replace()
            yield self._db

    def _open(self) -> None:
        """Connect; a file that is to be written is there then, for its owner alone."""
        place, exclusive = str(self._path), self._contents.exclusive
        if self._to_read:
            place = f"{self._path.absolute().as_uri()}?mode=rw"
        elif place != MEMORY and not self._path.exists():
            make_private(self._path)
        wait = _BUSY_EXCLUSIVE if exclusive else _BUSY
        self._db = sqlite3.connect(
            place,
            timeout=wait.total_seconds(),
            isolation_level=None,
            check_same_thread=False,
            uri=self._to_read,
        )
        self._is = _identity(self._path)
        # What is kept in memory goes when nobody has it any more, without a call of `close`.
        self._end = weakref.finalize(self, self._db.close)
        self._db.row_factory = sqlite3.Row
        # One damaged letter must not hide the other rows of an answer.
        self._db.text_factory = partial(str, encoding="utf-8", errors="replace")
        try:
            self._prepare()
        except BaseException:
            self._end()
            raise

    def _is_gone(self) -> bool:
        """Whether a file that we write is gone: SQLite would write on where nobody can read."""
        writes = self._end.alive and not self._to_read and str(self._path) != MEMORY
        return writes and _identity(self._path) != self._is

    def _replace(self) -> None:
        """Go on in the file that lies there now, or in a new one.

        An exclusive file is not made anew: its owner holds in memory what the new one would lack.
        """
        name, path = self._contents.name, self._path
        said = f"The {name} {path} was deleted or replaced while it was in use"
        if self._contents.exclusive:
            raise StoreError(f"{said}. Put it back, or start again with a new file.")
        _log.error("%s; what it held is lost, and a file that is there now goes on.", said)
        self._end()
        for end in _SIDECARS:  # of the deleted file; in a new one they would be taken for its own
            if not path.exists():
                Path(f"{path}{end}").unlink(missing_ok=True)
        self._open()

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
        """Bring the schema up to date; for one that writes, switch to a write-ahead log."""
        # Two first openers can collide in the switch, which ignores the busy timeout.
        attempts = 1 if self._contents.exclusive else 5
        for attempt in stamina.retry_context(
            on=_is_busy, attempts=attempts, timeout=5, wait_initial=0.02
        ):
            with attempt:
                found = self._version(may_be_empty=not self._to_read)
                if not self._to_read:
                    self._switch()
        if found < len(self._contents.steps):
            with self.transaction():
                # Somebody else may have been here first.
                for step in self._contents.steps[self._version(may_be_empty=True) :]:
                    for statement in filter(str.strip, step.split(";")):
                        self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {len(self._contents.steps)}")
        if self._to_read:
            self._db.execute("PRAGMA query_only = ON")

    def _switch(self) -> None:
        """Let the file and what lies beside it be ours alone, and have a write-ahead log."""
        if str(self._path) != MEMORY:
            for end in ("", *_SIDECARS):
                narrow(Path(f"{self._path}{end}"))
        if self._contents.exclusive:
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute("PRAGMA journal_mode = WAL")
        # Enough for a killed process. A power cut may cost the last commits, never the file.
        self._db.execute("PRAGMA synchronous = NORMAL")

    def _version(self, *, may_be_empty: bool) -> int:
        """How many steps the file has taken; raises `StoreError` unless it is one of ours."""
        contents, (version, tables) = self._contents, _found(self._db)
        if version > len(contents.steps) and tables & contents.tables(len(contents.steps)):
            raise StoreError(
                f"A newer Cardsharp made the {contents.name} {self._path}; "
                f"install that one or set {contents.setting} to another file."
            )
        known = version in range(0 if may_be_empty else 1, len(contents.steps) + 1)
        if not known or tables != contents.tables(version):
            raise StoreError(
                f"The file {self._path} is no {contents.name} of Cardsharp's; "
                f"set {contents.setting} to another file."
            )
        return version


def _found(db: sqlite3.Connection) -> tuple[int, set[str]]:
    """The version that a file calls itself, and its tables, at one moment."""
    version, tables = db.execute(
        "SELECT user_version, (SELECT json_group_array(name) FROM sqlite_master "
        "WHERE type = 'table' AND name NOT LIKE 'sqlite%') FROM pragma_user_version"
    ).fetchone()
    return version, set(json.loads(tables))


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file lies there, None where none does or all is kept in memory."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _is_busy(error: Exception) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
