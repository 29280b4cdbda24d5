"""HTTP handler of a Lambda function: routes an event, and turns any failure into a response.

Several threads may use it at once: a local process answers many clients, and some of them wait
in a long poll (docs/decisions/0008-one-http-edge.md).
"""

import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from typing import Generic

from pydantic import RootModel

from cardsharp.aws.telemetry import logger
from cardsharp.errors import ConfigError
from cardsharp.server.api import DOCS_PATH, OPENAPI_PATH, Api
from cardsharp.server.gateway_events import (
    GatewayEvent,
    GatewayResponse,
    LambdaContext,
    LambdaHandler,
    gateway_response,
)
from cardsharp.server.gateway_request import GatewayRequest, make_remaining_wait
from cardsharp.server.openapi import openapi_document
from cardsharp.server.openapi_page import HEADERS, render_page
from cardsharp.server.request_parsing import Json
from cardsharp.server.routing import (
    ApiRequest,
    ApiResponse,
    HttpError,
    MethodNotAllowed,
    PathNotFound,
    Route,
    S,
)

_PAGE_LINKS = {"OpenAPI 3.1": OPENAPI_PATH[1:]}  # from the page, and so behind any prefix


def _iter_document_routes(api: Api[S]) -> Iterator[Route[S]]:
    """Yield the routes of the documents about the API.

    Each response is built at its first request.
    """
    if api.home_page is not None:
        yield _build_document_route("/", "A web page", api.home_page)
    document = cache(lambda: openapi_document(api))
    yield _build_document_route(
        OPENAPI_PATH,
        "The OpenAPI 3.1 document of this API",
        lambda: ApiResponse(RootModel[Json](document())),
    )
    yield _build_document_route(
        DOCS_PATH,
        "The documentation of this API as a page",
        lambda: ApiResponse(render_page(document(), _PAGE_LINKS), headers=HEADERS),
    )


def _build_document_route(
    path: str, summary: str, build_response: Callable[[], ApiResponse]
) -> Route[S]:
    cached_response, name = cache(build_response), path.removeprefix("/")
    return Route(
        methods=("GET",),
        path=path,
        name=name,
        summary=summary,
        endpoint=lambda *_: cached_response(),
        response_models={},
    )


_PREFLIGHT_METHOD = "OPTIONS"
_CORS_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "Authorization,Content-Type,X-Amz-Date,X-Amz-Security-Token,"
    "X-Api-Key",
    "Access-Control-Max-Age": "3600",
}


def build_handler(api: Api[S], service: S) -> LambdaHandler:
    """Return the Lambda handler that answers the requests of an API with a service."""
    return _ApiDispatcher(api, service).answer


def build_combined_handler(apis: Sequence[Api[S]], service: S) -> LambdaHandler:
    """Return the handler of several APIs of one service.

    A path below no base path is answered by the first API.
    """
    handlers = {f"{api.base_path}/": build_handler(api, service) for api in apis}
    default_handler, *_ = handlers.values()
    bases = sorted(handlers, key=len, reverse=True)

    def answer(event: GatewayEvent, context: LambdaContext) -> GatewayResponse:
        path = f"{GatewayRequest(event).path}/"
        base = next(filter(path.startswith, bases), None)
        return (default_handler if base is None else handlers[base])(event, context)

    return answer if len(handlers) > 1 else default_handler


class _ApiDispatcher(Generic[S]):
    def __init__(self, api: Api[S], service: S) -> None:
        self._api, self._service = api, service
        self._routes: dict[re.Pattern[str], dict[str, Route[S]]] = {}
        # A path without names goes before those that it fits by one.
        for route in sorted(
            (*api.routes, *_iter_document_routes(api)), key=lambda candidate: "{" in candidate.path
        ):
            path = re.escape(f"{api.base_path}{route.path}")
            pattern = re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", path))
            self._routes.setdefault(pattern, {}).update(dict.fromkeys(route.methods, route))

    def answer(self, event: GatewayEvent, context: LambdaContext) -> GatewayResponse:
        """Return the response to one event."""
        request = GatewayRequest(event, merge_slashes=self._api.merge_slashes)
        if self._api.allow_cors and request.method == _PREFLIGHT_METHOD:
            methods = next(
                (m for path, m in self._routes.items() if path.fullmatch(request.path)), ()
            )
            if methods:
                allowed = {"Access-Control-Allow-Methods": ",".join(sorted(methods))}
                headers = {**allowed, **self._build_cors_headers(request)}
                return gateway_response(HTTPStatus.NO_CONTENT, "", headers)
        response = self._dispatch(request, context)
        headers = {**self._api.headers, **response.headers}
        if response.status != HTTPStatus.METHOD_NOT_ALLOWED:
            headers |= self._build_cors_headers(request)
        body = response.body
        body_text = body if isinstance(body, str) else body.model_dump_json(by_alias=True)
        return gateway_response(response.status, body_text, headers)

    def _dispatch(self, request: GatewayRequest, context: LambdaContext) -> ApiResponse:
        """Return the response of the matching route, or an error response."""
        route = None
        try:
            route, captured = self._match_route(request)
            params = self._api.request_parser.parse(request, route.params_model, captured)
            return route.endpoint(
                self._service,
                ApiRequest(params, make_remaining_wait(context), request.client_address),
            )
        except HttpError as http_error:
            model = self._api.error_model if route is None else route.error_model(http_error.status)
            response = self._api.error_response(http_error, model)
            if isinstance(http_error, MethodNotAllowed):
                return ApiResponse(
                    response.body, response.status, {"Allow": ", ".join(http_error.methods)}
                )
            return response
        except Exception as error:  # noqa: BLE001 - the edge: a client gets an answer in any case
            log_failure(error, None if route is None else route.name)
            return self._api.error_response(error, self._api.error_model)

    def _match_route(self, request: GatewayRequest) -> tuple[Route[S], Mapping[str, str]]:
        """Return the route and its path parameters.

        Raise `PathNotFound` or `MethodNotAllowed` if there is none.
        """
        for pattern, methods in self._routes.items():
            if matched := pattern.fullmatch(request.path):
                if request.method in methods:
                    return methods[request.method], matched.groupdict()
                raise MethodNotAllowed(request.path, sorted(methods))
        raise PathNotFound(request.path)

    def _build_cors_headers(self, request: GatewayRequest) -> Mapping[str, str]:
        """Return the CORS headers of a response; empty if the request needs none."""
        if not self._api.allow_cors or request.header("origin") is None:
            return {}
        exposed_headers = ",".join(
            name for route in self._api.routes for name in route.response_headers
        )
        return {
            **_CORS_HEADERS,
            **({"Access-Control-Expose-Headers": exposed_headers} if exposed_headers else {}),
        }


def log_failure(error: Exception, route: str | None = None) -> None:
    """Log an error and its location without its text, which might quote a hand or a secret."""
    cause = error.__cause__ or error
    response = getattr(cause, "response", None)
    aws_code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
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
