"""How paths are matched: as the original's framework does, without regard to case or a last slash.

A path is compared as it was sent, percent-escapes included; only its parameters are decoded.
"""

import re
from collections.abc import Iterable
from urllib.parse import unquote

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.web.refusals import Refused

_BROKEN_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")


class LooseRoute(Route):
    """A route that a path fits in capitals, and with a slash at its end, as well."""

    def __init__(self, path: str, endpoint: object, method: str) -> None:
        super().__init__(path, endpoint, methods=[method])  # type: ignore[arg-type]
        loose = self.path_regex.pattern.removesuffix("$") + "/?$"
        self.path_regex = re.compile(loose, re.IGNORECASE)


class PathAsSent:
    """ASGI middleware: the routes see the path as it was sent, not decoded."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand one request on."""
        if scope["type"] == "http" and scope.get("raw_path"):
            scope = {**scope, "path": scope["raw_path"].decode("latin-1")}
        await self._app(scope, receive, send)


def decode_parameters(request: Request) -> None:
    """Decode the parameters of the request's path, in place; raises `Refused` if one cannot be."""
    parameters = request.path_params
    for name, sent in parameters.items():
        parameters[name] = _decoded(sent)


def _decoded(sent: str) -> str:
    refused = Refused(400, f"Failed to decode param '{sent}'")
    if _BROKEN_ESCAPE.search(sent):
        raise refused
    try:
        return unquote(sent, errors="strict")
    except ValueError:
        raise refused from None


def allowed_methods(routes: Iterable[BaseRoute], path: str) -> list[str]:
    """The methods that `path` has, in the order in which the original names them."""
    by_route: dict[str, list[str]] = {}
    for route in routes:
        if isinstance(route, Route) and route.path_regex.match(path):
            by_route.setdefault(route.path, []).extend((route.methods or set()) - {"HEAD"})
    names = [[*methods, "HEAD"] if "GET" in methods else methods for methods in by_route.values()]
    return list(dict.fromkeys(name for methods in names for name in methods))
