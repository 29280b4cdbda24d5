"""What a failing arena means to whoever waits for it: how it is counted, and how long to pause."""

from datetime import timedelta

from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.errors import ArenaError, Garbled, RateLimited, Rejected

_CLIENT_ERRORS = range(400, 500)


def count_error(meter: Meter, error: ArenaError) -> None:
    """Count an error of the arena twice: among all, and by its status."""
    meter.count(Metric.ARENA_ERRORS)
    meter.count(Metric.ARENA_ERRORS, status=_status(error))


def pause_after(error: ArenaError, least: timedelta) -> timedelta:
    """How long to leave the arena alone: what it asked for, and `least` in any case."""
    asked = error.retry_after if isinstance(error, RateLimited) else timedelta(0)
    return max(asked, least)


def is_final(error: ArenaError) -> bool:
    """Whether asking the same again cannot help: the arena understood, and said no."""
    return isinstance(error, Rejected) and error.status in _CLIENT_ERRORS


def _status(error: ArenaError) -> str:
    """The status under which an error is counted; a word where no status came."""
    if isinstance(error, Rejected):
        return str(error.status)
    if isinstance(error, RateLimited):
        return "busy"
    return "garbled" if isinstance(error, Garbled) else "unreachable"
