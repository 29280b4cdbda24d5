"""Routes of an API: the request handler and the OpenAPI document are derived from them.

This module also has the errors of the HTTP edge, and the default error response.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Generic, Protocol, TypedDict, TypeVar

from pydantic import BaseModel

from cardsharp.core.clock import RemainingTime
from cardsharp.errors import CardsharpError, StoreError

S = TypeVar("S")  # what carries requests out: a game's use cases

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")  # the result of a use case

ResponseModels = Mapping[int, tuple[type[BaseModel], ...]]  # bodies by status

MAX_LONG_POLL = timedelta(seconds=25)  # API Gateway ends a request after 30 s
RESPONSE_MARGIN = timedelta(seconds=3)  # time of an invocation that is reserved for the response


class ErrorBody(BaseModel, frozen=True, extra="forbid"):
    """Body of an error response, with the reason for the refusal or failure."""

    error: str


class NoParams(BaseModel):
    """No parameters."""


@dataclass(frozen=True, slots=True)
class ApiRequest(Generic[M]):
    """Validated parameters of an API request, its caller, and how long a wait may take.

    It has no HTTP parts. `caller` is the address or network of the client, None for this
    machine.
    """

    params: M
    remaining_wait: RemainingTime
    caller: str | None = None


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """A response: a model sent as JSON, or a text sent unchanged."""

    body: BaseModel | str
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


class RunUseCase(Protocol):
    """Runs a use case, which may wait in a long poll, where it delays nobody else."""

    def __call__(self, use_case: Callable[[], T], /) -> Awaitable[T]:
        """Return the result of the use case."""


class RequestState(TypedDict):
    """State that the server in front of an application adds to each request."""

    time_left: RemainingTime
    run_use_case: RunUseCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[S]):
    """A path with its methods, its endpoint and its models.

    `params_model` is the model of the parameters; a field that the path names in braces is a
    path parameter. `response_models` are the bodies of successful responses by status,
    `response_headers` their headers. `error_statuses` are the statuses of errors; their body is
    `default_error_model` unless `error_models` has another for the status.
    """

    methods: tuple[str, ...]
    path: str
    name: str
    summary: str
    endpoint: Callable[[S, ApiRequest[Any]], ApiResponse]
    response_models: ResponseModels
    params_model: type[BaseModel] = NoParams
    error_statuses: tuple[int, ...] = ()
    default_error_model: type[BaseModel] = ErrorBody
    error_models: Mapping[int, type[BaseModel]] = field(default_factory=dict)
    response_headers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Descriptions of the response headers for the OpenAPI document, by name."""

    def error_model(self, status: int) -> type[BaseModel]:
        """Return the model of the body of an error with this status."""
        return self.error_models.get(status, self.default_error_model)


class HttpError(CardsharpError):
    """A request that is answered with `status` and this text; nothing was changed.

    Only the HTTP edge raises it. A use case raises a `ServiceError`.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class PathNotFound(HttpError):
    """404: no route has this path."""

    def __init__(self, path: str) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, "404 - Resource Not Found")
        self.path = path


class MethodNotAllowed(HttpError):
    """405: the path is there, and answers only these methods."""

    def __init__(self, path: str, methods: Iterable[str]) -> None:
        super().__init__(HTTPStatus.METHOD_NOT_ALLOWED, "405 - Method Not Allowed")
        self.methods = tuple(methods)
        self.path = path


def bad_request(text: str) -> HttpError:
    """Return an error for an invalid request."""
    return HttpError(HTTPStatus.BAD_REQUEST, text)


def error_response(error: Exception, model: type[BaseModel] = ErrorBody) -> ApiResponse:
    """Return the response to a request that failed; every field of the body has the text."""
    if isinstance(error, HttpError):
        status, message = error.status, error.text
    elif isinstance(error, StoreError):
        status, message = (
            HTTPStatus.SERVICE_UNAVAILABLE,
            "503 - Service Unavailable, please try again",
        )
    else:
        status, message = HTTPStatus.INTERNAL_SERVER_ERROR, "500 - Internal server error"
    return ApiResponse(model(**dict.fromkeys(model.model_fields, message)), status)
