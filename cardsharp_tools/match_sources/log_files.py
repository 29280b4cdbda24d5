"""SQLite files with matches: match logs, and the files of arenas."""

from contextlib import AbstractContextManager, closing
from pathlib import Path

from cardsharp.core.clock import SystemClock
from cardsharp.errors import StoreError
from cardsharp.store.match_log import MatchReader
from cardsharp.store.sqlite_file import FileInUse, read_table_names
from cardsharp.store.sqlite_match_log import SqliteMatchLog


def open_log_file(file: Path) -> AbstractContextManager[MatchReader]:
    """Return a reader of a match log or of an arena's file."""
    if _is_arena_file(file):  # the names of the teams are in the contest's file beside it
        from cardsharp.contest.contest_file import CONTEST_FILE_NAME, open_contest_in  # noqa: PLC0415 - many modules
        from cardsharp.games.deadmansdraw.arena.storage.sqlite_storage import ArenaFileReader  # noqa: PLC0415 - the same

        if not (file.parent / CONTEST_FILE_NAME).is_file():
            return closing(ArenaFileReader(file, {}))
        with open_contest_in(file.parent) as records:
            return closing(ArenaFileReader(file, records.team_names_with_removed()))
    return closing(SqliteMatchLog(file, SystemClock(), read_only=True))


def _is_arena_file(file: Path) -> bool:
    """Return True if the file has the tables of an arena.

    A locked file counts as one, because a running arena lets no other process read it.
    """
    try:
        return read_table_names(file) == {"matches", "moves"}
    except FileInUse:
        return True
    except StoreError:
        return False


def is_match_log_file(file: Path) -> bool:
    """Return True if the file has the tables of a match log."""
    try:
        return read_table_names(file) >= {"matches", "moves", "notes"}
    except StoreError:
        return False
