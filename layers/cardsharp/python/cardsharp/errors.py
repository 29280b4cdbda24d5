"""All errors that Cardsharp raises on purpose.

    CardsharpError
    ├── RulesError (also a ValueError)  an action that the rules refuse
    │   ├── InvalidInput                 no action or card at all
    │   └── IllegalAction                an action that is not allowed in this position
    ├── ArenaError                      a request to an arena or service failed
    │   ├── Unreachable                  no response, or an incomplete one
    │   │   └── UntrustedCertificate     a retry changes nothing
    │   ├── MalformedResponse            a response that violates the protocol
    │   │   ├── ResponseTooLarge          above the size limit
    │   │   └── GatewayRejection             4xx of a gateway: may be temporary
    │   ├── RequestRejected              an HTTP status that says no
    │   │   ├── Unauthorized              401
    │   │   ├── NotFound                  404
    │   │   ├── NotYourTurn               409
    │   │   └── MatchOver                 410
    │   └── RateLimited                  429, or 503 with Retry-After
    ├── StrategyError                   a strategy's own code failed
    ├── ConfigError                     a setting, flag or file that cannot be used
    └── StoreError                      the match log or the queue failed
        └── WriteConflict                a condition of a write did not hold

A module may derive further errors from these, such as `ServiceError` of
`server/service_errors.py`, with which a service rejects a request.
The flag `outcome_unknown` of an `ArenaError` is True if the arena may have carried out the
request although no valid response came.
"""

from datetime import timedelta


class CardsharpError(Exception):
    """Base of all errors that Cardsharp raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        # An error crosses process boundaries by pickle. Its `__init__` may have other parameters
        # than `args`, so it is rebuilt without calling `__init__`.
        return type(self).__new__, (type(self), *self.args), vars(self)


class RulesError(CardsharpError, ValueError):
    """Base of errors about an action that the rules reject; the position is unchanged."""


class InvalidInput(RulesError):
    """Input that cannot be read: no action, card, match or message of the expected form."""


class IllegalAction(RulesError):
    """An action that is not allowed in this position, or that lacks its card."""


class ArenaError(CardsharpError):
    """The arena did not carry out a request, or it is unclear whether it did.

    `outcome_unknown` is True if a request that changes something (an action, a new match) may have
    been carried out although no valid response came. Do not send such a request again: the same
    action can be legal twice, and a second Draw can bust. Read the state of the match instead.
    """

    def __init__(self, message: str, *, outcome_unknown: bool = False) -> None:
        super().__init__(message)
        self.outcome_unknown = outcome_unknown


class Unreachable(ArenaError):
    """No complete response: the connection was refused, reset or timed out."""


class UntrustedCertificate(Unreachable):
    """The server's certificate is not trusted on this machine; a retry changes nothing."""


class MalformedResponse(ArenaError):
    """A response that violates the protocol: HTML, truncated JSON, wrong types, or too long."""


class ResponseTooLarge(MalformedResponse):
    """A response above the size limit."""


class GatewayRejection(MalformedResponse):
    """Rejection (4xx) by a proxy or gateway, not by the arena, so it may be temporary."""

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
    """401: wrong user or password, or the match belongs to somebody else."""


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
        full_message = f"{message} (retry after {retry_after.total_seconds():g} s)"
        super().__init__(full_message, outcome_unknown=outcome_unknown)
        self.retry_after = retry_after


class StrategyError(CardsharpError):
    """A strategy's own code failed or broke the rules; the message names its line."""


class ConfigError(CardsharpError):
    """A setting, flag or file that cannot be used; the message says what to do."""


class StoreError(CardsharpError):
    """The match log or the queue failed."""


class WriteConflict(StoreError):
    """A condition of a write did not hold, because somebody else wrote first."""
