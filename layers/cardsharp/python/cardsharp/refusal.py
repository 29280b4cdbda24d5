"""What a refusing answer means as an `ArenaError`, and when a failed read is worth repeating."""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from email.utils import parsedate_to_datetime
from random import SystemRandom

import requests
from pydantic import BaseModel, ValidationError

from cardsharp.errors import (
    ArenaError,
    Foreign,
    Garbled,
    NotFound,
    NotYourTurn,
    RateLimited,
    Rejected,
    Unauthorized,
    Unreachable,
)

_ERRORS: Mapping[int, type[Rejected]] = {401: Unauthorized, 404: NotFound, 409: NotYourTurn}
_WRONG_PASSWORD = b"Unauthorized"  # the only words of its own that are no JSON
_DEFAULT_WAIT = timedelta(seconds=1)
LONGEST_WAIT = timedelta(seconds=30)  # no server is believed to ask for more
_LONGEST_TEXT = 300
_REDIRECTS = range(300, 400)
_CLIENT_ERRORS = range(400, 500)
_DICE = SystemRandom()  # who waits takes no number from those that a seed of the process repeats


class _ErrorBody(BaseModel):
    """The JSON of the arena's errors."""

    error: str


def refusal(
    response: requests.Response, body: bytes, secrets: Iterable[str], *, writes: bool
) -> ArenaError:
    """The error that a not accepted answer means.

    Only a 4xx in the arena's own words, and a 429, say for sure that a write was not carried
    out: a gateway's page says nothing about the server behind it.
    """
    status = response.status_code
    wait = retry_after(response.headers)
    if status == requests.codes.too_many_requests or (
        status == requests.codes.service_unavailable and wait is not None
    ):
        text = f"The server answered {status}: too many requests or too busy"
        doubtful = writes and status not in _CLIENT_ERRORS
        return RateLimited(text, _DEFAULT_WAIT if wait is None else wait, doubtful=doubtful)
    if status < _REDIRECTS.start:
        return Garbled(f"The server answered with status {status}.", doubtful=writes)
    own = _own_words(status, body)
    if status in _REDIRECTS:
        target = _one_line(response.headers.get("Location", "nowhere"))
        text = f"it redirects to {target}; give the address as it really is"
    else:
        text = own or "it gave no reason; check the address if this stays"
    if any(secret in text for secret in secrets):
        text = "(its words are withheld, for they repeat the password)"
    if status not in _CLIENT_ERRORS:
        return Rejected(status, text, doubtful=writes)
    # Whoever says 408 has not read the request to its end, and cannot speak for who has.
    if own is None or status == requests.codes.request_timeout:
        return Foreign(status, text, doubtful=writes)
    return _ERRORS.get(status, Rejected)(status, text)


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """The wait that `Retry-After` asks for, None where it asks for none that can be read.

    A date is taken relative to the answer's own `Date`, so the two clocks need not agree. It is
    `LONGEST_WAIT` at most.
    """
    value, wait = headers.get("Retry-After", ""), None
    with suppress(ValueError, TypeError, OverflowError):
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("Date", ""))
    with suppress(ValueError, OverflowError):
        seconds = float(value)
        # As a number first: no duration is as long as some of them.
        wait = timedelta(seconds=min(seconds, LONGEST_WAIT.total_seconds()))
    return None if wait is None else min(max(wait, timedelta()), LONGEST_WAIT)


def _own_words(status: int, body: bytes) -> str | None:
    """The arena's own words, in one short line; None where the body is somebody else's."""
    with suppress(ValidationError):
        return _one_line(_ErrorBody.model_validate_json(body).error)
    if status == requests.codes.unauthorized and body.strip() == _WRONG_PASSWORD:
        return "check the user and the password"
    return None


def _one_line(text: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())[:_LONGEST_TEXT]


_SERVER_ERROR = 500


class Patience:
    """A back-off hook for stamina: the seconds to wait after an error, or False to give up.

    Worth repeating are `Unreachable`, `RateLimited` and a 5xx, nothing else. The wait is
    exponential with full jitter (uniform between zero and the step), or what the arena asked for
    plus such a jitter. It gives up when the wait would not end within `total` of its making, or
    the arena asks for more than `longest`.
    """

    def __init__(
        self,
        total: timedelta,
        step: timedelta,
        longest: timedelta,
        clock: Callable[[], float] = time.monotonic,
        uniform: Callable[[float, float], float] = _DICE.uniform,
    ) -> None:
        self._step = step.total_seconds()
        self._longest = longest.total_seconds()
        self._clock = clock
        self._uniform = uniform
        self._end = clock() + total.total_seconds()
        self._failures = 0

    @property
    def left(self) -> timedelta:
        """What is left of the total time, never zero, for zero means something else to sockets."""
        return timedelta(seconds=max(self._end - self._clock(), 0.001))

    def __call__(self, error: Exception) -> bool | float:
        """Seconds to wait before the next attempt; False where there must be none."""
        is_denied = isinstance(error, Rejected) and error.status < _SERVER_ERROR
        if is_denied or not isinstance(error, Rejected | Unreachable | RateLimited):
            return False
        wait = self._uniform(0, min(self._longest, self._step * 2**self._failures))
        if isinstance(error, RateLimited):
            asked = error.retry_after.total_seconds()
            if asked > self._longest:
                return False
            wait += asked
        self._failures += 1
        return wait if self._clock() + wait < self._end else False
