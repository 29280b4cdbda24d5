"""Errors of the arena as its API and its pages answer them.

The statuses and texts are those of the original (docs/spec/arena.md section 4): clients compare
them. An error without a text here is answered with its own message.
"""

from http import HTTPStatus

from cardsharp.errors import RulesError, StoreError, WriteConflict
from cardsharp.games.deadmansdraw.arena import errors
from cardsharp.server.error_table import ErrorFormat, ErrorTable
from cardsharp.server.service_errors import OutOfTurn, QuotaExceeded

_NOT_YOUR_TURN = "Authenticated user is not the current player."

_UNAUTHORIZED = ErrorFormat(HTTPStatus.UNAUTHORIZED)
_FORBIDDEN = ErrorFormat(HTTPStatus.FORBIDDEN)
_NOT_FOUND = ErrorFormat(HTTPStatus.NOT_FOUND)
_TOO_MANY_REQUESTS = ErrorFormat(HTTPStatus.TOO_MANY_REQUESTS)

ERRORS: ErrorTable = {
    RulesError: ErrorFormat(HTTPStatus.BAD_REQUEST),
    errors.MatchNotFound: _NOT_FOUND,
    errors.MatchNotVisible: _UNAUTHORIZED,
    errors.MatchHidden: _NOT_FOUND,
    errors.TerminationDenied: _UNAUTHORIZED,
    errors.AdminMayNotPlay: _UNAUTHORIZED,
    OutOfTurn: ErrorFormat(HTTPStatus.CONFLICT, _NOT_YOUR_TURN),
    errors.OtherUserDenied: _FORBIDDEN,
    errors.PlayerNotFound: _NOT_FOUND,
    QuotaExceeded: _TOO_MANY_REQUESTS,
    errors.TooManyWrongPasswords: _TOO_MANY_REQUESTS,
    errors.AdminPasswordNotSet: ErrorFormat(HTTPStatus.SERVICE_UNAVAILABLE),
    # The error's text may name tables and files, so it is logged but not sent.
    StoreError: ErrorFormat(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The arena cannot read or write its matches now. Try again.",
    ),
}
"""Errors of the API. A `MatchEndedError` is no part of it: its response shows the events."""

PAGE_ERRORS: ErrorTable = {
    **ERRORS,
    errors.NotMatchCreator: ErrorFormat(HTTPStatus.FORBIDDEN, _NOT_YOUR_TURN),
    # Somebody else has moved first. The user is told so, and decides anew.
    WriteConflict: ErrorFormat(HTTPStatus.BAD_REQUEST),
}
"""Errors of the forms of the pages."""
