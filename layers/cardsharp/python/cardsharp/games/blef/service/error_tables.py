"""Errors of the Blef service as the two generations of its API answer them, one table each.

The statuses and texts are those of the original services (docs/spec/blef.md section 5,
docs/spec/blef-next.md section 2): clients compare them. An error without a text here is answered
with its own message.
"""

from functools import partial
from http import HTTPStatus

from cardsharp.errors import IllegalAction
from cardsharp.games.blef.service import errors
from cardsharp.games.blef.service.request_params import NO_GAME, NO_PLAYER
from cardsharp.server.error_table import ErrorFormat, ErrorTable
from cardsharp.server.routing import HttpError, bad_request
from cardsharp.server.service_errors import (
    GameFull,
    GameNotFound,
    InvalidParameter,
    PlayerNotInGame,
    QuotaExceeded,
)

_BAD_REQUEST = ErrorFormat(HTTPStatus.BAD_REQUEST)
_FORBIDDEN = ErrorFormat(HTTPStatus.FORBIDDEN)
_CONFLICT = ErrorFormat(HTTPStatus.CONFLICT)
_TOO_MANY_REQUESTS = ErrorFormat(HTTPStatus.TOO_MANY_REQUESTS)
_UNAVAILABLE = ErrorFormat(HTTPStatus.SERVICE_UNAVAILABLE)

_SHARED_ERRORS: ErrorTable = {
    errors.GameAlreadyStarted: _FORBIDDEN,
    errors.VisibilityFixed: _FORBIDDEN,
    errors.TooFewPlayers: _FORBIDDEN,
    errors.GameNotStarted: _BAD_REQUEST,
    errors.GameAlreadyFinished: _BAD_REQUEST,
    IllegalAction: _BAD_REQUEST,
    errors.TooManyGames: _TOO_MANY_REQUESTS,
    QuotaExceeded: _TOO_MANY_REQUESTS,
    errors.TooManyConcurrentChanges: _UNAVAILABLE,
    errors.NoBotAvailable: _UNAVAILABLE,
}
"""Errors that both generations answer alike."""

ERRORS: ErrorTable = {
    **_SHARED_ERRORS,
    InvalidParameter: _BAD_REQUEST,
    GameNotFound: ErrorFormat(HTTPStatus.BAD_REQUEST, NO_GAME),
    PlayerNotInGame: ErrorFormat(HTTPStatus.BAD_REQUEST, NO_PLAYER),
    errors.NicknameTaken: _CONFLICT,
    errors.PlayerUuidTaken: _CONFLICT,
    errors.NotGameAdmin: _FORBIDDEN,
    errors.NotCurrentPlayer: _BAD_REQUEST,
    GameFull: ErrorFormat(HTTPStatus.FORBIDDEN, "The game room is full"),
}
"""Errors of API version 2.3."""


def _bad_input(error: InvalidParameter, text: str | None = None) -> HttpError:
    """Return the error of an invalid parameter in API v2022: its name and value, then `text`.

    Without `text` the error's own message is sent. Its status is always 400.
    """
    reason = str(error) if text is None else text
    first_line = f"Bad input value in '{error.parameter}': {error.value}"
    return bad_request(f"{first_line}\n{reason}" if reason else first_line)


ERRORS_V2022: ErrorTable = {
    **_SHARED_ERRORS,
    InvalidParameter: _bad_input,
    GameNotFound: partial(_bad_input, text=NO_GAME),
    PlayerNotInGame: partial(_bad_input, text=NO_PLAYER),
    errors.NicknameTaken: _bad_input,
    errors.PlayerUuidTaken: _bad_input,
    errors.NotGameAdmin: _bad_input,
    errors.NotCurrentPlayer: _bad_input,
    errors.CurrentPlayerNotInGame: partial(_bad_input, text=NO_PLAYER),
    GameFull: ErrorFormat(HTTPStatus.FORBIDDEN, "Game room full"),
}
"""Errors of API v2022: those about a parameter quote it, and are all a 400."""
