"""Paths of requests, matched as the original's framework does: case and a final slash are ignored.

A path is compared as it was sent, percent-escapes included; only its parameters are decoded.
"""

import re
from collections.abc import Iterable
from urllib.parse import unquote

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from cardsharp.server.routing import HttpError

_BROKEN_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")


class CaseInsensitiveRoute(Route):
    """Route that ignores the case of a path and a slash at its end."""

    def __init__(self, path: str, endpoint: object, method: str) -> None:
        super().__init__(path, endpoint, methods=[method])  # type: ignore[arg-type]
        loose = self.path_regex.pattern.removesuffix("$") + "/?$"
        self.path_regex = re.compile(loose, re.IGNORECASE)


def decode_parameters(request: Request) -> None:
    """Decode the path parameters of the request in place; raise `HttpError` if one is invalid."""
    parameters = request.path_params
    for name, raw_value in parameters.items():
        error = HttpError(400, f"Failed to decode param '{raw_value}'")
        if _BROKEN_ESCAPE.search(raw_value):
            raise error
        try:
            parameters[name] = unquote(raw_value, errors="strict")
        except ValueError:
            raise error from None


def allowed_methods(routes: Iterable[BaseRoute], path: str) -> list[str]:
    """Return the methods of `path`, in the order of the original."""
    by_route: dict[str, list[str]] = {}
    for route in routes:
        if isinstance(route, Route) and route.path_regex.match(path):
            by_route.setdefault(route.path, []).extend((route.methods or set()) - {"HEAD"})
    names = [[*methods, "HEAD"] if "GET" in methods else methods for methods in by_route.values()]
    return list(dict.fromkeys(name for methods in names for name in methods))
