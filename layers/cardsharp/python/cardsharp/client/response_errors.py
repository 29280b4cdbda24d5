"""Errors of an arena's HTTP responses, and the retry policy of reads."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from email.utils import parsedate_to_datetime

import requests
from pydantic import BaseModel, ValidationError

from cardsharp.errors import (
    ArenaError,
    GatewayRejection,
    MalformedResponse,
    NotFound,
    NotYourTurn,
    RateLimited,
    RequestRejected,
    Unauthorized,
)

_ERROR_BY_STATUS: Mapping[int, type[RequestRejected]] = {
    401: Unauthorized,
    404: NotFound,
    409: NotYourTurn,
}
_UNAUTHORIZED_BODY = b"Unauthorized"  # the arena's only error text that is not JSON
_DEFAULT_RETRY_DELAY = timedelta(seconds=1)
MAX_RETRY_AFTER = timedelta(seconds=30)  # a longer wait that a server asks for is cut to this
_MAX_TEXT_CHARS = 300
_REDIRECT_STATUSES = range(300, 400)
_CLIENT_ERROR_STATUSES = range(400, 500)


class _ErrorBody(BaseModel):
    """JSON body of the arena's errors."""

    error: str


def error_from_response(
    response: requests.Response, body: bytes, secrets: Iterable[str], *, is_write: bool
) -> ArenaError:
    """Return the error for a response with an unaccepted status.

    Only a 429, or a 4xx with the arena's error text, proves that a write was not carried out: a
    gateway's page says nothing about the server behind it.
    """
    status = response.status_code
    wait = parse_retry_after(response.headers)
    if status == requests.codes.too_many_requests or (
        status == requests.codes.service_unavailable and wait is not None
    ):
        message = f"The server answered {status}: too many requests or too busy"
        outcome_unknown = is_write and status not in _CLIENT_ERROR_STATUSES
        return RateLimited(
            message, _DEFAULT_RETRY_DELAY if wait is None else wait, outcome_unknown=outcome_unknown
        )
    if status < _REDIRECT_STATUSES.start:
        return MalformedResponse(
            f"The server answered with status {status}.", outcome_unknown=is_write
        )
    arena_text = _parse_arena_error(status, body)
    if status in _REDIRECT_STATUSES:
        target = _to_single_line(response.headers.get("Location", "nowhere"))
        message = f"it redirects to {target}; use that address instead"
    else:
        message = arena_text or "it gave no reason; check the address if this stays"
    if any(secret in message for secret in secrets):
        message = "(its text is withheld, because it repeats the password)"
    if status not in _CLIENT_ERROR_STATUSES:
        return RequestRejected(status, message, outcome_unknown=is_write)
    # A 408 comes from a server that did not read the whole request. A gateway may send it after
    # the arena behind it has already received and carried out the request.
    if arena_text is None or status == requests.codes.request_timeout:
        return GatewayRejection(status, message, outcome_unknown=is_write)
    return _ERROR_BY_STATUS.get(status, RequestRejected)(status, message)


def parse_retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """Return the wait of a `Retry-After` header, None if it is missing or invalid.

    A date is taken relative to the response's `Date`, so the two clocks need not agree. The
    wait is at most `MAX_RETRY_AFTER`.
    """
    value, wait = headers.get("Retry-After", ""), None
    with suppress(ValueError, TypeError, OverflowError):
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("Date", ""))
    with suppress(ValueError, OverflowError):
        seconds = float(value)
        # Limited as a number, because a timedelta cannot hold every number.
        wait = timedelta(seconds=min(seconds, MAX_RETRY_AFTER.total_seconds()))
    return None if wait is None else min(max(wait, timedelta()), MAX_RETRY_AFTER)


def _parse_arena_error(status: int, body: bytes) -> str | None:
    """Return the arena's error text in one short line; None if the body is not the arena's."""
    with suppress(ValidationError):
        return _to_single_line(_ErrorBody.model_validate_json(body).error)
    if status == requests.codes.unauthorized and body.strip() == _UNAUTHORIZED_BODY:
        return "check the user and the password"
    return None


def _to_single_line(text: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())[:_MAX_TEXT_CHARS]
