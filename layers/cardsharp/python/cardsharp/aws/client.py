"""Calls of AWS: clients with short timeouts, retries of transient failures, clear errors.

A failed condition is not a failure of AWS: it is raised as `ConditionFailed` for the adapter to
handle, and never retried.
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

Result = TypeVar("Result")
Params = ParamSpec("Params")

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

RESPONSE_TIMEOUT_SECONDS = (
    5  # seconds that an answer may take, but to a question that waits for something
)
_prepared: dict[tuple[str, float], Any] = {}  # by service and seconds, before they were needed
_connecting = threading.Lock()  # a session is not for several threads at once, but its clients are
_BROKEN = (HTTPClientError, ConnectTimeoutError, EndpointConnectionError)
"""Connections that broke off or did not come about; not those whose certificate is wrong."""


class ConditionFailed(StoreError):
    """A condition did not hold, be it one of several in a transaction."""


def client_config(read_timeout: float) -> "Config":
    """Return the configuration of a client: short timeouts, and no retries inside botocore."""
    from botocore.config import Config  # noqa: PLC0415 - slow to import, and not needed at home

    return Config(
        connect_timeout=2,
        read_timeout=read_timeout,
        max_pool_connections=50,
        retries={"total_max_attempts": 1},
    )


def create_client(factory: Callable[[], Result]) -> Result:
    """A new client; raises `ConfigError` if nothing says in which region."""
    try:
        return factory()
    except NoRegionError as error:
        raise ConfigError(
            "No AWS region is set; set AWS_DEFAULT_REGION, e.g. to eu-central-1."
        ) from error


def client(service: str, read_timeout: float, endpoint_url: str | None = None) -> Any:  # noqa: ANN401 - typed by a literal name
    """Return a client of a service whose reads time out after `read_timeout` seconds.

    `endpoint_url` replaces the address that AWS gives the service. Raises as `create_client`.
    """
    with _connecting:
        cached_client = _prepared.get((service, read_timeout))
        if cached_client is not None:
            return cached_client
        options = {"config": client_config(read_timeout), "endpoint_url": endpoint_url}
        return create_client(lambda: shared_session().client(service, **options))  # type: ignore[call-overload]


def warm_up(service: str) -> None:
    """Make the client for all short questions now; raises `ConfigError` without a region."""
    _prepared[service, RESPONSE_TIMEOUT_SECONDS] = client(service, RESPONSE_TIMEOUT_SECONDS)


@cache
def shared_session() -> "Session":
    """This process's session: each keeps 10 MB of what it knows of AWS, so there is one."""
    from boto3.session import Session  # noqa: PLC0415 - slow to import, and not needed at home

    return Session()


def call(
    resource: str, method: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs
) -> Result:
    """Call a client's method on `resource`, such as a table, and return the response.

    Throttling and other transient failures are retried, at most 5 times in 10 seconds. Raises
    `ConditionFailed` if a condition did not hold, `ConfigError` if there are no credentials,
    and `StoreError` for any other failure of AWS or the network.
    """
    try:
        for attempt in stamina.retry_context(
            on=is_transient, attempts=5, timeout=10, wait_initial=0.05, wait_max=1, wait_jitter=0.1
        ):
            with attempt:
                return method(*args, **kwargs)
    except ClientError as error:
        raise _translated(resource, error) from error
    except NoCredentialsError as error:
        raise ConfigError(
            f"There are no AWS credentials for the {resource}; sign in (`aws configure`) or run "
            "where a role gives some."
        ) from error
    except BotoCoreError as error:
        raise StoreError(f"The {resource} cannot be reached: {error}") from error
    raise AssertionError("a retry ends with an answer or an error")


def is_transient(error: Exception) -> bool:
    """Return True if the same request may succeed a moment later."""
    if isinstance(error, ClientError):
        # A 5xx may come from what stands before the service, and then it has no code.
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        passing = status >= _SERVER_FAULT or any(code in _PASSING for code in _codes(error))
        return passing and not _is_unmet(error)
    return isinstance(error, _BROKEN)


def _translated(thing: str, error: ClientError) -> StoreError:
    if _is_unmet(error):
        return ConditionFailed("A condition did not hold.")
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
