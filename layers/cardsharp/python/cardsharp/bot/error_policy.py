"""Handling of arena errors: how each is counted, and how long to pause after it."""

from dataclasses import dataclass
from datetime import timedelta

from cardsharp.core.metrics import MetricName, Metrics
from cardsharp.errors import (
    ArenaError,
    GatewayRejection,
    MalformedResponse,
    MatchOver,
    NotFound,
    NotYourTurn,
    RateLimited,
    RequestRejected,
    Unauthorized,
)

_CLIENT_ERRORS = range(400, 500)
MAX_EQUAL_REFUSALS = 3  # after so many in the same state it is not the action that is refused
MAX_REFUSAL_BACKOFF = timedelta(minutes=1)


def count_arena_error(metrics: Metrics, error: ArenaError) -> None:
    """Count an arena error twice: in the total, and by its status or kind."""
    if isinstance(error, RequestRejected | GatewayRejection):
        status = str(error.status)
    elif isinstance(error, RateLimited):
        status = "busy"
    else:
        status = "garbled" if isinstance(error, MalformedResponse) else "unreachable"
    metrics.count(MetricName.ARENA_ERRORS)
    metrics.count(MetricName.ARENA_ERRORS, status=status)


def retry_delay_for(error: ArenaError, min_delay: timedelta, max_delay: timedelta) -> timedelta:
    """Return the pause before the next request: the arena's Retry-After within both limits.

    The upper limit matters because a page sent during a restart may ask for an hour, while a
    turn is lost in seconds.
    """
    requested_delay = error.retry_after if isinstance(error, RateLimited) else timedelta(0)
    return max(min(requested_delay, max_delay), min_delay)


def is_client_error(error: ArenaError) -> bool:
    """Return True if the arena understood the request and rejected it with a 4xx status."""
    return isinstance(error, RequestRejected) and error.status in _CLIENT_ERRORS


def is_action_rejected(error: ArenaError) -> bool:
    """Return True if the arena rejected this very action, so that another one must be played.

    A 401 or 404 denies us the match, which the next read must confirm. A 409 says only that the
    turn is over, or that the arena contradicts its view of the match.
    """
    denial = isinstance(error, Unauthorized | NotFound | NotYourTurn | MatchOver)
    return is_client_error(error) and not denial


@dataclass(slots=True)
class DenialTracker:
    """Tracker of the arena's last denial and of the time since when it has been repeated.

    A single denial is not trusted: a store that lags or fails over, or a server that has just
    started, may briefly report a running match as missing.
    """

    message: str = ""
    first_seen_at: float = 0

    def repeated_denial_duration(self, error: ArenaError, current_time: float) -> timedelta:
        """Return how long the arena has repeated this denial; zero for any other error."""
        words = str(error) if is_client_error(error) else ""
        if words != self.message:
            self.message, self.first_seen_at = words, current_time
        return timedelta(seconds=current_time - self.first_seen_at if words else 0)


@dataclass(slots=True)
class RefusalTracker:
    """Tracker of actions that the arena refuses in one state of a match, always in the same words.

    A match may be in a state in which no action is possible and which nobody ends
    (docs/spec/arena.md section 5). Then another action is no better, and haste only uses up the
    requests of other matches.
    """

    sequence: int = -1  # of the move that was refused
    message: str = ""
    count: int = 0

    def count_refusal(self, error: ArenaError, sequence: int) -> None:
        """Count a refusal of a move; an error that does not refuse it changes nothing."""
        if not is_client_error(error):
            return
        if (sequence, str(error)) != (self.sequence, self.message):
            self.sequence, self.message, self.count = sequence, str(error), 0
        self.count += 1

    def is_repeated(self, sequence: int) -> bool:
        """Return True if two actions or more were refused there in the same words."""
        return sequence == self.sequence and self.count > 1

    def is_stuck(self, sequence: int) -> bool:
        """Return True if so many actions were refused there that none is possible."""
        return sequence == self.sequence and self.count >= MAX_EQUAL_REFUSALS

    @property
    def backoff(self) -> timedelta:
        """Pause before the next attempt: 1, 2, 4 … 60 s."""
        doublings = min(max(self.count - MAX_EQUAL_REFUSALS, 0), 6)
        return min(timedelta(seconds=2**doublings), MAX_REFUSAL_BACKOFF)
