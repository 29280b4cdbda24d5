"""What a game's table of routes consists of: from it the edge answers and the document is made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

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
