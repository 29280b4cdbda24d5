"""Tests of the files of the stores: their permissions, migrations, and foreign files."""

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
from cardsharp.store.locations import dynamodb_table_name, sqlite_path
from cardsharp.store.sqlite_file import FileInUse, FileSchema, SqliteFile, read_table_names
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.match_sources.match_logs import open_existing_log

OpenStore = Callable[[Path], Any]

STORE_OPENERS: dict[str, OpenStore] = {
    "log": lambda path: SqliteMatchLog(path, SystemClock()),
    "vault": lambda path: build_vault(f"sqlite:{path}", SystemClock()),
    "blef": lambda path: GAME_STORE_FACTORY.open_file(path, SystemClock()),
    "euchre": lambda path: DEAL_STORE_FACTORY.open_file(path, SystemClock()),
    "arena": SqliteStorage,
}


@pytest.fixture(params=STORE_OPENERS)
def open_store(request: pytest.FixtureRequest) -> OpenStore:
    return STORE_OPENERS[request.param]


@pytest.fixture(autouse=True)
def _set_usual_umask() -> Iterator[None]:
    """Set the usual umask, under which a careless program's files are readable by all users."""
    previous_umask = os.umask(0o022)
    yield
    os.umask(previous_umask)


def file_modes_in(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def table_names(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_master")}


def test_a_store_and_its_side_files_are_readable_by_the_owner_only(
    tmp_path: Path, open_store: OpenStore
) -> None:
    """The modes are checked while the store is open, because only then side files exist.

    An existing store's mode is restricted; the mode of an existing folder is not changed.
    """
    folder = tmp_path / "new"
    for mode in (0o700, 0o755):
        with closing(open_store(folder / "store.db")):
            file_modes = file_modes_in(folder)
        assert len(file_modes) >= 2
        assert set(file_modes.values()) == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == mode
        for file in folder.iterdir():
            file.chmod(0o644)
        folder.chmod(0o755)


FOREIGN_SCHEMA = (
    "CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('https://example.org')"
)


def test_a_foreign_file_is_refused_and_not_changed(tmp_path: Path, open_store: OpenStore) -> None:
    path = tmp_path / ("store.db.vault" if open_store is STORE_OPENERS["vault"] else "store.db")
    with closing(sqlite3.connect(path)) as db:
        db.executescript(FOREIGN_SCHEMA)
    for version in (0, 1, 2, 99):
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version = {version}")
        content = path.read_bytes()
        with pytest.raises((StoreError, ConfigError), match=r"store\.db.* is no "):
            open_store(tmp_path / "store.db")
        assert path.read_bytes() == content


def test_a_read_only_log_cannot_write_and_leaves_no_files(tmp_path: Path) -> None:
    """A file that is not a match log is not changed either."""
    path = tmp_path / "log.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(FOREIGN_SCHEMA)
    for body in (path.read_bytes(), b"", b"no database, but text\n" * 100):
        path.write_bytes(body)
        path.chmod(0o644)
        with pytest.raises(StoreError, match=r"log\.db"), open_existing_log(f"sqlite:{path}"):
            pass
        assert (path.read_bytes(), file_modes_in(tmp_path)) == (body, {"log.db": 0o644})
    path.unlink()
    with closing(SqliteMatchLog(path, SystemClock())) as log:
        log.mark_queued("m", FakeClock().now() - FakeClock().now())
    with open_existing_log(f"sqlite:{path}") as log:
        assert [match.match_id for match in log.matches()] == ["m"]
        with pytest.raises(StoreError, match="readonly"):
            log.add_note("m", "kind", {})
    assert file_modes_in(tmp_path) == {"log.db": 0o600}


def test_a_file_is_migrated_step_by_step(tmp_path: Path) -> None:
    """Only missing migrations run; a failing migration leaves the file unchanged."""
    path, schema_names = tmp_path / "store.db", ("store", "SETTING")
    first_migration = "CREATE TABLE a (x); INSERT INTO a VALUES (1)"
    second_migration = "CREATE TABLE b (x); INSERT INTO b SELECT x + 1 FROM a"
    failing_migration = f"{second_migration}; DROP TABLE nowhere"
    SqliteFile(path, FileSchema(*schema_names, (first_migration,))).close()
    with pytest.raises(StoreError, match="no such table: nowhere"):
        SqliteFile(path, FileSchema(*schema_names, (first_migration, failing_migration)))
    assert table_names(path) == {"a"}
    for _ in range(2):
        file = SqliteFile(path, FileSchema(*schema_names, (first_migration, second_migration)))
        with closing(file), file.locked_connection() as db:
            assert [tuple(row) for row in db.execute("SELECT x FROM b")] == [(2,)]
    with pytest.raises(StoreError, match="newer Cardsharp"):
        SqliteFile(path, FileSchema(*schema_names, (first_migration,)))


TEXT_SCHEMA = FileSchema("match log", "CARDSHARP_STORE", ("CREATE TABLE told (word TEXT)",))


def insert_and_list(file: SqliteFile, text: str) -> list[str]:
    with file.transaction() as db:
        db.execute("INSERT INTO told VALUES (?)", (text,))
        return [row[0] for row in db.execute("SELECT word FROM told")]


def test_a_store_deleted_while_in_use_is_recreated_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Without this check SQLite would write into the deleted file and lose everything.

    An exclusive store such as the arena's raises `StoreError` instead, because a new file
    would lack data that the arena has in memory.
    """
    path = tmp_path / "log.db"
    with closing(SqliteFile(path, TEXT_SCHEMA)) as file:
        assert insert_and_list(file, "before") == ["before"]
        path.unlink()
        assert insert_and_list(file, "after") == ["after"]
        assert insert_and_list(file, "again") == ["after", "again"]
    assert [message for message in caplog.messages if "log.db was deleted or replaced" in message]
    with (
        closing(SqliteFile(path, TEXT_SCHEMA, read_only=True)) as file,
        file.locked_connection() as db,
    ):
        assert db.execute("SELECT count(*) FROM told").fetchone()[0] == 2
    exclusive_schema = FileSchema(
        "match log", "CARDSHARP_STORE", TEXT_SCHEMA.migrations, is_exclusive=True
    )
    with closing(SqliteFile(tmp_path / "arena.db", exclusive_schema)) as file:
        (tmp_path / "arena.db").unlink()
        with pytest.raises(StoreError, match="was deleted or replaced while it was in use"):
            insert_and_list(file, "lost")


def test_an_arena_in_use_is_told_from_a_file_that_is_none(tmp_path: Path) -> None:
    """The path is no hint at another arena, whatever the words in it."""
    path = tmp_path / "locked.db"
    with closing(SqliteStorage(path)):
        with pytest.raises(FileInUse):
            read_table_names(path)
        with pytest.raises(ConfigError, match="Perhaps another arena is running on it"):
            SqliteStorage(path)
    assert read_table_names(path) == {"matches", "moves"}
    other_file = tmp_path / "locked.txt"
    other_file.write_text("no database" * 100)
    with pytest.raises(ConfigError) as raised:
        SqliteStorage(other_file)
    assert "another arena" not in str(raised.value)
    with pytest.raises(StoreError, match="not a database"):
        read_table_names(other_file)


@pytest.mark.parametrize(
    ("location", "path", "table"),
    [
        ("sqlite:~/m.db", Path("~/m.db").expanduser(), None),
        ("sqlite::memory:", Path(":memory:"), None),
        ("dynamodb:Matches", None, "Matches"),
        ("sqlite:", None, None),
        ("dynamodb:", None, None),
        ("m.db", None, None),
        ("", None, None),
    ],
)
def test_a_location_names_a_file_or_a_table(
    location: str, path: Path | None, table: str | None
) -> None:
    assert (sqlite_path(location), dynamodb_table_name(location)) == (path, table)
    if path is None and table is None:
        with pytest.raises(ConfigError, match="must be sqlite:FILE or dynamodb:TABLE"):
            build_vault(location, SystemClock())
