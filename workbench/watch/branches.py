"""The branches of matches, which lie in our own match log wherever the matches themselves are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.errors import ConfigError
from cardsharp.replay import fault_of, header_of
from cardsharp.viewer.site import Source
from workbench.show.lookup import open_to_read
from workbench.watch.sources import source_of

NEWEST = 5000
"""Matches of the log among which branches are looked for."""


def branches_in_log(match_id: str) -> list[MatchRecord]:
    """The branches of a match, the first played first."""
    try:
        with open_to_read(None) as log:
            newest = log.matches(limit=NEWEST)
    except ConfigError:  # nothing was kept yet
        return []
    marked = (one for one in reversed(newest) if "branch" in one.header and fault_of(one) is None)
    return [one for one in marked if (branch := header_of(one).branch) and branch.of == match_id]


@dataclass(frozen=True)
class WithBranches:
    """A source that has the matches of our own log, too, but does not list them."""

    source: Source

    @property
    def pause(self) -> timedelta:
        """That of the source."""
        return self.source.pause

    def branches(self, match_id: str) -> Sequence[str]:
        """The ids of a match's branches."""
        return [one.match_id for one in branches_in_log(match_id)]

    def matches(self, day: date | None, status: Status | None, limit: int) -> list[MatchRecord]:
        """Those of the source."""
        return self.source.matches(day, status, limit)

    def match(self, match_id: str) -> MatchRecord | None:
        """A match of the source or of the log."""
        return self._of(match_id).match(match_id)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """The moves of a match."""
        return self._of(match_id).moves(match_id)

    def _of(self, match_id: str) -> Source:
        own = source_of(None)
        try:
            return own if own.match(match_id) is not None else self.source
        except ConfigError:
            return self.source
