"""All errors that Cardsharp raises on purpose.

The flag `doubtful` of an `ArenaError` is True if the arena may have carried out the request.
"""

from datetime import timedelta


class CardsharpError(Exception):
    """Base of all errors that Cardsharp raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        # To another process it goes as it is, whatever its kind is made of.
        return type(self).__new__, (type(self), *self.args), vars(self)


class RulesError(CardsharpError, ValueError):
    """An action that the rules refuse; the position is unchanged."""


class InvalidInput(RulesError):
    """The input cannot be read as an action or a card."""


class IllegalAction(RulesError):
    """A readable action that is not allowed in this position, or names no card where it must."""


class ArenaError(CardsharpError):
    """The arena did not carry out a request, or it is unclear whether it did.

    `doubtful` is True if a request that changes something (an action, a new match) may have
    been carried out although no valid response came. Such a request must not be sent again: the
    same action is legal twice, and a second Draw can bust. Read the state and compare.
    """

    def __init__(self, message: str, *, outcome_unknown: bool = False) -> None:
        super().__init__(message)
        self.doubtful = outcome_unknown


class Unreachable(ArenaError):
    """No answer came, or it broke off: refused, reset, timed out."""


class UntrustedCertificate(Unreachable):
    """The server's certificate is not trusted on this machine; a retry changes nothing."""


class MalformedResponse(ArenaError):
    """A response that violates the protocol: HTML, cut JSON, wrong types, too long."""


class ResponseTooLarge(MalformedResponse):
    """A response above the size limit."""


class UpstreamError(MalformedResponse):
    """A 4xx without the arena's error text: a gateway's page, so the failure may be temporary."""

    def __init__(self, status: int, message: str, *, outcome_unknown: bool = False) -> None:
        super().__init__(
            f"The server answered {status}: {message}", outcome_unknown=outcome_unknown
        )
        self.status = status


class RequestRejected(ArenaError):
    """The arena rejected the request with an HTTP status; `message` is its text if it sent one.

    A 4xx always has the arena's error text; any other status may come from a gateway.
    """

    def __init__(self, status: int, message: str, *, outcome_unknown: bool = False) -> None:
        super().__init__(
            f"The server answered {status}: {message}", outcome_unknown=outcome_unknown
        )
        self.status, self.message = status, message


class Unauthorized(RequestRejected):
    """401: the user, the password, or that the match is somebody else's."""


class NotFound(RequestRejected):
    """404: no such match, player or path."""


class NotYourTurn(RequestRejected):
    """409: another player is to act."""


class MatchOver(RequestRejected):
    """410: the match has ended."""

    def __init__(self) -> None:
        super().__init__(410, "The match has ended.")


class RateLimited(ArenaError):
    """429, or 503 with Retry-After; ask again no earlier than after `retry_after`."""

    def __init__(
        self, message: str, retry_after: timedelta, *, outcome_unknown: bool = False
    ) -> None:
        text = f"{message} (retry after {retry_after.total_seconds():g} s)"
        super().__init__(text, outcome_unknown=outcome_unknown)
        self.retry_after = retry_after


class StrategyError(CardsharpError):
    """A strategy's own code failed or broke the rules; the message names its line."""


class ConfigError(CardsharpError):
    """A setting, flag or file that cannot be used; the message says what to do."""


class StoreError(CardsharpError):
    """The match log or the queue failed."""


class WriteConflict(StoreError):
    """A conditional write found that somebody else was first."""
