"""Matches that survive the process: one SQLite file, one transaction a move.

A match is stored as a snapshot beside its history, not replayed from its moves: it goes on from
exactly the table it was on even where the rules' code has changed meanwhile, and a start reads
one short row a match, however long the histories are.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from cardsharp.cloud.ports import Status
from cardsharp.cloud.sqlite_file import Contents, SqliteFile, steps_in
from cardsharp.cloud.told import ToldMatches, Whole
from cardsharp.deadmansdraw.arena.match import Match, Move, NewerSnapshot, match_of, snapshot_of
from cardsharp.deadmansdraw.arena.players import ORGANISER, Book
from cardsharp.deadmansdraw.arena.views import Look, full_view
from cardsharp.deadmansdraw.recorded import told
from cardsharp.deadmansdraw.wire import parse_view
from cardsharp.errors import ConfigError, StoreError

# Exclusive: a second arena on the same file would overwrite the first one's matches.
_DATA = Contents(
    "arena's data file", "--data", steps_in(Path(__file__).with_name("matches.sql")), exclusive=True
)

_log = logging.getLogger(__name__)
_MOVE = TypeAdapter(Move)


class SqliteStorage:
    """Keeps matches in the SQLite file at `path`, for one arena at a time, or `to_read` only."""

    def __init__(self, path: Path, *, to_read: bool = False) -> None:
        try:
            self._file = SqliteFile(path, _DATA, to_read=to_read)
        except StoreError as error:
            running = " Perhaps another arena is running on it."
            if to_read:
                running = " An arena is running on it: name its address instead."
            hint = running if "locked" in str(error) else ""
            raise ConfigError(f"{error}{hint}") from None

    def matches(self) -> Iterable[tuple[str, Match | None]]:
        """All stored matches by id, unreadable ones None; `ConfigError` for a newer version's."""
        with self._file.reading() as db:
            rows = db.execute("SELECT id, body FROM matches ORDER BY id").fetchall()
        for match_id, body in rows:
            try:
                yield match_id, match_of(body, match_id)
            except NewerSnapshot as error:
                raise ConfigError(str(error)) from None
            except StoreError as error:
                _log.warning("%s", error)
                yield match_id, None

    def history(self, match_id: str) -> list[Move]:
        """The moves of a stored match, in order."""
        query = "SELECT body FROM moves WHERE match_id = ? ORDER BY sequence"
        try:
            with self._file.reading() as db:
                return [_MOVE.validate_json(body) for (body,) in db.execute(query, (match_id,))]
        except ValidationError:
            raise StoreError(f"The stored moves of match {match_id} cannot be read.") from None

    def save(self, match: Match, move: Move) -> None:
        """Store a match and its newest move together; they are safe when this returns."""
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO matches VALUES (?, ?) "
                "ON CONFLICT (id) DO UPDATE SET body = excluded.body",
                (match.id, snapshot_of(match).decode()),
            )
            db.execute(
                "INSERT INTO moves VALUES (?, ?, ?)",
                (match.id, move.sequence, _MOVE.dump_json(move).decode()),
            )

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


_LOOK = Look(ORGANISER, debug=True, events=True)
_BOOK = Book(dict)


class KeptMatches(ToldMatches):
    """The matches of the data file at `path`; raises `ConfigError` if it is none, or in use."""

    def __init__(self, path: Path, names: Mapping[str, str]) -> None:
        self._storage, self._names = SqliteStorage(path, to_read=True), names
        found = self._storage.matches()
        self._matches = {name: match for name, match in found if match is not None}
        state = {True: Status.FINISHED, False: Status.RUNNING}
        known = self._matches.values()
        listed = {match.id: (match.started_at, state[match.finished]) for match in known}
        super().__init__(self._told, listed)

    def close(self) -> None:
        """Let go of the file."""
        self._storage.close()

    def _told(self, match_id: str) -> Whole | None:
        match = self._matches.get(match_id)
        if match is None:
            return None
        view = full_view(match, _LOOK, self._storage.history(match_id), _BOOK)
        record, moves = told(parse_view(view))
        names = [self._names.get(player, player) for player in match.pairing.players]
        return replace(record, header={**record.header, "names": names}), moves
