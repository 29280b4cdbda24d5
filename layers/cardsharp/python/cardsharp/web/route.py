"""What a game's table of routes consists of: from it the edge answers and the document is made.

With it comes what a service refuses, and how where a game has no manner of its own.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from cardsharp.errors import CardsharpError, StoreError

S = TypeVar("S")  # what carries requests out: a game's use cases

M = TypeVar("M", bound=BaseModel)

Answers = Mapping[int, tuple[type[BaseModel], ...]]  # bodies by status
TimeLeft = Callable[[], timedelta]  # how long an answer may still take


class ErrorBody(BaseModel, frozen=True, extra="forbid"):
    """What was refused."""

    error: str


class NoFields(BaseModel):
    """No parameters."""


@dataclass(frozen=True, slots=True)
class Call(Generic[M]):
    """A request without the HTTP around it: what is asked, and the time that a wait may take.

    `caller` is the address, or the network, from which it came: None for this machine.
    """

    asked: M
    left: TimeLeft
    caller: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered: a model as JSON, or a text as it is."""

    body: BaseModel | str
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Generic[S]):
    """A path, the methods under which it is there, and what it does.

    `request` is the model of what is sent; a field that the path names in braces is taken from
    there. `answers` are the bodies of success by status, `headers` what comes with them, and
    `refusals` the statuses of refusal, whose body is `error` or what `errors` says of the status.
    """

    methods: tuple[str, ...]
    path: str
    name: str
    summary: str
    act: Callable[[S, Call[Any]], Answer]
    answers: Answers
    request: type[BaseModel] = NoFields
    refusals: tuple[int, ...] = ()
    error: type[BaseModel] = ErrorBody
    errors: Mapping[int, type[BaseModel]] = field(default_factory=dict)
    headers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """What the document says of each header, by its name."""

    def error_model(self, status: int) -> type[BaseModel]:
        """The body of a refusal with this status."""
        return self.errors.get(status, self.error)


class Refused(CardsharpError):
    """A request that is answered with `status` and this text; nothing was changed."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class NoSuchPath(Refused):
    """404: no route has this path."""

    def __init__(self, path: str) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, "404 - Resource Not Found")
        self.path = path


class NoSuchMethod(Refused):
    """405: the path is there, and answers only these methods."""

    def __init__(self, path: str, methods: Iterable[str]) -> None:
        super().__init__(HTTPStatus.METHOD_NOT_ALLOWED, "405 - Method Not Allowed")
        self.methods = tuple(methods)
        self.path = path


def bad_request(text: str) -> Refused:
    """A refusal of what was sent."""
    return Refused(HTTPStatus.BAD_REQUEST, text)


def forbidden(text: str) -> Refused:
    """A refusal of who asks, or when."""
    return Refused(HTTPStatus.FORBIDDEN, text)


def explain(error: Exception, model: type[BaseModel] = ErrorBody) -> Answer:
    """The answer to a request that ended with this error; each field of the body says why."""
    if isinstance(error, Refused):
        status, text = error.status, error.text
    elif isinstance(error, StoreError):
        status, text = HTTPStatus.SERVICE_UNAVAILABLE, "503 - Service Unavailable, please try again"
    else:
        status, text = HTTPStatus.INTERNAL_SERVER_ERROR, "500 - Internal server error"
    return Answer(model(**dict.fromkeys(model.model_fields, text)), status)
