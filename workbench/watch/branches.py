"""The branches of matches, which lie in our own match log wherever the matches themselves are."""

from dataclasses import replace

from cardsharp.cloud.ports import MatchRecord
from cardsharp.errors import ConfigError
from cardsharp.replay import fault_of, header_of
from cardsharp.viewer.site import Manner
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


def with_branches(manner: Manner) -> Manner:
    """The same where branches are listed under their matches."""

    def ids(match_id: str) -> list[str]:
        return [one.match_id for one in branches_in_log(match_id)]

    return replace(manner, behind=source_of(None), branches=ids)
