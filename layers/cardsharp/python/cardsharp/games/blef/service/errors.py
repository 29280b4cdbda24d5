"""Errors with which the Blef service rejects a request, named for the rule that was broken.

    ServiceError (server/service_errors.py)
    ├── InvalidParameter
    │   ├── NicknameTaken          another player has this nickname
    │   ├── PlayerUuidTaken        another player has this uuid
    │   ├── NotGameAdmin           the uuid is not the admin's
    │   └── NotCurrentPlayer       the uuid is not that of the player to move
    │       └── CurrentPlayerNotInGame   it belongs to nobody in the game either
    ├── GameAlreadyStarted        too late for a change of the players
    ├── VisibilityFixed           too late for a change of the visibility
    ├── GameNotStarted            too early for a move
    ├── GameAlreadyFinished       too late for a move
    ├── TooFewPlayers             too early for the start
    ├── TooManyGames              the service is full
    ├── TooManyConcurrentChanges  other requests change the game all the time
    └── NoBotAvailable            the bots are paused

`GameNotFound`, `PlayerNotInGame`, `GameFull` and `QuotaExceeded` are those of all services. The
tables of both APIs (`error_tables.py`) map all of them to statuses and texts.
"""

from cardsharp.server.service_errors import InvalidParameter, ServiceError


class NicknameTaken(InvalidParameter):
    """Another player of the game has the nickname."""

    text = "Nickname already taken"


class PlayerUuidTaken(InvalidParameter):
    """A player with another nickname has the uuid that a client chose."""

    text = "Player UUID already taken"


class NotGameAdmin(InvalidParameter):
    """The uuid is not that of the game's admin."""

    text = "Admin UUID does not match"


class NotCurrentPlayer(InvalidParameter):
    """The uuid is not that of the player to move."""

    text = "The submitted UUID does not match the UUID of the current player"


class CurrentPlayerNotInGame(NotCurrentPlayer):
    """The uuid with a move belongs to no player of the game."""


class GameAlreadyStarted(ServiceError):
    """The game has started, so nobody can join it or start it again."""

    text = "Game already started"


class VisibilityFixed(ServiceError):
    """The game has started, so it stays public or private."""

    text = "Cannot make the change - game already started"


class GameNotStarted(ServiceError):
    """A move in a game that has not started."""

    text = "This game has not yet started"


class GameAlreadyFinished(ServiceError):
    """A move in a game that has finished."""

    text = "This game has already finished"


class TooFewPlayers(ServiceError):
    """The game has too few players to start."""

    text = "At least 2 players needed to start a game"


class TooManyGames(ServiceError):
    """The service has so many games that it creates no other one."""

    text = "Too many games started"


class TooManyConcurrentChanges(ServiceError):
    """Other requests changed the game at every attempt to write this change."""

    text = "The game is being changed by others - please try again"


class NoBotAvailable(ServiceError):
    """No bot can be invited now, because the bots are paused."""

    text = "No agent can join now - please try again later"
