"""The matches in an arena's data file, read as a match log is."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

from cardsharp.cloud.ports import MatchReader, MatchRecord, MoveRecord, NoteRecord, Status
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import ADMIN, Book, User
from cardsharp.deadmansdraw.arena.storage import SqliteStorage
from cardsharp.deadmansdraw.arena.views import Look, full_view
from cardsharp.deadmansdraw.recorded import Told, told
from cardsharp.deadmansdraw.wire import parse_view

TABLES = {"matches", "moves"}
"""What such a file has, and no other file of ours."""

_LOOK = Look(User(ADMIN, None, ADMIN), debug=True, events=True)
_BOOK = Book({})


class KeptMatches(MatchReader):
    """The matches of the data file at `path`, whose players have these names by their ids.

    Raises:
        ConfigError: it is none, or an arena is running on it.
    """

    def __init__(self, path: Path, names: Mapping[str, str]) -> None:
        self._storage, self._names = SqliteStorage(path, to_read=True), names
        found = (match for match in self._storage.matches() if isinstance(match, Match))
        self._matches = {match.id: match for match in found}

    def match(self, match_id: str) -> MatchRecord | None:
        """A match."""
        return self._told(match_id)[0] if match_id in self._matches else None

    def moves(self, match_id: str) -> list[MoveRecord]:
        """The moves of a match."""
        return self._told(match_id)[1] if match_id in self._matches else []

    def matches(
        self, day: date | None = None, status: Status | None = None, limit: int = 100
    ) -> list[MatchRecord]:
        """Matches, the last started first."""
        found = [
            match
            for match in self._matches.values()
            if status in {None, Status.FINISHED if match.finished else Status.RUNNING}
            and day in {None, match.started_at.date()}
        ]
        found.sort(key=lambda match: match.started_at, reverse=True)
        return [self._told(match.id)[0] for match in found[:limit]]

    def notes(self, match_id: str) -> list[NoteRecord]:
        """None."""
        del match_id
        return []

    def close(self) -> None:
        """Let go of the file."""
        self._storage.close()

    def _told(self, match_id: str) -> Told:
        history = self._storage.history(match_id)
        record, moves = told(parse_view(full_view(self._matches[match_id], _LOOK, history, _BOOK)))
        names = [self._names.get(str(name), name) for name in _listed(record.header["players"])]
        return replace(record, header={**record.header, "names": names}), moves


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
