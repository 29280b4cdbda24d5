"""Matches that somebody tells whole, read as a match log is."""

from collections.abc import Callable, Mapping
from datetime import date, datetime

from cardsharp.cloud.ports import MatchReader, MatchRecord, MoveRecord, NoteRecord, Status

Whole = tuple[MatchRecord, list[MoveRecord]]  # a match with its moves


Listed = Mapping[str, tuple[datetime, Status]]  # when each began, and how far it is, by its id


class ToldMatches(MatchReader):
    """The matches that are `listed`, each of which `whole` tells."""

    def __init__(self, whole: Callable[[str], Whole | None], listed: Listed) -> None:
        self._whole, self._listed = whole, listed

    def match(self, match_id: str) -> MatchRecord | None:
        """A match."""
        told = self._whole(match_id)
        return None if told is None else told[0]

    def moves(self, match_id: str) -> list[MoveRecord]:
        """The moves of a match."""
        told = self._whole(match_id)
        return [] if told is None else told[1]

    def matches(
        self, day: date | None = None, status: Status | None = None, limit: int = 100
    ) -> list[MatchRecord]:
        """Matches, the last started first."""
        found = sorted(self._listed.items(), key=lambda one: one[1][0])[::-1]
        fits = [
            name
            for name, (started, state) in found
            if day in {None, started.date()} and status in {None, state}
        ]
        return [record for name in fits[:limit] if (record := self.match(name)) is not None]

    def notes(self, match_id: str) -> list[NoteRecord]:
        """None."""
        del match_id
        return []

    def close(self) -> None:
        """Let go of nothing."""
