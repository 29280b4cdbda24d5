"""Windows in which the poller listens, as a setting has them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator

from cardsharp.bot.settings import split_names
from cardsharp.core.time_zones import zone_named

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAILY = "daily"
_WINDOW_PATTERN = re.compile(
    rf"({'|'.join((*_DAYS, _DAILY))}|\d{{4}}-\d\d-\d\d) (\d\d):([0-5]\d)-(\d\d):([0-5]\d)"
    r"(?: ([\w/+-]+))?"
)
_DAY = timedelta(days=1)


class ListeningWindow(NamedTuple):
    """Window in which the poller listens, on a day of the week, on a date or daily.

    `Sat 09:00-18:00, daily 06:30-07:00, 2026-12-05 08:00-24:00 Europe/Berlin` are three
    windows, the last in its local time zone, the others in UTC. A window is open whenever a
    clock of its zone shows a time in it: an hour that is repeated when the clocks go back is
    open twice, and one that is skipped never.
    """

    day: str
    begin: timedelta
    end: timedelta
    zone: str = ""

    def is_open(self, moment: datetime) -> bool:
        """Return True if the window is open at a moment."""
        zone = zone_named(self.zone) if self.zone else UTC
        local_time = moment.astimezone(zone).replace(tzinfo=None)
        midnight = local_time.replace(hour=0, minute=0, second=0, microsecond=0)
        today = {_DAILY, _DAYS[local_time.weekday()], f"{local_time:%Y-%m-%d}"}
        return self.day in today and self.begin <= local_time - midnight < self.end


def _parse_window(value: object) -> ListeningWindow:
    match = _WINDOW_PATTERN.fullmatch(str(value))
    if match is None:
        raise ValueError("no window")
    day, *clock, zone = match.groups()
    if day not in {*_DAYS, _DAILY}:
        datetime.fromisoformat(day)
    hour, minute, last_hour, last_minute = map(int, clock)
    begin = timedelta(hours=hour, minutes=minute)
    end = timedelta(hours=last_hour, minutes=last_minute)
    if not begin < end <= _DAY:
        raise ValueError("not within a day")
    if zone:
        zone_named(zone)
    return ListeningWindow(day, begin, end, zone or "")


ListeningWindows = Annotated[
    tuple[Annotated[ListeningWindow, BeforeValidator(_parse_window)], ...],
    BeforeValidator(split_names),
]
"""Setting with windows, separated by commas."""
