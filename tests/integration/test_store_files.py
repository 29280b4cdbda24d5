"""Files of the stores: their permissions, and foreign files that they must not touch."""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.store_fixtures import FakeClock

from cardsharp.bot.bootstrap import build_vault
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError, StoreError
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp.games.deadmansdraw.arena.storage.sqlite_storage import SqliteStorage
from cardsharp.games.euchre.service.deal_store import DEAL_STORE_FACTORY
from cardsharp.store.sqlite_file import FileSchema, SqliteFile
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.match_sources.match_logs import open_existing_log

Make = Callable[[Path], Any]

MAKERS: dict[str, Make] = {
    "log": lambda path: SqliteMatchLog(path, SystemClock()),
    "vault": lambda path: build_vault(f"sqlite:{path}", SystemClock()),
    "blef": lambda path: GAME_STORE_FACTORY.open_file(path, SystemClock()),
    "euchre": lambda path: DEAL_STORE_FACTORY.open_file(path, SystemClock()),
    "arena": SqliteStorage,
}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Make:
    return MAKERS[request.param]


@pytest.fixture(autouse=True)
def _generous() -> Iterator[None]:
    """Set the usual umask, under which a careless program's files are readable by all users."""
    previous_umask = os.umask(0o022)
    yield
    os.umask(previous_umask)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_master")}


def test_a_store_and_its_side_files_are_readable_by_the_owner_only(
    tmp_path: Path, make: Make
) -> None:
    """Check the modes while the store is open, because only then side files exist.

    An existing store's mode is narrowed; the mode of an existing folder is not changed.
    """
    folder = tmp_path / "new"
    for mode in (0o700, 0o755):
        with closing(make(folder / "store.db")):
            file_modes = modes(folder)
        assert len(file_modes) >= 2
        assert set(file_modes.values()) == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == mode
        for file in folder.iterdir():
            file.chmod(0o644)
        folder.chmod(0o755)


FOREIGN = "CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('https://example.org')"


def test_a_foreign_file_is_refused_and_not_changed(tmp_path: Path, make: Make) -> None:
    path = tmp_path / ("store.db.vault" if make is MAKERS["vault"] else "store.db")
    with closing(sqlite3.connect(path)) as db:
        db.executescript(FOREIGN)
    for version in (0, 1, 2, 99):
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version = {version}")
        content = path.read_bytes()
        with pytest.raises((StoreError, ConfigError), match=r"store\.db.* is no "):
            make(tmp_path / "store.db")
        assert path.read_bytes() == content


def test_a_read_only_log_cannot_write_and_leaves_no_files(tmp_path: Path) -> None:
    """A file that is no match log is not changed either."""
    path = tmp_path / "log.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(FOREIGN)
    for body in (path.read_bytes(), b"", b"no database, but text\n" * 100):
        path.write_bytes(body)
        path.chmod(0o644)
        with pytest.raises(StoreError, match=r"log\.db"), open_existing_log(f"sqlite:{path}"):
            pass
        assert (path.read_bytes(), modes(tmp_path)) == (body, {"log.db": 0o644})
    path.unlink()
    with closing(SqliteMatchLog(path, SystemClock())) as log:
        log.mark_queued("m", FakeClock().now() - FakeClock().now())
    with open_existing_log(f"sqlite:{path}") as log:
        assert [match.match_id for match in log.matches()] == ["m"]
        with pytest.raises(StoreError, match="readonly"):
            log.add_note("m", "kind", {})
    assert modes(tmp_path) == {"log.db": 0o600}


def test_a_file_is_brought_from_version_to_version(tmp_path: Path) -> None:
    """By those steps that it has not taken; one that fails leaves the file as it was."""
    path, words = tmp_path / "store.db", ("store", "SETTING")
    first = "CREATE TABLE a (x); INSERT INTO a VALUES (1)"
    second = "CREATE TABLE b (x); INSERT INTO b SELECT x + 1 FROM a"
    failing = f"{second}; DROP TABLE nowhere"
    SqliteFile(path, FileSchema(*words, (first,))).close()
    with pytest.raises(StoreError, match="no such table: nowhere"):
        SqliteFile(path, FileSchema(*words, (first, failing)))
    assert tables(path) == {"a"}
    for _ in range(2):
        file = SqliteFile(path, FileSchema(*words, (first, second)))
        with closing(file), file.locked_connection() as db:
            assert [tuple(row) for row in db.execute("SELECT x FROM b")] == [(2,)]
    with pytest.raises(StoreError, match="newer Cardsharp"):
        SqliteFile(path, FileSchema(*words, (first,)))


TABLE = FileSchema("match log", "CARDSHARP_STORE", ("CREATE TABLE told (word TEXT)",))


def tell(file: SqliteFile, text: str) -> list[str]:
    with file.transaction() as db:
        db.execute("INSERT INTO told VALUES (?)", (text,))
        return [row[0] for row in db.execute("SELECT word FROM told")]


def test_a_store_deleted_while_in_use_is_recreated_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Without this check SQLite would go on writing into the deleted file, and lose everything.

    An exclusive store such as the arena's raises `StoreError` instead: its memory holds what a
    new file would lack.
    """
    path = tmp_path / "log.db"
    with closing(SqliteFile(path, TABLE)) as file:
        assert tell(file, "before") == ["before"]
        path.unlink()
        assert tell(file, "after") == ["after"]
        assert tell(file, "again") == ["after", "again"]
    assert [message for message in caplog.messages if "log.db was deleted or replaced" in message]
    with closing(SqliteFile(path, TABLE, read_only=True)) as file, file.locked_connection() as db:
        assert db.execute("SELECT count(*) FROM told").fetchone()[0] == 2
    owned = FileSchema("match log", "CARDSHARP_STORE", TABLE.migrations, is_exclusive=True)
    with closing(SqliteFile(tmp_path / "arena.db", owned)) as file:
        (tmp_path / "arena.db").unlink()
        with pytest.raises(StoreError, match="was deleted or replaced while it was in use"):
            tell(file, "lost")
