"""Errors with which the service of a game rejects a request; nothing was changed.

    ServiceError (a CardsharpError)
    ├── InvalidParameter     a parameter that is missing, malformed, or refers to nothing
    │   ├── GameNotFound      no game has this id
    │   └── PlayerNotInGame   the secret belongs to no player of the game
    ├── GameFull             all seats of the game are taken
    ├── OutOfTurn            another player is to act
    └── QuotaExceeded        the client has used up what it may do in a period

They name the rule that was broken and know nothing of HTTP. The services of single games derive
more of them. Each API has one `error_table.ErrorTable`, which maps them to statuses and texts.
"""

from typing import ClassVar

from cardsharp.errors import CardsharpError


class ServiceError(CardsharpError):
    """Base of all errors with which a service rejects a request.

    `text` is the message of a class whose message is always the same.
    """

    text: ClassVar[str] = "The request is rejected."

    def __init__(self, message: str | None = None) -> None:
        super().__init__(self.text if message is None else message)


class InvalidParameter(ServiceError):
    """A parameter of a request is missing, malformed, or refers to nothing.

    `parameter` is its name and `value` the value that was sent, None if there was none.
    """

    def __init__(self, parameter: str, value: object, message: str | None = None) -> None:
        super().__init__(message)
        self.parameter, self.value = parameter, value


class GameNotFound(InvalidParameter):
    """No game has the id in the parameter."""

    text = "There is no such game."


class PlayerNotInGame(InvalidParameter):
    """The secret in the parameter belongs to no player of the game."""

    text = "You do not play this game."


class GameFull(ServiceError):
    """All seats of the game are taken, so nobody can join it."""

    text = "The game is full."


class OutOfTurn(ServiceError):
    """An action of somebody who is not the player to act."""

    text = "It is not your turn."


class QuotaExceeded(ServiceError):
    """A client has used up what it may do in a period; the message says how much that is."""
