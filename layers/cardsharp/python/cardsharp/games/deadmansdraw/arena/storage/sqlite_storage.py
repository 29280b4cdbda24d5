"""Storage of an arena's matches in one SQLite file, with one transaction a move.

A match is stored as a snapshot beside its history, not replayed from its moves. So it continues
from exactly the same table even if the code of the rules has changed meanwhile, and a start
reads one short row a match, however long the histories are.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from cardsharp.errors import ConfigError, StoreError
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN_USER, UserDirectory
from cardsharp.games.deadmansdraw.arena.match import (
    ArenaMatch,
    ArenaMove,
    UnsupportedSnapshot,
    from_snapshot,
    to_snapshot,
)
from cardsharp.games.deadmansdraw.arena.views import ViewOptions, full_view
from cardsharp.games.deadmansdraw.arena_bot.wire import parse_view
from cardsharp.games.deadmansdraw.history.arena_import import match_from_view
from cardsharp.store.match_log import MatchStatus
from cardsharp.store.match_snapshots import MatchSnapshot, SnapshotMatchReader
from cardsharp.store.sqlite_file import FileInUse, FileSchema, SqliteFile, parse_migrations

# Exclusive: a second arena on the same file would overwrite the first one's matches.
_DATA_SCHEMA = FileSchema(
    "arena's data file",
    "--data",
    parse_migrations(Path(__file__).with_name("matches.sql")),
    is_exclusive=True,
)

_log = logging.getLogger(__name__)
_MOVE_ADAPTER = TypeAdapter(ArenaMove)


class SqliteStorage:
    """Matches in the SQLite file at `path`, for one arena at a time, or `read_only`."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        try:
            self._file = SqliteFile(path, _DATA_SCHEMA, read_only=read_only)
        except StoreError as error:
            running = " Perhaps another arena is running on it."
            if read_only:
                running = " An arena is running on it: name its address instead."
            hint = running if isinstance(error, FileInUse) else ""
            raise ConfigError(f"{error}{hint}") from None

    def iterate_stored_matches(self) -> Iterable[tuple[str, ArenaMatch | None]]:
        """All stored matches by id, unreadable ones None; `ConfigError` for a newer version's."""
        with self._file.locked_connection() as db:
            rows = db.execute("SELECT id, body FROM matches ORDER BY id").fetchall()
        for match_id, body in rows:
            try:
                yield match_id, from_snapshot(body, match_id)
            except UnsupportedSnapshot as error:
                raise ConfigError(str(error)) from None
            except StoreError as error:
                _log.warning("%s", error)
                yield match_id, None

    def move_history(self, match_id: str) -> list[ArenaMove]:
        """The moves of a stored match, in order."""
        query = "SELECT body FROM moves WHERE match_id = ? ORDER BY sequence"
        try:
            with self._file.locked_connection() as db:
                return [
                    _MOVE_ADAPTER.validate_json(body) for (body,) in db.execute(query, (match_id,))
                ]
        except ValidationError:
            raise StoreError(f"The stored moves of match {match_id} cannot be read.") from None

    def save_move(self, match: ArenaMatch, move: ArenaMove) -> None:
        """Store a match and its newest move together; they are safe when this returns."""
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO matches VALUES (?, ?) "
                "ON CONFLICT (id) DO UPDATE SET body = excluded.body",
                (match.id, to_snapshot(match).decode()),
            )
            db.execute(
                "INSERT INTO moves VALUES (?, ?, ?)",
                (match.id, move.sequence, _MOVE_ADAPTER.dump_json(move).decode()),
            )

    def close(self) -> None:
        """Close the SQLite file."""
        self._file.close()


_FULL_VIEW_OPTIONS = ViewOptions(ADMIN_USER, show_debug=True, show_events=True)
_EMPTY_DIRECTORY = UserDirectory(dict)


class ArenaFileReader(SnapshotMatchReader):
    """Reader of the matches in the data file of an arena at `path`.

    Raises `ConfigError` if it is none, or in use.
    """

    def __init__(self, path: Path, player_names: Mapping[str, str]) -> None:
        self._storage, self._player_names = SqliteStorage(path, read_only=True), player_names
        stored_matches = self._storage.iterate_stored_matches()
        self._matches = {name: match for name, match in stored_matches if match is not None}
        state = {True: MatchStatus.FINISHED, False: MatchStatus.RUNNING}
        readable_matches = self._matches.values()
        listed = {
            match.id: (match.started_at, state[match.is_finished]) for match in readable_matches
        }
        super().__init__(self._read_snapshot, listed)

    def close(self) -> None:
        """Close the arena's file."""
        self._storage.close()

    def _read_snapshot(self, match_id: str) -> MatchSnapshot | None:
        match = self._matches.get(match_id)
        if match is None:
            return None
        view = full_view(
            match, _FULL_VIEW_OPTIONS, self._storage.move_history(match_id), _EMPTY_DIRECTORY
        )
        record, moves = match_from_view(parse_view(view))
        names = [self._player_names.get(player, player) for player in match.pairing.players]
        return replace(record, header={**record.header, "names": names}), moves
