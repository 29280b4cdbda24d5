"""Calling AWS: clients with bounded waits, retries of what passes, and errors that say what to do.

A refused condition is no failure: it is raised as `Unmet` for the adapter to read, never retried.
"""

import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import stamina
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
)

from cardsharp.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from boto3.session import Session
    from botocore.config import Config

Answer = TypeVar("Answer")
Asked = ParamSpec("Asked")

_SERVER_FAULT = 500
_PASSING = frozenset(
    {
        "InternalServerError",
        "InternalFailure",
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "ServiceUnavailable",
        "Throttling",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
        # Reasons inside a cancelled transaction.
        "ProvisionedThroughputExceeded",
        "ThrottlingError",
        "TransactionConflict",
    }
)
_REFUSALS = frozenset(
    {
        "ConditionalCheckFailed",
        "ConditionalCheckFailedException",
        "ReceiptHandleIsInvalid",
    }
)
_MISSING = frozenset(
    {
        "AWS.SimpleQueueService.NonExistentQueue",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
    }
)

ANSWER = 5  # seconds that an answer may take, but to a question that waits for something
_prepared: dict[tuple[str, float], Any] = {}  # by service and seconds, before they were needed
_connecting = threading.Lock()  # a session is not for several threads at once, but its clients are
_BROKEN = (HTTPClientError, ConnectTimeoutError, EndpointConnectionError)
"""Connections that broke off or did not come about; not those whose certificate is wrong."""


class Unmet(StoreError):
    """A condition did not hold, be it one of several in a transaction."""


def config(read_timeout: float) -> "Config":
    """How a client waits: briefly, and without retries of its own."""
    from botocore.config import Config  # noqa: PLC0415 - slow to import, and not needed at home

    return Config(
        connect_timeout=2,
        read_timeout=read_timeout,
        max_pool_connections=50,
        retries={"total_max_attempts": 1},
    )


def connect(make: Callable[[], Answer]) -> Answer:
    """A new client; raises `ConfigError` if nothing says in which region."""
    try:
        return make()
    except NoRegionError as error:
        raise ConfigError(
            "No AWS region is set; set AWS_DEFAULT_REGION, e.g. to eu-central-1."
        ) from error


def client(service: str, read_timeout: float, address: str | None = None) -> Any:  # noqa: ANN401 - typed by a literal name
    """A client of a service that waits so many seconds for an answer; raises as `connect`.

    `address` is where the service is, if it is not where AWS has it.
    """
    with _connecting:
        there = _prepared.get((service, read_timeout))
        if there is not None:
            return there
        told = {"config": config(read_timeout), "endpoint_url": address}
        return connect(lambda: session().client(service, **told))  # type: ignore[call-overload]


def prepare(service: str) -> None:
    """Make the client for all short questions now; raises `ConfigError` without a region."""
    _prepared[service, ANSWER] = client(service, ANSWER)


@cache
def session() -> "Session":
    """This process's session: each keeps 10 MB of what it knows of AWS, so there is one."""
    from boto3.session import Session  # noqa: PLC0415 - slow to import, and not needed at home

    return Session()


def call(
    thing: str, request: Callable[Asked, Answer], *args: Asked.args, **kwargs: Asked.kwargs
) -> Answer:
    """The answer of a client's method, which asks something of `thing`, such as a table.

    Throttling and other passing failures are tried again, at most 5 times in 10 seconds. Raises
    `Unmet` if a condition did not hold, `ConfigError` if there are no credentials, and `StoreError`
    for anything else that AWS or the network did wrong.
    """
    try:
        for attempt in stamina.retry_context(
            on=is_passing, attempts=5, timeout=10, wait_initial=0.05, wait_max=1, wait_jitter=0.1
        ):
            with attempt:
                return request(*args, **kwargs)
    except ClientError as error:
        raise _translated(thing, error) from error
    except NoCredentialsError as error:
        raise ConfigError(
            f"There are no AWS credentials for the {thing}; sign in (`aws configure`) or run "
            "where a role gives some."
        ) from error
    except BotoCoreError as error:
        raise StoreError(f"The {thing} cannot be reached: {error}") from error
    raise AssertionError("a retry ends with an answer or an error")


def is_passing(error: Exception) -> bool:
    """Whether the same request may succeed a moment later."""
    if isinstance(error, ClientError):
        # A 5xx may come from what stands before the service, and then it has no code.
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        passing = status >= _SERVER_FAULT or any(code in _PASSING for code in _codes(error))
        return passing and not _is_unmet(error)
    return isinstance(error, _BROKEN)


def _translated(thing: str, error: ClientError) -> StoreError:
    if _is_unmet(error):
        return Unmet("A condition did not hold.")
    code = error.response["Error"].get("Code", "")
    if code in _MISSING:
        return StoreError(
            f"There is no {thing}; deploy the stack there, or correct CARDSHARP_STORE, "
            "CARDSHARP_QUEUE or AWS_DEFAULT_REGION."
        )
    if "AccessDenied" in code:
        return StoreError(
            f"We may not use the {thing}; allow {error.operation_name} in the role's policy."
        )
    return StoreError(f"The {thing} refused {error.operation_name}: {error}")


def _codes(error: ClientError) -> Sequence[str]:
    """The code of each reason for which a transaction was cancelled, or the error's own."""
    reasons = error.response.get("CancellationReasons")
    if reasons:
        return [reason.get("Code", "") for reason in reasons]
    return [error.response["Error"].get("Code", "")]


def _is_unmet(error: ClientError) -> bool:
    return not _REFUSALS.isdisjoint(_codes(error))
