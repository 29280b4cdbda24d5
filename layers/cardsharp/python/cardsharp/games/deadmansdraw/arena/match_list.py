"""`GET /api/matches`: which matches are listed, in which order (docs/spec/arena.md section 4)."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from operator import gt, lt

from starlette.datastructures import QueryParams

from cardsharp.core.time_zones import to_local
from cardsharp.errors import InvalidInput
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.request_body import parse_id

_TRUE = ("1", "true")
_LIMIT = re.compile("[1-9][0-9]{0,8}")
DAY_FORMAT = "%a %b %d %Y"  # a day as `busydays` names it, e.g. `Fri Nov 20 2026`


def query_flag(query: QueryParams, name: str) -> bool:
    """Return True if a flag of the query is `1` or `true` and occurs exactly once."""
    values = query.getlist(name)
    return len(values) == 1 and values[0] in _TRUE


def is_list_query_from_player(query: QueryParams) -> bool:
    """Return True if a query of the match list comes from a player that looks for its matches.

    A player reads the full list, perhaps waiting for a match; the condensed list is left to
    spectators.
    """
    return (
        not query_flag(query, "condensed")
        or query_flag(query, "active")
        or query_flag(query, "wait")
    )


def is_match_query_from_player(query: QueryParams) -> bool:
    """Return True if a query of a match is a player's: it waits for its turn or wants secrets."""
    return query_flag(query, "waitactive") or query_flag(query, "showdebug")


def parse_tags(query: QueryParams) -> frozenset[str] | None:
    """Return the tags of which a match must have one, None for any.

    Raises `InvalidInput` if the parameter occurs twice.
    """
    values = query.getlist("tags")
    if len(values) > 1:
        raise InvalidInput(
            "The parameter 'tags' is given twice. Give it once, with commas between the tags."
        )
    return frozenset(values[0].split(",")) if values else None


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """Conditions of a match list; `day_text` is the text of the parameter `at`, e.g. "today"."""

    active: bool
    tags: frozenset[str] | None
    day_text: str | None
    ids: frozenset[str] | None = None
    limit: int | None = None
    offset: str | None = None
    ascending: bool = False


def parse_filter(query: QueryParams) -> MatchFilter:
    """Parse the filter of a query; raise `InvalidInput` for an invalid id or repeated tags."""
    ids = [parse_id(id_text) for id_text in query.get("id", "").split(",") if id_text]
    limit = query.get("limit", "")
    offset = query.get("offset")
    return MatchFilter(
        active=query_flag(query, "active"),
        tags=parse_tags(query),
        day_text=query.get("at"),
        ids=frozenset(ids) if ids else None,
        # The original appends a digit 1 to the text where it means to add 1 to the number.
        limit=int(f"{limit}1") if _LIMIT.fullmatch(limit) else None,
        offset=parse_id(offset) if offset else None,
        ascending=query_flag(query, "sortasc"),
    )


def filter_matches(
    matches: Iterable[ArenaMatch], match_filter: MatchFilter, current_time: datetime
) -> list[ArenaMatch]:
    """Return the matches that meet the filter, the newest first unless `ascending`."""
    selected = [match for match in matches if has_any_tag(match, match_filter.tags)]
    if match_filter.ids is not None:
        selected = [match for match in selected if match.id in match_filter.ids]
    if match_filter.day_text is not None:
        day = parse_day(match_filter.day_text, current_time)
        selected = [match for match in selected if local_day(match.started_at) == day]
    selected.sort(
        key=lambda match: (match.started_at, match.id), reverse=not match_filter.ascending
    )
    if match_filter.limit is None:
        return selected
    if match_filter.offset is not None:
        beyond = gt if match_filter.ascending else lt
        selected = [match for match in selected if beyond(match.id, match_filter.offset)]
    return selected[: match_filter.limit]


def local_day(moment: datetime) -> date:
    """Return the day of a moment in the server's time zone."""
    return to_local(moment).date()


def busy_days_around_month(matches: Iterable[ArenaMatch], day: date | None) -> list[str]:
    """Return the days on which matches began, the oldest first, around the month of `day`."""
    days = {local_day(match.started_at) for match in matches}
    if day is not None:
        first_day = day.replace(day=1)
        last_day = (first_day + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        week = timedelta(days=7)
        days = {busy for busy in days if first_day - week <= busy <= last_day + week}
    return [busy.strftime(DAY_FORMAT) for busy in sorted(days)]


def parse_day(text: str, current_time: datetime) -> date | None:
    """Return the day that the text of `at` denotes, or None if it denotes none."""
    if text == "today":
        return local_day(current_time)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        for date_format in (DAY_FORMAT, "%m/%d/%Y"):
            with suppress(ValueError):
                return datetime.strptime(text, date_format).replace(tzinfo=UTC).date()
        return None
    # A day without an hour is a day, whichever the zone; a moment is turned to the server's zone.
    return moment.date() if moment.tzinfo is None else local_day(moment)


def has_any_tag(match: ArenaMatch, tags: frozenset[str] | None) -> bool:
    """Return True if the match has one of the tags, or if `tags` is None."""
    return tags is None or not tags.isdisjoint(match.params.tags or ())
