"""The HTTP edge: an event in, the answer of its route out, and whatever fails is an answer too.

Several threads may use it at once: at home one process answers many clients, and some of them
wait in a long poll (docs/decisions/0008-one-http-edge.md).
"""

import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from typing import Generic

from pydantic import RootModel

from cardsharp.cloud.telemetry import logger
from cardsharp.errors import ConfigError
from cardsharp.web.api import DOCUMENT, PAGE, Api
from cardsharp.web.events import Context, Event, Handler, Response, response
from cardsharp.web.openapi import document
from cardsharp.web.page import HEADERS, page
from cardsharp.web.reading import Json
from cardsharp.web.request import Request, time_left
from cardsharp.web.route import Answer, Call, NoSuchMethod, NoSuchPath, Refused, Route, S

_LINKS = {"OpenAPI 3.1": DOCUMENT[1:]}  # from the page, and so behind any prefix


def _itself(api: Api[S]) -> Iterator[Route[S]]:
    """Yield the routes; what they answer is made when it is first asked for."""
    if api.home is not None:
        yield _route("/", "A page for people", api.home)
    own = cache(lambda: document(api))
    yield _route(DOCUMENT, "The API in OpenAPI 3.1", lambda: Answer(RootModel[Json](own())))
    yield _route(PAGE, "The API as a page", lambda: Answer(page(own(), _LINKS), headers=HEADERS))


def _route(path: str, summary: str, make: Callable[[], Answer]) -> Route[S]:
    made, name = cache(make), path.removeprefix("/")
    return Route(
        methods=("GET",), path=path, name=name, summary=summary, act=lambda *_: made(), answers={}
    )


_PREFLIGHT = "OPTIONS"
_CROSS_ORIGIN = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "Authorization,Content-Type,X-Amz-Date,X-Amz-Security-Token,"
    "X-Api-Key",
    "Access-Control-Max-Age": "3600",
}


def build(api: Api[S], service: S) -> Handler:
    """The handler that answers the requests of an API with a service."""
    return _Edge(api, service).answer


def build_all(apis: Sequence[Api[S]], service: S) -> Handler:
    """The handler of several APIs with one service; what is under no base is for the first."""
    handlers = {f"{api.base}/": build(api, service) for api in apis}
    first, *_ = handlers.values()
    bases = sorted(handlers, key=len, reverse=True)

    def answer(event: Event, context: Context) -> Response:
        path = f"{Request(event).path}/"
        base = next(filter(path.startswith, bases), None)
        return (first if base is None else handlers[base])(event, context)

    return answer if len(handlers) > 1 else first


class _Edge(Generic[S]):
    def __init__(self, api: Api[S], service: S) -> None:
        self._api, self._service = api, service
        self._routes: dict[re.Pattern[str], dict[str, Route[S]]] = {}
        # A path without names goes before those that it fits by one.
        for route in sorted((*api.routes, *_itself(api)), key=lambda one: "{" in one.path):
            path = re.escape(f"{api.base}{route.path}")
            pattern = re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", path))
            self._routes.setdefault(pattern, {}).update(dict.fromkeys(route.methods, route))

    def answer(self, event: Event, context: Context) -> Response:
        """The answer to one event."""
        request = Request(event, merge_slashes=self._api.merge_slashes)
        if self._api.cross_origin and request.method == _PREFLIGHT:
            methods = next(
                (m for path, m in self._routes.items() if path.fullmatch(request.path)), ()
            )
            if methods:
                allowed = {"Access-Control-Allow-Methods": ",".join(sorted(methods))}
                headers = {**allowed, **self._cross_origin(request)}
                return response(HTTPStatus.NO_CONTENT, "", headers)
        answer = self._carried_out(request, context)
        headers = {**self._api.headers, **answer.headers}
        if answer.status != HTTPStatus.METHOD_NOT_ALLOWED:
            headers |= self._cross_origin(request)
        body = answer.body
        text = body if isinstance(body, str) else body.model_dump_json(by_alias=True)
        return response(answer.status, text, headers)

    def _carried_out(self, request: Request, context: Context) -> Answer:
        """What the route answers, or what says why it did not."""
        route = None
        try:
            route, captured = self._find(request)
            asked = self._api.reading.read(request, route.request, captured)
            return route.act(self._service, Call(asked, time_left(context), request.caller))
        except Refused as refused:
            model = self._api.error if route is None else route.error_model(refused.status)
            answer = self._api.explain(refused, model)
            if isinstance(refused, NoSuchMethod):
                return Answer(answer.body, answer.status, {"Allow": ", ".join(refused.methods)})
            return answer
        except Exception as error:  # noqa: BLE001 - the edge: a client gets an answer in any case
            report(error, None if route is None else route.name)
            return self._api.explain(error, self._api.error)

    def _find(self, request: Request) -> tuple[Route[S], Mapping[str, str]]:
        """The route, and what its path's parameters are; raises `NoSuchPath` or `NoSuchMethod`."""
        for pattern, methods in self._routes.items():
            if matched := pattern.fullmatch(request.path):
                if request.method in methods:
                    return methods[request.method], matched.groupdict()
                raise NoSuchMethod(request.path, sorted(methods))
        raise NoSuchPath(request.path)

    def _cross_origin(self, request: Request) -> Mapping[str, str]:
        """The headers by which a page of another site may see an answer; others need none."""
        if not self._api.cross_origin or request.header("origin") is None:
            return {}
        shown = ",".join(name for route in self._api.routes for name in route.headers)
        return {**_CROSS_ORIGIN, **({"Access-Control-Expose-Headers": shown} if shown else {})}


def report(error: Exception, route: str | None = None) -> None:
    """Log what failed and where, without the error's text: it might quote a hand or a secret."""
    cause = error.__cause__ or error
    answer = getattr(cause, "response", None)
    aws_code = answer.get("Error", {}).get("Code") if isinstance(answer, dict) else None
    account = {
        "route": route,
        "error": type(error).__name__,
        # A setting's fault says what to do about it, and knows of no game.
        "text": str(error) if isinstance(error, ConfigError) else None,
        "cause": type(cause).__name__,
        "aws_code": aws_code,
        "frames": [f"{f.name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)],
    }
    logger.error("a request failed", extra=account)
