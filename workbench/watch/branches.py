"""The branches of matches, which lie in our own match log wherever the matches themselves are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from cardsharp.cloud.ports import MatchRecord
from cardsharp.errors import ConfigError
from cardsharp.replay import fault_of, header_of
from cardsharp.viewer.site import Manner
from workbench.show.lookup import open_to_read, store_or_default
from workbench.watch.sources import source_of

NEWEST = 5000  # matches of the log among which branches are looked for
_FRESH = 50  # of the newest so many one is new where anything is


def branches_in_log(match_id: str) -> Sequence[MatchRecord]:
    """The branches of a match, the first played first."""
    try:
        with open_to_read(None) as log:
            fresh = tuple((one.match_id, one.beat) for one in log.matches(limit=_FRESH))
    except ConfigError:  # nothing was kept yet
        return []
    return _branches(store_or_default(), fresh).get(match_id, [])


@lru_cache(maxsize=1)
def _branches(_store: str, _fresh: tuple[object, ...]) -> Mapping[str, list[MatchRecord]]:
    """All branches of the log, by what they are branches of; kept until there is a new match."""
    found: dict[str, list[MatchRecord]] = {}
    with open_to_read(None) as log:
        for one in reversed(log.matches(limit=NEWEST)):
            if "branch" in one.header and fault_of(one) is None:
                branch = header_of(one).branch
                found.setdefault(branch.of if branch else "", []).append(one)
    return found


def with_branches(manner: Manner) -> Manner:
    """The same where branches are listed under their matches."""

    def ids(match_id: str) -> list[str]:
        return [one.match_id for one in branches_in_log(match_id)]

    return replace(manner, behind=source_of(None), branches=ids)
