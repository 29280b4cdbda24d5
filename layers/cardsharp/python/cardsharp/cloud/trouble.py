"""What a failing arena means to whoever waits for it: how it is counted, and how long to pause."""

from dataclasses import dataclass
from datetime import timedelta

from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.errors import (
    ArenaError,
    Foreign,
    Garbled,
    MatchOver,
    NotFound,
    NotYourTurn,
    RateLimited,
    Rejected,
    Unauthorized,
)

_CLIENT_ERRORS = range(400, 500)


def count_error(meter: Meter, error: ArenaError) -> None:
    """Count an error of the arena twice: among all, and by its status, a word where none came."""
    if isinstance(error, Rejected | Foreign):
        status = str(error.status)
    elif isinstance(error, RateLimited):
        status = "busy"
    else:
        status = "garbled" if isinstance(error, Garbled) else "unreachable"
    meter.count(Metric.ARENA_ERRORS)
    meter.count(Metric.ARENA_ERRORS, status=status)


def pause_after(error: ArenaError, least: timedelta, most: timedelta) -> timedelta:
    """How long to leave the arena alone: what it asked for, up to `most`; `least` in any case.

    A page that is sent during a restart asks for an hour, and a turn is lost in seconds.
    """
    asked = error.retry_after if isinstance(error, RateLimited) else timedelta(0)
    return max(min(asked, most), least)


def is_final(error: ArenaError) -> bool:
    """Whether the arena understood, and said no in its own words."""
    return isinstance(error, Rejected) and error.status in _CLIENT_ERRORS


def is_refusal(error: ArenaError) -> bool:
    """Whether the arena refused this very action, so that another one is to be played.

    A 401 or 404 denies us the match, which the next look must confirm. A 409 says only that the
    turn is over, or that the arena contradicts its own view.
    """
    denial = isinstance(error, Unauthorized | NotFound | NotYourTurn | MatchOver)
    return is_final(error) and not denial


@dataclass(slots=True)
class Denied:
    """What the arena denied last, and since when it has said nothing else.

    One denial is not believed: a store that lags or fails over, or a server that has just started,
    may say once that there is no such match while it goes on.
    """

    words: str = ""
    since: float = 0

    def lasts(self, error: ArenaError, now: float) -> timedelta:
        """How long the arena has said this very no; nothing for all that is no denial."""
        words = str(error) if is_final(error) else ""
        if words != self.words:
            self.words, self.since = words, now
        return timedelta(seconds=now - self.since if words else 0)
