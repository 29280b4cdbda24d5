"""Complete matches from another source, read like a match log."""

from collections.abc import Callable, Mapping
from datetime import date, datetime

from cardsharp.store.match_log import DebugNote, MatchReader, MatchRecord, MatchStatus, MoveRecord

MatchSnapshot = tuple[MatchRecord, list[MoveRecord]]  # a match with its moves


MatchIndex = Mapping[str, tuple[datetime, MatchStatus]]  # start and status of each match by id


class SnapshotMatchReader(MatchReader):
    """Reader of matches that are loaded as snapshots: `index` lists them, `load` returns one."""

    def __init__(self, load: Callable[[str], MatchSnapshot | None], index: MatchIndex) -> None:
        self._load, self._listed = load, index

    def match(self, match_id: str) -> MatchRecord | None:
        """Return the header of a match."""
        snapshot = self._load(match_id)
        return None if snapshot is None else snapshot[0]

    def moves(self, match_id: str) -> list[MoveRecord]:
        """Return the moves of a match."""
        snapshot = self._load(match_id)
        return [] if snapshot is None else snapshot[1]

    def matches(
        self,
        day: date | None = None,
        status: MatchStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> list[MatchRecord]:
        """Matches, the last started first."""
        entries = sorted(self._listed.items(), key=lambda entry: entry[1][0])[::-1]
        fits = [
            name
            for name, (started, state) in entries
            if day in {None, started.date()} and status in {None, state}
        ]
        first = 0
        if cursor is not None:
            first = fits.index(cursor) + 1 if cursor in fits else len(fits)
        page = fits[first : first + limit]
        return [record for name in page if (record := self.match(name)) is not None]

    def notes(self, match_id: str) -> list[DebugNote]:
        """Return no notes."""
        del match_id
        return []

    def close(self) -> None:
        """Do nothing."""
