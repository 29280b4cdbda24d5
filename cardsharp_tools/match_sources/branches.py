"""Branches in the match log: stored matches that continue another match in another way."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from cardsharp.analysis.replay import header_of, read_error_of
from cardsharp.errors import ConfigError, StoreError
from cardsharp.store.match_log import MatchRecord
from cardsharp_tools.match_sources.match_logs import open_existing_log, resolve_match_log_location
from cardsharp_tools.match_sources.sources import find_source

if TYPE_CHECKING:
    from cardsharp.server.match_site import PagesConfig  # slow to import, for pages alone

_log = logging.getLogger(__name__)

_MAX_SEARCHED_MATCHES = 5000  # newest matches of the log that are searched for branches
_CACHE_KEY_MATCHES = 50  # newest matches whose versions show that the log has changed


def branches_in_log(match_id: str) -> Sequence[MatchRecord]:
    """Return the branches of a match, the oldest first."""
    try:
        with open_existing_log(None) as log:
            fresh = tuple(
                (record.match_id, record.lease_version)
                for record in log.matches(limit=_CACHE_KEY_MATCHES)
            )
        return _load_branches_by_parent(resolve_match_log_location(), fresh).get(match_id, [])
    except ConfigError:  # no match was stored yet
        return []
    except StoreError as error:  # the match itself may be stored elsewhere and can be shown
        _log.warning("Branches of match %s cannot be listed: %s", match_id, error)
        return []


@lru_cache(maxsize=1)
def _load_branches_by_parent(
    _store: str, _cache_key: tuple[object, ...]
) -> Mapping[str, list[MatchRecord]]:
    """Return all branches of the log by the id of their parent match.

    The result is cached until there is a new match.
    """
    branches: dict[str, list[MatchRecord]] = {}
    with open_existing_log(None) as log:
        for record in reversed(log.matches(limit=_MAX_SEARCHED_MATCHES)):
            if "branch" in record.header and read_error_of(record) is None:
                branch = header_of(record).branch
                branches.setdefault(branch.of if branch else "", []).append(record)
    return branches


def config_listing_branches(pages_config: "PagesConfig") -> "PagesConfig":
    """Return the configuration with branches listed under their matches."""

    def ids(match_id: str) -> list[str]:
        return [record.match_id for record in branches_in_log(match_id)]

    return replace(pages_config, unlisted_source=find_source(None), branches=ids)
