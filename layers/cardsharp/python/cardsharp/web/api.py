"""A game's HTTP API: its routes, and in what it differs from those of other games."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Generic

from pydantic import BaseModel

from cardsharp.web.reading import Parameters, Reading
from cardsharp.web.route import Answer, ErrorBody, Route, S, explain

Explain = Callable[[Exception, type[BaseModel]], Answer]
"""The answer to a request that ended with an error, with a body of that model if it is refused."""

HEADERS: Mapping[str, str] = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",  # a GET can change a game
    "Referrer-Policy": "no-referrer",  # secrets may be in addresses
    "X-Content-Type-Options": "nosniff",
}

DOCUMENT = "/openapi.json"
PAGE = "/docs"  # where an API says what it is, behind its base: in OpenAPI 3.1, and as a page


@dataclass(frozen=True, slots=True, kw_only=True)
class Api(Generic[S]):
    """An HTTP API.

    `name` tells it from others of the same game. `base` is what all paths begin with, `refusals`
    the statuses with which any route may refuse, and `error` the body where no route is to blame.
    `cross_origin` lets pages from anywhere ask, and `merge_slashes` takes `//path` as `/path`.
    """

    title: str
    version: str
    introduction: str
    routes: tuple[Route[S], ...]
    name: str = ""
    base: str = ""
    reading: Reading = field(default_factory=Parameters)
    refusals: tuple[int, ...] = (HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE)
    error: type[BaseModel] = ErrorBody
    explain: Explain = explain
    headers: Mapping[str, str] = field(default_factory=lambda: HEADERS)
    cross_origin: bool = True
    merge_slashes: bool = False
    home: Callable[[], Answer] | None = None  # makes the page at its root, where it has one
