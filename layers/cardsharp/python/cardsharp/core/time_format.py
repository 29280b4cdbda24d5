"""Texts of times that people read: when a match began, and how long a move may take."""

from datetime import UTC, datetime, time

_SECONDS_PER_MINUTE, _SECONDS_PER_HOUR = 60, 3600


def format_start(started_at: datetime, *, with_seconds: bool = False) -> str:
    """Return when a match began, in UTC; only the date if its time is not recorded.

    A recording without the time of day has midnight, to the microsecond. A real match begins
    at that moment once in a million days.

    >>> format_start(datetime(2023, 2, 3, 17, 18, tzinfo=UTC))
    '2023-02-03 17:18 UTC'
    >>> format_start(datetime(2023, 2, 3, tzinfo=UTC))
    '2023-02-03'
    """
    moment = started_at.astimezone(UTC)
    if moment.time() == time():
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if with_seconds else f"{moment:%Y-%m-%d %H:%M} UTC"


def format_time_limit(seconds: float) -> str:
    """Return a time limit in the units that show its size at a glance.

    A limit of 7000 seconds is nearly always one of 7000 milliseconds in the wrong unit. As
    hours and minutes it is noticed.

    >>> format_time_limit(7), format_time_limit(0.5), format_time_limit(7000)
    ('7 s', '500 ms', '1 h 56 min 40 s')
    """
    if seconds < 1:
        return f"{seconds * 1000:g} ms"
    hours, remaining_seconds = divmod(seconds, _SECONDS_PER_HOUR)
    minutes, remaining_seconds = divmod(remaining_seconds, _SECONDS_PER_MINUTE)
    parts = ((hours, "h"), (minutes, "min"), (remaining_seconds, "s"))
    return " ".join(f"{value:g} {unit}" for value, unit in parts if value)
