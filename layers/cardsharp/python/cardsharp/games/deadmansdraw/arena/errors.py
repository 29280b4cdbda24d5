"""Errors with which the arena rejects a request, named for the rule that was broken.

    ServiceError (server/service_errors.py)
    ├── MatchNotFound          no match has this id
    ├── MatchNotVisible        only its players may see the match
    ├── MatchHidden            the scoreboard is frozen
    ├── MatchEndedError        an action in a match that has ended
    ├── TerminationDenied      the user may not end the match
    ├── AdminMayNotPlay        the admin is no player
    ├── NotMatchCreator        only the creator of a match plays it by hand
    ├── OtherUserDenied        a player asks for another player's record
    ├── PlayerNotFound         no player has this id
    ├── TooManyWrongPasswords  no further password is checked for a while
    └── AdminPasswordNotSet    nobody can sign in yet

`OutOfTurn` and `QuotaExceeded` are those of all services. A request that cannot be read is an
`InvalidInput`, and an action that the rules forbid an `IllegalAction`. `error_responses.py` maps
all of them to statuses and texts.
"""

from typing import TYPE_CHECKING

from cardsharp.server.service_errors import ServiceError

if TYPE_CHECKING:
    from cardsharp.games.deadmansdraw.arena.match import ArenaMatch


class MatchNotFound(ServiceError):
    """No match has this id."""

    text = "Match does not exist."


class MatchNotVisible(ServiceError):
    """The match is visible only to its players."""

    text = "Match is visible only to participating players."


class MatchHidden(ServiceError):
    """The match is hidden from everybody but its players while the scoreboard is frozen."""

    text = "The scoreboard is frozen. The organiser will reveal this match later."


class MatchEndedError(ServiceError):
    """An action in a match that has ended; `match` shows how it ended."""

    text = "No action possible on finished matches."

    def __init__(self, match: "ArenaMatch") -> None:
        super().__init__()
        self.match = match


class TerminationDenied(ServiceError):
    """Only the admin, or the creator of a practice match, may end a match."""

    text = "Not authorized to perform action."


class AdminMayNotPlay(ServiceError):
    """An action of the admin, who is no player."""

    text = "Admin user is not allowed to interfere with the match."


class NotMatchCreator(ServiceError):
    """Only the creator of a practice match may play it by hand."""

    text = "Only the creator of the match plays it by hand."


class OtherUserDenied(ServiceError):
    """A player may ask only for their own record."""

    text = "Not allowed to query other users."


class PlayerNotFound(ServiceError):
    """No player has this id."""

    text = "Player record not found."


class TooManyWrongPasswords(ServiceError):
    """So many passwords were wrong that no further one is checked for a while."""

    text = "There were too many wrong passwords. Wait a minute and try again."


class AdminPasswordNotSet(ServiceError):
    """Nobody can sign in yet: the organiser's password, which signs the nonces, is not set."""

    text = (
        "Nobody can sign in yet, because the arena has no organiser's password. The organiser sets "
        "it with `cardsharp cloud rotate-secret --service deadmansdraw --stack STACK`."
    )
