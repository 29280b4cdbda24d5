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

_MIN_SERVER_ERROR_STATUS = 500
_TRANSIENT_CODES = frozenset(
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
_CONDITION_FAILURE_CODES = frozenset(
    {
        "ConditionalCheckFailed",
        "ConditionalCheckFailedException",
        "ReceiptHandleIsInvalid",
    }
)
_MISSING_RESOURCE_CODES = frozenset(
    {
        "AWS.SimpleQueueService.NonExistentQueue",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
    }
)

RESPONSE_TIMEOUT_SECONDS = 5  # for a response; a long poll has a longer timeout
_client_cache: dict[tuple[str, float], Any] = {}  # clients made at start, by service and timeout
_session_lock = threading.Lock()  # a session is not thread-safe, but its clients are
_CONNECTION_ERRORS = (HTTPClientError, ConnectTimeoutError, EndpointConnectionError)
"""Errors of connections that broke or were not made; not those of a wrong certificate."""


class ConditionFailed(StoreError):
    """A condition of a write did not hold, or one of several in a transaction."""


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
    """Return the client that `factory` creates; raise `ConfigError` if no AWS region is set."""
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
    with _session_lock:
        cached_client = _client_cache.get((service, read_timeout))
        if cached_client is not None:
            return cached_client
        options = {"config": client_config(read_timeout), "endpoint_url": endpoint_url}
        return create_client(lambda: shared_session().client(service, **options))  # type: ignore[call-overload]


def prepare_client(service: str) -> None:
    """Make the client for short requests now; raise `ConfigError` without a region."""
    _client_cache[service, RESPONSE_TIMEOUT_SECONDS] = client(service, RESPONSE_TIMEOUT_SECONDS)


@cache
def shared_session() -> "Session":
    """Return the only session of this process; each would take 10 MB for its data about AWS."""
    from boto3.session import Session  # noqa: PLC0415 - slow to import, and not needed at home

    return Session()


def call_with_retries(
    resource_name: str,
    method: Callable[Params, Result],
    *args: Params.args,
    **kwargs: Params.kwargs,
) -> Result:
    """Call a client's method and return the response; errors name the resource.

    Throttling and other transient failures are retried, at most 5 times in 10 seconds. Raises
    `ConditionFailed` if a condition did not hold, `ConfigError` if there are no credentials,
    and `StoreError` for any other failure of AWS or the network.
    """
    attempts = stamina.retry_context(
        on=is_transient, attempts=5, timeout=10, wait_initial=0.05, wait_max=1, wait_jitter=0.1
    )
    name = f"{getattr(method, '__name__', 'request')} of the {resource_name}"
    try:
        for attempt in attempts.with_name(name, (), {}):  # for the log line of a retry
            with attempt:
                return method(*args, **kwargs)
    except ClientError as error:
        raise _to_store_error(resource_name, error) from error
    except NoCredentialsError as error:
        raise ConfigError(
            f"There are no AWS credentials for the {resource_name}; sign in (`aws "
            "configure`) or run "
            "where a role gives some."
        ) from error
    except BotoCoreError as error:
        raise StoreError(f"The {resource_name} cannot be reached: {error}") from error
    raise AssertionError("a retry ends with an answer or an error")


def is_transient(error: Exception) -> bool:
    """Return True if the same request may succeed a moment later."""
    if isinstance(error, ClientError):
        # A 5xx may come from a load balancer before the service, and then it has no code.
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        is_passing = status >= _MIN_SERVER_ERROR_STATUS or any(
            error_code in _TRANSIENT_CODES for error_code in _error_codes(error)
        )
        return is_passing and not _is_condition_failure(error)
    return isinstance(error, _CONNECTION_ERRORS)


def _to_store_error(resource: str, error: ClientError) -> StoreError:
    if _is_condition_failure(error):
        return ConditionFailed("A condition did not hold.")
    error_code = error.response["Error"].get("Code", "")
    if error_code in _MISSING_RESOURCE_CODES:
        return StoreError(
            f"There is no {resource}; deploy the stack there, or correct CARDSHARP_STORE, "
            "CARDSHARP_QUEUE or AWS_DEFAULT_REGION."
        )
    if "AccessDenied" in error_code:
        return StoreError(
            f"We may not use the {resource}; allow {error.operation_name} in the role's policy."
        )
    return StoreError(f"The {resource} refused {error.operation_name}: {error}")


def _error_codes(error: ClientError) -> Sequence[str]:
    """Return the code of each reason for a cancelled transaction, else the error's code."""
    reasons = error.response.get("CancellationReasons")
    if reasons:
        return [reason.get("Code", "") for reason in reasons]
    return [error.response["Error"].get("Code", "")]


def _is_condition_failure(error: ClientError) -> bool:
    return not _CONDITION_FAILURE_CODES.isdisjoint(_error_codes(error))
