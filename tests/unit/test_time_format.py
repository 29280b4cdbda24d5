"""Tests of the texts of start times and time limits."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from cardsharp.core.time_format import format_start, format_time_limit


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "250 ms"),
        (1, "1 s"),
        (1.5, "1.5 s"),
        (7, "7 s"),
        (60, "1 min"),
        (90.5, "1 min 30.5 s"),
        (600, "10 min"),
        (3600, "1 h"),
        (7000, "1 h 56 min 40 s"),
    ],
)
def test_a_time_limit_has_the_units_that_show_its_size(seconds: float, text: str) -> None:
    assert format_time_limit(seconds) == text


def test_a_start_whose_time_is_not_recorded_is_a_date() -> None:
    """Midnight in UTC stands for an unknown time of day; midnight elsewhere does not."""
    midnight = datetime(2023, 2, 3, tzinfo=UTC)
    assert format_start(midnight) == format_start(midnight, with_seconds=True) == "2023-02-03"
    elsewhere = midnight.replace(tzinfo=timezone(timedelta(hours=1)))
    assert format_start(elsewhere) == "2023-02-02 23:00 UTC"
    assert format_start(elsewhere, with_seconds=True) == "2023-02-02 23:00:00 UTC"
