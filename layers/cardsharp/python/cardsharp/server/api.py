"""A game's HTTP API: its routes, and in what it differs from those of other games."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Generic

from pydantic import BaseModel

from cardsharp.server.request_parsing import ParameterParser, RequestParser
from cardsharp.server.routing import ApiResponse, ErrorBody, Route, S, error_response

ErrorResponder = Callable[[Exception, type[BaseModel]], ApiResponse]
"""The answer to a request that ended with an error, with a body of that model if it is refused."""

HEADERS: Mapping[str, str] = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",  # a GET can change a game
    "Referrer-Policy": "no-referrer",  # secrets may be in addresses
    "X-Content-Type-Options": "nosniff",
}

OPENAPI_PATH = "/openapi.json"
DOCS_PATH = "/docs"  # where an API says what it is, behind its base: in OpenAPI 3.1, and as a page


@dataclass(frozen=True, slots=True, kw_only=True)
class Api(Generic[S]):
    """An HTTP API.

    `name` tells it from others of the same game. `base` is what all paths begin with, `refusals`
    the statuses with which any route may refuse, and `error` the body where no route is to blame.
    `cross_origin` lets pages from anywhere ask, and `merge_slashes` takes `//path` as `/path`.
    `schema_names` are what the document calls models that are called otherwise here.
    """

    title: str
    version: str
    description: str
    routes: tuple[Route[S], ...]
    name: str = ""
    base_path: str = ""
    request_parser: RequestParser = field(default_factory=ParameterParser)
    default_error_statuses: tuple[int, ...] = (
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.SERVICE_UNAVAILABLE,
    )
    error_model: type[BaseModel] = ErrorBody
    error_response: ErrorResponder = error_response
    headers: Mapping[str, str] = field(default_factory=lambda: HEADERS)
    allow_cors: bool = True
    merge_slashes: bool = False
    schema_names: Mapping[str, str] = field(default_factory=dict)
    home_page: Callable[[], ApiResponse] | None = (
        None  # makes the page at its root, where it has one
    )
