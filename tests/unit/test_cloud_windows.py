"""The calendar of a quiet poller: one line of times in UTC."""

from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from cardsharp.cloud.windows import Window, Windows

READ: TypeAdapter[tuple[Window, ...]] = TypeAdapter(Windows)
WRONG = [
    "Sat",
    "Sat 9:00-18:00",
    "Sat 18:00-09:00",
    "Sat 09:00-09:00",
    "Sat 09:00-24:01",
    "Sat 09:60-18:00",
    "Sam 09:00-18:00",
    "2026-02-30 09:00-18:00",
    "Sat 09:00-18:00; Sun 09:00-18:00",
]


def is_open(windows: str, moment: str) -> bool:
    now = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    return any(window.is_open(now) for window in READ.validate_python(windows))


@pytest.mark.parametrize(
    ("windows", "opens", "closed"),
    [
        ("Sun 09:00-18:00", "2026-11-22 09:00", "2026-11-22 18:00"),
        ("Sun 09:00-18:00", "2026-11-29 17:59:59", "2026-11-23 12:00"),
        ("daily 06:30-07:00", "2026-11-25 06:45", "2026-11-25 06:29"),
        ("2026-12-05 08:00-24:00", "2026-12-05 23:59:59", "2026-12-06 00:00"),
        ("Sat 20:00-24:00, Sun 00:00-02:00", "2026-11-22 01:00", "2026-11-22 03:00"),
    ],
)
def test_a_window_is_open_from_its_begin_until_its_end_on_its_days(
    windows: str, opens: str, closed: str
) -> None:
    assert is_open(windows, opens)
    assert not is_open(windows, closed)


def test_no_calendar_is_never_open() -> None:
    assert not is_open("", "2026-11-22 09:00")


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        READ.validate_python(text)
