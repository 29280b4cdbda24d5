"""Every error that Cardsharp raises on purpose.

Every ArenaError says by its flag `doubtful` whether the arena may have done what was asked.
"""

from datetime import timedelta


class CardsharpError(Exception):
    """Base of all errors that Cardsharp raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        # To another process it goes as it is, whatever its kind is made of.
        return type(self).__new__, (type(self), *self.args), vars(self)


class RulesError(CardsharpError, ValueError):
    """An action that the rules refuse; the position is unchanged."""


class Malformed(RulesError):
    """The input cannot be read as an action or a card."""


class Illegal(RulesError):
    """A readable action that is not allowed in this position, or names no card where it must."""


class ArenaError(CardsharpError):
    """The arena did not do what was asked, or nobody knows whether it did.

    `doubtful` is True where a request that changes something (an action, a new match) may have
    been carried out although no good answer came. Such a request must not be sent again: the
    same action is legal twice, and a second Draw can bust. Read the state and compare.
    """

    def __init__(self, message: str, *, doubtful: bool = False) -> None:
        super().__init__(message)
        self.doubtful = doubtful


class Unreachable(ArenaError):
    """No answer came, or it broke off: refused, reset, timed out."""


class Untrusted(Unreachable):
    """The server's certificate is none that is trusted here; asking again changes nothing."""


class Garbled(ArenaError):
    """An answer came that is not the protocol: HTML, cut JSON, wrong types, too long."""


class TooLong(Garbled):
    """An answer came that has more bytes than we take."""


class Foreign(Garbled):
    """A 4xx that is not in the arena's own words: some gateway's page, and it may pass."""

    def __init__(self, status: int, message: str, *, doubtful: bool = False) -> None:
        super().__init__(f"The server answered {status}: {message}", doubtful=doubtful)
        self.status = status


class Rejected(ArenaError):
    """The arena said no, with an HTTP status; `message` is its own text where it gave one.

    A 4xx is always in the arena's own words; any other may be a gateway's as well.
    """

    def __init__(self, status: int, message: str, *, doubtful: bool = False) -> None:
        super().__init__(f"The server answered {status}: {message}", doubtful=doubtful)
        self.status, self.message = status, message


class Unauthorized(Rejected):
    """401: the user, the password, or that the match is somebody else's."""


class NotFound(Rejected):
    """404: no such match, player or path."""


class NotYourTurn(Rejected):
    """409: another player is to act."""


class MatchOver(Rejected):
    """410: the match has ended."""

    def __init__(self) -> None:
        super().__init__(410, "The match has ended.")


class RateLimited(ArenaError):
    """429, or 503 with Retry-After; ask again no earlier than after `retry_after`."""

    def __init__(self, message: str, retry_after: timedelta, *, doubtful: bool = False) -> None:
        text = f"{message} (retry after {retry_after.total_seconds():g} s)"
        super().__init__(text, doubtful=doubtful)
        self.retry_after = retry_after


class StrategyFault(CardsharpError):
    """A strategy's own code failed or broke the rules; the message names its line."""


class ConfigError(CardsharpError):
    """A setting, flag or file that cannot be used; the message says what to do."""


class StoreError(CardsharpError):
    """The match log or the queue failed."""


class Conflict(StoreError):
    """A conditional write found that somebody else was first."""
