"""When a quiet poller listens all the same: a calendar in one line, in UTC.

`Sat 09:00-18:00, daily 06:30-07:00, 2026-12-05 08:00-24:00`: days of the week, every day, dates.
"""

import re
from datetime import datetime, timedelta
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAILY = "daily"
_WINDOW = re.compile(
    rf"({'|'.join((*_DAYS, _DAILY))}|\d{{4}}-\d\d-\d\d) (\d\d):([0-5]\d)-(\d\d):([0-5]\d)"
)
_DAY = timedelta(days=1)


class Window(NamedTuple):
    """From when until when on a day: a day of the week, a date, or each day."""

    day: str
    begin: timedelta
    end: timedelta

    def is_open(self, now: datetime) -> bool:
        """Whether a moment, in UTC, lies in it."""
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        today = {_DAILY, _DAYS[now.weekday()], f"{now:%Y-%m-%d}"}
        return self.day in today and self.begin <= now - midnight < self.end


def _window(text: str) -> Window:
    """The window of `Sat 09:00-18:00`; raises `ValueError` where it is none."""
    found = _WINDOW.fullmatch(text)
    if found is None:
        raise ValueError("no window")
    day, *clock = found.groups()
    if day not in {*_DAYS, _DAILY}:
        datetime.fromisoformat(day)
    hour, minute, last_hour, last_minute = map(int, clock)
    begin = timedelta(hours=hour, minutes=minute)
    end = timedelta(hours=last_hour, minutes=last_minute)
    if not begin < end <= _DAY:
        raise ValueError("not within a day")
    return Window(day, begin, end)


def _windows(value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(_window(part.strip()) for part in value.split(",") if part.strip())


Windows = Annotated[tuple[Window, ...], BeforeValidator(_windows)]
"""A comma list of windows, as a setting."""
