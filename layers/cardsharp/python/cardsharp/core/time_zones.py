"""Time zones: the one of this machine, those with a name, and the clock on the wall in them.

Moments are stored and compared in UTC. Only what a person types or reads as a time of day is turned
to a zone, and always by the rules of that zone, never by an offset that holds today.
"""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import count
from zoneinfo import ZoneInfo

from cardsharp.errors import ConfigError

TIME_ZONE_VARIABLE = "TZ"

_POSIX_RULE_PATTERN = re.compile(r"(<[\w+-]+>|[A-Za-z]{3,})[+-]?\d.*")
"""A rule as POSIX writes it, such as `CET-1CEST,M3.5.0,M10.5.0/3`."""


def zone_named(name: str) -> ZoneInfo:
    """Return the zone of a name such as `Europe/Berlin`; raises `ValueError` if there is none.

    The system's database of time zones answers, or else that of the package `tzdata`.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        raise ValueError(f"The database of time zones has no {name}.") from None


def local_zone(environment: Mapping[str, str] | None = None) -> tzinfo | None:
    """Return the zone that the variable TZ names; None for the zone of this machine.

    None, too, where TZ is a file or a rule of POSIX, which the C library reads. `astimezone` takes
    None for what the C library says. Raises `ConfigError` for a name that means no zone: the C
    library would take it for UTC without a word.
    """
    name = (
        (os.environ if environment is None else environment)
        .get(TIME_ZONE_VARIABLE, "")
        .removeprefix(":")
    )
    if not name or name.startswith("/"):
        return None
    try:
        return zone_named(name)
    except ValueError:
        if _POSIX_RULE_PATTERN.fullmatch(name):
            return None
        raise ConfigError(
            f"{TIME_ZONE_VARIABLE} names the time zone {name}, which does not exist; set it to a "
            "name such as Europe/Berlin, or unset it for the zone of this machine."
        ) from None


def to_local(moment: datetime) -> datetime:
    """Convert a moment to local time; to UTC if TZ names no zone."""
    try:
        return moment.astimezone(local_zone())
    except ConfigError:
        return moment.astimezone(UTC)


def next_time_of_day(time_of_day: time, start: datetime, zone: tzinfo | None = None) -> datetime:
    """Return the first moment after `start`, in UTC, at which the zone's time is `time_of_day`.

    A time that is repeated when the clocks go back occurs twice. A time that is skipped when
    they go forward is moved forward by the length of the gap: 02:30 becomes 03:30. None is the
    zone of this machine.
    """
    today = start.astimezone(zone).date()
    days = (today + timedelta(days=day) for day in count())
    moments = (
        moment
        for day in days
        for moment in _resolve_wall_time(datetime.combine(day, time_of_day), zone)
    )
    return next(moment for moment in moments if moment > start)


def _resolve_wall_time(wall_time: datetime, zone: tzinfo | None) -> Iterator[datetime]:
    """Yield each moment at which the zone's clocks show that date and time: one or two."""
    # `timestamp` and not `astimezone`, which takes the later offset for what C's clock leaves out.
    first, second = (
        datetime.fromtimestamp(wall_time.replace(tzinfo=zone, fold=fold).timestamp(), UTC)
        for fold in (0, 1)
    )
    yield first
    if second > first:  # it is earlier for a time that is left out
        yield second
