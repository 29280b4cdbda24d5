"""The matches in an arena's data file, read as a match log is."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from cardsharp.cloud.ports import Status
from cardsharp.cloud.told import ToldMatches, Whole
from cardsharp.deadmansdraw.arena.players import ADMIN, Book, User
from cardsharp.deadmansdraw.arena.storage import SqliteStorage
from cardsharp.deadmansdraw.arena.views import Look, full_view
from cardsharp.deadmansdraw.recorded import told
from cardsharp.deadmansdraw.wire import parse_view

_LOOK = Look(User(ADMIN, None, ADMIN), debug=True, events=True)
_BOOK = Book({})


class KeptMatches(ToldMatches):
    """The matches of the data file at `path`, whose players have these names by their ids.

    Raises:
        ConfigError: it is none, or an arena is running on it.
    """

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
