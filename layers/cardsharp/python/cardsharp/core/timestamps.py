"""Moments and durations as whole microseconds, in which every store keeps and compares them."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    """Return a moment as whole microseconds since 1970, which sort and round-trip exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the moment of a number from `to_micros`."""
    return _EPOCH + micros * _MICROSECOND


def duration_to_micros(duration: timedelta) -> int:
    """Return a duration in whole microseconds."""
    return duration // _MICROSECOND
