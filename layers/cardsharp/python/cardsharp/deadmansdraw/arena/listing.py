"""`GET /api/matches`: which matches are listed, in which order (docs/spec/arena.md section 4)."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from operator import gt, lt

from starlette.datastructures import QueryParams

from cardsharp.deadmansdraw.arena.inputs import parse_id
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.errors import Malformed
from cardsharp.time_zones import to_local

_TRUE = ("1", "true")
_LIMIT = re.compile("[1-9][0-9]{0,8}")
DAY_FORMAT = "%a %b %d %Y"  # a day as `busydays` names it, e.g. `Fri Nov 20 2026`


def flag(query: QueryParams, name: str) -> bool:
    """Whether a flag of the query is set: only `1` and `true` are true, and only given once."""
    given = query.getlist(name)
    return len(given) == 1 and given[0] in _TRUE


def lists_own(query: QueryParams) -> bool:
    """Whether a query of the list is one for a player's own matches.

    The list of whole matches is where a player looks for its own, perhaps waiting for one; the
    condensed list is left to spectators.
    """
    return not flag(query, "condensed") or flag(query, "active") or flag(query, "wait")


def looks_as_player(query: QueryParams) -> bool:
    """Whether a query of a match is a player's: one that waits for its turn or wants secrets."""
    return flag(query, "waitactive") or flag(query, "showdebug")


def tag_set(query: QueryParams) -> frozenset[str] | None:
    """The tags of which one must fit; None means any. Raises `Malformed` if given twice."""
    given = query.getlist("tags")
    if len(given) > 1:
        raise Malformed("The parameter 'tags' is given twice; put a comma between tags.")
    return frozenset(given[0].split(",")) if given else None


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list was asked to hold; `day` is the text of `at`, `today` included."""

    active: bool
    tags: frozenset[str] | None
    day: str | None
    ids: frozenset[str] | None = None
    limit: int | None = None
    offset: str | None = None
    ascending: bool = False


def parse_filter(query: QueryParams) -> Filter:
    """The filter of a query; raises `Malformed` if an id is no id, or tags are given twice."""
    ids = [parse_id(text) for text in query.get("id", "").split(",") if text]
    limit = query.get("limit", "")
    offset = query.get("offset")
    return Filter(
        active=flag(query, "active"),
        tags=tag_set(query),
        day=query.get("at"),
        ids=frozenset(ids) if ids else None,
        # The original appends a digit 1 to the text where it means to add 1 to the number.
        limit=int(f"{limit}1") if _LIMIT.fullmatch(limit) else None,
        offset=parse_id(offset) if offset else None,
        ascending=flag(query, "sortasc"),
    )


def select(matches: Iterable[Match], wanted: Filter, now: datetime) -> list[Match]:
    """Those of the matches that fit, newest first."""
    found = [match for match in matches if fits_tags(match, wanted.tags)]
    if wanted.ids is not None:
        found = [match for match in found if match.id in wanted.ids]
    if wanted.day is not None:
        day = parse_day(wanted.day, now)
        found = [match for match in found if local_day(match.started_at) == day]
    found.sort(key=lambda match: (match.started_at, match.id), reverse=not wanted.ascending)
    if wanted.limit is None:
        return found
    if wanted.offset is not None:
        beyond = gt if wanted.ascending else lt
        found = [match for match in found if beyond(match.id, wanted.offset)]
    return found[: wanted.limit]


def local_day(moment: datetime) -> date:
    """The day of a moment where the server stands."""
    return to_local(moment).date()


def busy_days(matches: Iterable[Match], day: date | None) -> list[str]:
    """The days on which matches began, oldest first; of `day`, its month and a week around it."""
    days = {local_day(match.started_at) for match in matches}
    if day is not None:
        first = day.replace(day=1)
        last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        week = timedelta(days=7)
        days = {busy for busy in days if first - week <= busy <= last + week}
    return [busy.strftime(DAY_FORMAT) for busy in sorted(days)]


def parse_day(text: str, now: datetime) -> date | None:
    """The day that `at` names, None where it names none."""
    if text == "today":
        return local_day(now)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        for form in (DAY_FORMAT, "%m/%d/%Y"):
            with suppress(ValueError):
                return datetime.strptime(text, form).replace(tzinfo=UTC).date()
        return None
    # A day without an hour is a day, whichever the zone; a moment is turned to the server's zone.
    return moment.date() if moment.tzinfo is None else local_day(moment)


def fits_tags(match: Match, tags: frozenset[str] | None) -> bool:
    """Whether a match has one of the tags; None are no condition."""
    return tags is None or not tags.isdisjoint(match.params.tags or ())
