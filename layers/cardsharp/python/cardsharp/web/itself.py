"""The routes by which a service says what it is: its OpenAPI document, in 3.0 too, and a page."""

from collections.abc import Callable, Iterator
from functools import cache

from pydantic import RootModel

from cardsharp.web.api import DOCUMENT, OLDER_DOCUMENT, PAGE, Api
from cardsharp.web.openapi import document
from cardsharp.web.openapi30 import older
from cardsharp.web.page import HEADERS, page
from cardsharp.web.reading import Json
from cardsharp.web.route import Answer, Route, S

_LINKS = {"OpenAPI 3.1": DOCUMENT[1:], "OpenAPI 3.0": OLDER_DOCUMENT[1:]}
"""From the page, and so behind any prefix."""


def routes(api: Api[S]) -> Iterator[Route[S]]:
    """Yield the routes; what they answer is made when it is first asked for."""
    yield _route(DOCUMENT, "The API in OpenAPI 3.1", lambda: _json(document(api)))
    yield _route(OLDER_DOCUMENT, "The API in OpenAPI 3.0", lambda: _json(older(document(api))))
    yield _route(
        PAGE, "The API as a page", lambda: Answer(page(document(api), _LINKS), headers=HEADERS)
    )


def _json(told: Json) -> Answer:
    return Answer(RootModel[Json](told))


def _route(path: str, summary: str, make: Callable[[], Answer]) -> Route[S]:
    made = cache(make)
    return Route(
        methods=("GET",),
        path=path,
        name=path.removeprefix("/"),
        summary=summary,
        act=lambda _, __: made(),
        answers={},
    )
