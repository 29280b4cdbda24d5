"""Times of day in zones with clock changes: next, repeated and skipped times."""

import time as system_time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo, reset_tzpath

import pytest
from pydantic import TypeAdapter, ValidationError

from cardsharp.bot.control.listening_windows import ListeningWindow, ListeningWindows
from cardsharp.core.time_zones import local_zone, next_time_of_day, to_local, zone_named
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.match_list import local_day

BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"

SetZone = Callable[[str], None]


@pytest.fixture
def set_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[SetZone]:
    """Set the zone of this process, as the variable TZ does for a command."""

    def set_tz(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        system_time.tzset()

    yield set_tz
    monkeypatch.undo()
    system_time.tzset()


NEXT_TIMES = [
    # The evening before the clocks go back, and before they go forward.
    (BERLIN, "2026-10-24T18:00+02:00", "16:30", "2026-10-25T16:30+01:00"),
    (BERLIN, "2026-03-28T18:00+01:00", "16:30", "2026-03-29T16:30+02:00"),
    (NEW_YORK, "2026-10-31T18:00-04:00", "16:30", "2026-11-01T16:30-05:00"),
    (NEW_YORK, "2026-03-07T18:00-05:00", "16:30", "2026-03-08T16:30-04:00"),
    # On the day itself, in the night before the change.
    (BERLIN, "2026-10-25T01:00+02:00", "16:30", "2026-10-25T16:30+01:00"),
    (BERLIN, "2026-03-29T01:00+01:00", "16:30", "2026-03-29T16:30+02:00"),
    # Without a change: later today, or else tomorrow, also where it is that time just now.
    (BERLIN, "2026-07-01T12:00+02:00", "16:30", "2026-07-01T16:30+02:00"),
    (BERLIN, "2026-07-01T16:30+02:00", "16:30", "2026-07-02T16:30+02:00"),
    # A time that comes twice: the first, then the second, then the next day's.
    (BERLIN, "2026-10-25T00:00+02:00", "02:30", "2026-10-25T02:30+02:00"),
    (BERLIN, "2026-10-25T02:40+02:00", "02:30", "2026-10-25T02:30+01:00"),
    (BERLIN, "2026-10-25T02:40+01:00", "02:30", "2026-10-26T02:30+01:00"),
    # A time that is left out: as long after the change.
    (BERLIN, "2026-03-29T00:00+01:00", "02:30", "2026-03-29T03:30+02:00"),
    (BERLIN, "2026-03-29T03:30+02:00", "02:30", "2026-03-30T02:30+02:00"),
]


@pytest.mark.parametrize(("zone", "current_time", "time_of_day", "expected_time"), NEXT_TIMES)
def test_the_next_time_of_day_is_when_a_local_clock_shows_it(
    zone: str, current_time: str, time_of_day: str, expected_time: str, set_zone: SetZone
) -> None:
    """The zone is given by name, or is the zone that the C library takes from TZ."""
    set_zone(zone)
    for zone_rules in (zone_named(zone), None):
        next_time = next_time_of_day(
            time.fromisoformat(time_of_day), datetime.fromisoformat(current_time), zone_rules
        )
        assert next_time == datetime.fromisoformat(expected_time)
        assert next_time.tzinfo is UTC


@pytest.mark.parametrize(
    ("value", "zone"),
    [
        (BERLIN, ZoneInfo(BERLIN)),
        (f":{BERLIN}", ZoneInfo(BERLIN)),
        (":UTC", ZoneInfo("UTC")),  # as Lambda sets it
        ("", None),
        ("CET-1CEST,M3.5.0,M10.5.0/3", None),
        ("/usr/share/zoneinfo/Europe/Berlin", None),
    ],
)
def test_the_zone_of_this_machine_is_that_of_tz(value: str, zone: ZoneInfo | None) -> None:
    assert local_zone({"TZ": value}) == zone
    assert local_zone({}) is None


@pytest.mark.parametrize("name", ["Europe/Berlen", "Europe", "../etc/passwd", "Berlin"])
def test_an_unknown_zone_name_is_refused_and_displayed_as_utc(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The C library treats the zone as UTC without an error; a page must still be rendered."""
    with pytest.raises(ConfigError, match=f"TZ names the time zone {name}, which does not exist"):
        local_zone({"TZ": name})
    monkeypatch.setenv("TZ", name)
    assert to_local(datetime(2026, 7, 1, 12, tzinfo=UTC)).isoformat() == "2026-07-01T12:00:00+00:00"


def test_zones_are_available_without_a_system_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lambda and slim images have no zone database; the package `tzdata` has it."""
    reset_tzpath([tmp_path])
    ZoneInfo.clear_cache()
    try:
        assert zone_named(NEW_YORK).key == NEW_YORK
        monkeypatch.setenv("TZ", BERLIN)  # without tzset: the C library knows no such zone
        local_time = to_local(datetime(2026, 7, 1, 12, tzinfo=UTC))
        assert f"{local_time:%H:%M %Z}" == "14:00 CEST"
    finally:
        reset_tzpath()
        ZoneInfo.clear_cache()


def test_an_arena_day_is_a_day_of_its_local_zone(set_zone: SetZone) -> None:
    """Days of 25 and of 23 hours begin and end at midnight."""
    set_zone(BERLIN)
    days = {
        "2026-10-24T21:59Z": 24,
        "2026-10-24T22:00Z": 25,
        "2026-10-25T22:59Z": 25,
        "2026-10-25T23:00Z": 26,
    }
    for moment, day in days.items():
        assert local_day(datetime.fromisoformat(moment)) == date(2026, 10, day)
    for moment, day in {"2026-03-28T22:59Z": 28, "2026-03-29T21:59Z": 29}.items():
        assert local_day(datetime.fromisoformat(moment)) == date(2026, 3, day)


def parse_window(text: str) -> ListeningWindow:
    (parsed_window,) = TypeAdapter(ListeningWindows).validate_python(text)
    return parsed_window


@pytest.mark.parametrize(
    ("text", "open_time", "closed_time"),
    [
        # The same hours on the wall, on both sides of both changes.
        (f"daily 09:00-18:00 {BERLIN}", "2026-10-24T07:00Z", "2026-10-24T16:00Z"),
        (f"daily 09:00-18:00 {BERLIN}", "2026-10-25T16:59Z", "2026-10-25T07:59Z"),
        (f"Sun 09:00-18:00 {BERLIN}", "2026-03-29T07:00Z", "2026-03-29T06:59Z"),
        (f"Sun 09:00-18:00 {NEW_YORK}", "2026-11-01T14:00Z", "2026-11-01T13:59Z"),
        # The day is that of the zone.
        (f"Sat 20:00-24:00 {NEW_YORK}", "2026-07-05T03:59Z", "2026-07-05T04:00Z"),
        (f"2026-12-05 00:00-02:00 {BERLIN}", "2026-12-04T23:00Z", "2026-12-05T01:00Z"),
        # An hour that comes twice is open twice; one that is left out never is.
        (f"daily 02:00-03:00 {BERLIN}", "2026-10-25T00:30Z", "2026-10-24T23:59Z"),
        (f"daily 02:00-03:00 {BERLIN}", "2026-10-25T01:30Z", "2026-10-25T02:00Z"),
        (f"daily 02:00-03:00 {BERLIN}", "2026-03-30T00:30Z", "2026-03-29T01:00Z"),
        # Without a zone it is UTC, whatever the clocks do.
        ("daily 09:00-18:00", "2026-10-25T09:00Z", "2026-10-25T08:59Z"),
    ],
)
def test_a_window_is_open_by_the_clock_of_its_zone(
    text: str, open_time: str, closed_time: str
) -> None:
    assert parse_window(text).is_open(datetime.fromisoformat(open_time))
    assert not parse_window(text).is_open(datetime.fromisoformat(closed_time))


@pytest.mark.parametrize("zone", ["Berlin", "Europe/Berlen", "CEST", "../../etc", "Europe"])
def test_a_window_in_no_zone_is_refused(zone: str) -> None:
    with pytest.raises(ValidationError):
        parse_window(f"daily 09:00-18:00 {zone}")
