"""ASGI application of an API: routes a request, and turns any failure into a response.

The server in front of it, at home or an adapter on Lambda, fills the state of each request
(`routing.RequestState`): how long an answer may take, and in which thread a use case runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from http import HTTPStatus
from typing import Generic

from pydantic import RootModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as PathRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.server.api import DOCS_PATH, OPENAPI_PATH, Api
from cardsharp.server.client_address import client_address_of
from cardsharp.server.error_table import find_http_error
from cardsharp.server.failure_log import log_failure
from cardsharp.server.openapi import openapi_document
from cardsharp.server.request_origin import CROSS_SITE_MESSAGE, is_cross_site_change
from cardsharp.server.request_parsing import Json
from cardsharp.server.routing import (
    ApiRequest,
    ApiResponse,
    HttpError,
    MethodNotAllowed,
    PathNotFound,
    RequestState,
    Route,
    S,
)
from cardsharp.server.web_application import API_SETTINGS, ErrorPages, build_web_application

_PAGE_LINKS = {"OpenAPI 3.1": OPENAPI_PATH[1:]}  # from the page, and so behind any prefix
_PREFLIGHT_METHOD = "OPTIONS"
_CORS_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "Authorization,Content-Type,X-Amz-Date,X-Amz-Security-Token,"
    "X-Api-Key",
    "Access-Control-Max-Age": "3600",
}


def build_application(apis: Sequence[Api[S]], service: S) -> ASGIApp:
    """Return the application of several APIs of one service.

    A path below no base path is answered by the first API.
    """
    # An API whose base path is longer goes first, as another one's routes may fit its paths, too.
    ordered_apis = sorted(apis, key=lambda api: len(api.base_path), reverse=True)
    routes = [route for api in ordered_apis for route in _iter_path_routes(api, service)]
    merges_slashes = all(api.merge_slashes for api in apis)
    settings = replace(API_SETTINGS, merges_slashes=merges_slashes)
    errors = ErrorPages(unknown_path=_PathEndpoint(apis[0], service, {}))
    return build_web_application(routes, settings, errors)


def _iter_path_routes(api: Api[S], service: S) -> Iterator[PathRoute]:
    """Yield the routes of an API by path, and at last one for any other path below its base."""
    routes_by_path: dict[str, dict[str, Route[S]]] = {}
    # A path without names goes before those that it fits by one.
    for route in sorted(
        (*api.routes, *_iter_document_routes(api)), key=lambda candidate: "{" in candidate.path
    ):
        path = f"{api.base_path}{route.path}"
        routes_by_path.setdefault(path, {}).update(dict.fromkeys(route.methods, route))
    for path, routes in routes_by_path.items():
        yield PathRoute(path, _PathEndpoint(api, service, routes))
    unknown_path = _PathEndpoint(api, service, {})
    yield PathRoute(f"{api.base_path}/{{rest:path}}", unknown_path)
    if api.base_path:
        yield PathRoute(api.base_path, unknown_path)


@dataclass(frozen=True, slots=True)
class _PathEndpoint(Generic[S]):
    """ASGI application of one path; `routes` are its routes by method, none if it is unknown."""

    api: Api[S]
    service: S
    routes: Mapping[str, Route[S]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        response = self._answer_preflight(request) or self._build_response(
            request, await self._dispatch(request)
        )
        await response(scope, receive, send)

    async def _dispatch(self, request: Request) -> ApiResponse:
        """Return the response of the route for the method, or an error response."""
        route = self.routes.get(request.method.upper())
        if route is not None and not self.api.allow_cors and is_cross_site_change(request):
            error = HttpError(HTTPStatus.FORBIDDEN, CROSS_SITE_MESSAGE)
            return self.api.error_response(error, route.error_model(error.status))
        try:
            if route is None:
                return self._reject(request.scope["path"])
            params = await self.api.request_parser.parse(request, route.params_model)
            state: RequestState = request.scope["state"]
            caller = client_address_of(request.client.host if request.client else None)
            api_request = ApiRequest(params, state["time_left"], caller)
            return await state["run_use_case"](lambda: route.endpoint(self.service, api_request))
        except Exception as error:  # noqa: BLE001 - the edge: a client gets an answer in any case
            return self._build_error_response(error, route)

    def _build_error_response(self, error: Exception, route: Route[S] | None) -> ApiResponse:
        """Return the response to an error; log it unless it has a place in the API's table."""
        http_error = find_http_error(self.api.error_table, error)
        if http_error is None:
            log_failure(error, None if route is None else route.name)
            return self.api.error_response(error, self.api.error_model)
        model = self.api.error_model if route is None else route.error_model(http_error.status)
        return self.api.error_response(http_error, model)

    def _reject(self, path: str) -> ApiResponse:
        """Return the response to a request that no route answers."""
        if not self.routes:
            return self.api.error_response(PathNotFound(path), self.api.error_model)
        error = MethodNotAllowed(path, sorted(self.routes))
        response = self.api.error_response(error, self.api.error_model)
        return ApiResponse(response.body, response.status, {"Allow": ", ".join(error.methods)})

    def _answer_preflight(self, request: Request) -> Response | None:
        """Return the response to a preflight request of a browser, None if it is none."""
        is_preflight = self.api.allow_cors and request.method.upper() == _PREFLIGHT_METHOD
        if not is_preflight or not self.routes:
            return None
        allowed = {"Access-Control-Allow-Methods": ",".join(sorted(self.routes))}
        headers = {**allowed, **self._build_cors_headers(request)}
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)

    def _build_response(self, request: Request, response: ApiResponse) -> Response:
        headers = {**self.api.headers, **response.headers}
        if response.status != HTTPStatus.METHOD_NOT_ALLOWED:
            headers |= self._build_cors_headers(request)
        body = response.body
        body_text = body if isinstance(body, str) else body.model_dump_json(by_alias=True)
        return Response(body_text, response.status, headers)

    def _build_cors_headers(self, request: Request) -> Mapping[str, str]:
        """Return the CORS headers of a response; empty if the request needs none."""
        if not self.api.allow_cors or "origin" not in request.headers:
            return {}
        exposed_headers = ",".join(
            name for route in self.api.routes for name in route.response_headers
        )
        return {
            **_CORS_HEADERS,
            **({"Access-Control-Expose-Headers": exposed_headers} if exposed_headers else {}),
        }


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
        lambda: _render_docs_page(api, document()),
    )


def _render_docs_page(api: Api[S], document: Json) -> ApiResponse:
    """Return the page of the document; what renders it is imported for the first request."""
    from cardsharp.pages.templates import SiteInfo  # noqa: PLC0415
    from cardsharp.server.openapi_page import document_page  # noqa: PLC0415

    if api.home_page is None:
        site = SiteInfo(api.title, matches_path="docs", links=(("API", "docs"),))
    else:
        site = SiteInfo(api.title, matches_path=".", links=(("Play", "."), ("API", "docs")))
    return document_page(document, _PAGE_LINKS, site)


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
