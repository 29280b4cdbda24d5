"""Web page of a lobby on this machine, for games at a service elsewhere.

A web page of ours may not send requests to another service. Therefore this machine forwards the
page's requests, by the documented API alone, in which every request is a `GET`
(docs/spec/blef-next.md).
"""

from urllib.parse import quote

import requests
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cardsharp.client.config import Proxy, normalize_base_url
from cardsharp.games.blef.service.routes_v2022 import lobby_page
from cardsharp.server.web_application import LOCAL_PAGES_SETTINGS, build_web_application
from cardsharp_tools.http_session import http_session
from cardsharp_tools.proxy_option import resolve_proxy

_REQUEST_TIMEOUT_SECONDS = 30  # seconds in which the service must answer

_PARAMETERS_ADAPTER = TypeAdapter(dict[str, str])
_READ_ONLY_SEGMENT_COUNTS = {1, 2}  # numbers of path segments of requests that change nothing


def remote_lobby_page(url: str) -> Starlette:
    """Return the page that lists, creates and plays a service's games; raise `ConfigError`.

    Raises `ConfigError` if the address is invalid.
    """
    service, proxy = normalize_base_url(url), resolve_proxy()

    def page(_request: Request) -> Response:
        page_response = lobby_page()
        return HTMLResponse(str(page_response.body), headers=dict(page_response.headers))

    async def forward(request: Request) -> Response:
        """Forward a request to the service; changes must be JSON, which no other site can send."""
        path_segments = request.path_params["path"].split("/")
        looks = len(path_segments) in _READ_ONLY_SEGMENT_COUNTS and path_segments[-1] != "create"
        changes = request.headers.get("Content-Type") == "application/json"
        try:
            parameters = (
                _PARAMETERS_ADAPTER.validate_json(await request.body())
                if changes
                else request.query_params
            )
        except ValueError:
            return JSONResponse({"error": "That is no JSON of names and texts."}, 400)
        if path_segments[0] != "games" or looks == changes:
            return JSONResponse({"error": "There is no such thing to ask."}, 404)
        path = "/".join(quote(segment, safe="") for segment in path_segments)
        return await run_in_threadpool(
            _forward_request, f"{service}/{path}", dict(parameters), proxy
        )

    routes = [
        Route("/", page),
        Route("/docs", lambda _request: RedirectResponse(f"{service}/docs")),
        Route("/{path:path}", forward, methods=["GET", "POST"]),
    ]
    return build_web_application(routes, LOCAL_PAGES_SETTINGS)


def _forward_request(url: str, parameters: dict[str, str], proxy: Proxy | None) -> Response:
    try:
        with http_session(url, proxy, secret=True) as session:
            response = session.get(
                url, params=parameters, timeout=_REQUEST_TIMEOUT_SECONDS, allow_redirects=False
            )
    except requests.RequestException:
        # Without the cause of the error: its text would disclose the player's secret id.
        return JSONResponse({"error": "The service does not answer; try again."}, 502)
    return Response(response.content, response.status_code, media_type="application/json")
