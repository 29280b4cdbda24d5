"""Description of a game's HTTP API: its routes, and its differences from other games' APIs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Generic

from pydantic import BaseModel

from cardsharp.server.error_table import ErrorTable
from cardsharp.server.request_parsing import ParameterParser, RequestParser
from cardsharp.server.routing import ApiResponse, ErrorBody, Route, S, error_response

ErrorResponder = Callable[[Exception, type[BaseModel]], ApiResponse]
"""Builds the response to a failed request, with a body of the given model."""

HEADERS: Mapping[str, str] = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",  # a GET can change a game
    "Referrer-Policy": "no-referrer",  # secrets may be in addresses
    "X-Content-Type-Options": "nosniff",
}

OPENAPI_PATH = "/openapi.json"
DOCS_PATH = "/docs"  # page of the OpenAPI document; both paths are below the API's base path


@dataclass(frozen=True, slots=True, kw_only=True)
class Api(Generic[S]):
    """An HTTP API.

    `name` distinguishes it from other APIs of the same game. All paths begin with `base_path`. Any
    route may fail with `default_error_statuses`. `error_table` maps the errors of use cases; any
    other error is a failure of the service. `error_model` is the body of errors that belong to no
    route. With `allow_cors` pages of any site may send requests. `merge_slashes` treats `//path`
    as `/path`. `schema_names` gives the published names of models whose class has another name.
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
    error_table: ErrorTable = field(default_factory=dict)
    error_response: ErrorResponder = error_response
    headers: Mapping[str, str] = field(default_factory=lambda: HEADERS)
    allow_cors: bool = True
    merge_slashes: bool = False
    schema_names: Mapping[str, str] = field(default_factory=dict)
    home_page: Callable[[], ApiResponse] | None = (
        None  # makes the page at its root, where it has one
    )
