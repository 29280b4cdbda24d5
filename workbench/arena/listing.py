"""`GET /api/matches`: which matches are listed, in which order (docs/spec/arena.md section 4)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from workbench.arena.ids import parse_id
from workbench.arena.lobby import Lobby
from workbench.arena.match import Match
from workbench.arena.players import User

_TRUE = ("1", "true")
_LIMIT = re.compile("[1-9][0-9]{0,8}")
DAY_FORMAT = "%a %b %d %Y"
"""A day as `busydays` names it, e.g. `Fri Nov 20 2026`."""


def flag(query: Mapping[str, str], name: str) -> bool:
    """Whether a flag of the query is set: only `1` and `true` are true."""
    return query.get(name) in _TRUE


def tag_set(query: Mapping[str, str]) -> frozenset[str]:
    """The tags of the query, of which one must fit; none means any."""
    return frozenset(tag for tag in query.get("tags", "").split(",") if tag)


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list was asked to hold; `day` is the text of `at`, `today` included."""

    active: bool
    tags: frozenset[str]
    day: str | None
    ids: frozenset[str] | None
    limit: int | None
    offset: str | None
    ascending: bool


def parse_filter(query: Mapping[str, str]) -> Filter:
    """The filter of a query.

    Raises:
        Malformed: an id is no id.
    """
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


def select(lobby: Lobby, user: User, wanted: Filter, now: datetime) -> list[Match]:
    """The matches that fit, of those that this user may see, newest first."""
    found = [match for match in _candidates(lobby, user, wanted) if _fits(match, wanted)]
    if wanted.day is not None:
        day = _parse_day(wanted.day, now)
        found = [match for match in found if local_day(match.started_at) == day]
    found.sort(key=lambda match: (match.started_at, match.id), reverse=not wanted.ascending)
    if wanted.limit is None:
        return found
    if wanted.offset is not None:
        found = [match for match in found if _beyond(match.id, wanted.offset, wanted)]
    return found[: wanted.limit]


def local_day(moment: datetime) -> date:
    """The day of a moment where the server stands."""
    return moment.astimezone().date()


def busy_days(matches: Iterable[Match]) -> list[str]:
    """The days on which matches began, oldest first."""
    days = sorted({local_day(match.started_at) for match in matches})
    return [day.strftime(DAY_FORMAT) for day in days]


def _candidates(lobby: Lobby, user: User, wanted: Filter) -> Iterable[Match]:
    if user.is_admin:
        return lobby.all()  # the original ignores `active` for the admin
    if wanted.active:
        return (match for match in lobby.running_of(user.id) if match.active_player == user.id)
    return lobby.of_player(user.id)


def _fits(match: Match, wanted: Filter) -> bool:
    tagged = not wanted.tags or not wanted.tags.isdisjoint(match.params.tags or ())
    return tagged and (wanted.ids is None or match.id in wanted.ids)


def _beyond(match_id: str, offset: str, wanted: Filter) -> bool:
    return match_id > offset if wanted.ascending else match_id < offset


def _parse_day(text: str, now: datetime) -> date | None:
    """The day that `at` names, None where it names none."""
    if text == "today":
        return local_day(now)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _parse_named_day(text)
    # A day without an hour is a day, whichever the zone; a moment is turned to the server's zone.
    return moment.date() if moment.tzinfo is None else local_day(moment)


def _parse_named_day(text: str) -> date | None:
    try:
        return datetime.strptime(text, DAY_FORMAT).replace(tzinfo=UTC).date()
    except ValueError:
        return None
