"""The lobby as a page here, for games at a service elsewhere, which may be its makers' own.

A page of ours may not ask another service. So this machine asks it what the page asked, by the
documented API alone, in which everything is `GET` (docs/spec/blef-next.md).
"""

from urllib.parse import quote

import requests
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cardsharp.client.config import Proxy, normalize_base_url
from cardsharp.games.blef.service.routes_v2022 import lobby_page
from cardsharp_tools.http_session import http_session, proxy_of

_PATIENCE = 30  # seconds that the service may take

_LOCAL_HOSTS = ["127.0.0.1", "localhost"]
_Parameters = TypeAdapter(dict[str, str])
_LOOKS = {1, 2}  # parts of a path by which something is looked at, and nothing changed


def remote_lobby_page(url: str) -> Starlette:
    """A page by which this service's games are listed, begun and played; or a `ConfigError`."""
    service, proxy = normalize_base_url(url), proxy_of()

    def page(_request: Request) -> Response:
        page_response = lobby_page()
        return HTMLResponse(str(page_response.body), headers=dict(page_response.headers))

    async def forward(request: Request) -> Response:
        """Forward a request to the service; changes must be JSON, which no other site can send."""
        parts = request.path_params["path"].split("/")
        looks = len(parts) in _LOOKS and parts[-1] != "create"
        changes = request.headers.get("Content-Type") == "application/json"
        try:
            parameters = (
                _Parameters.validate_json(await request.body()) if changes else request.query_params
            )
        except ValueError:
            return JSONResponse({"error": "That is no JSON of names and texts."}, 400)
        if parts[0] != "games" or looks == changes:
            return JSONResponse({"error": "There is no such thing to ask."}, 404)
        path = "/".join(quote(part, safe="") for part in parts)
        return await run_in_threadpool(_answered, f"{service}/{path}", dict(parameters), proxy)

    routes = [
        Route("/", page),
        Route("/docs", lambda _request: RedirectResponse(f"{service}/docs")),
        Route("/{path:path}", forward, methods=["GET", "POST"]),
    ]
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=_LOCAL_HOSTS)
    return Starlette(routes=routes, middleware=[guard])


def _answered(url: str, parameters: dict[str, str], proxy: Proxy | None) -> Response:
    try:
        with http_session(url, proxy, secret=True) as session:
            response = session.get(url, params=parameters, timeout=_PATIENCE, allow_redirects=False)
    except requests.RequestException:
        # Without its cause, which would show what was sent, and so who somebody is.
        return JSONResponse({"error": "The service does not answer; try again."}, 502)
    return Response(response.content, response.status_code, media_type="application/json")
