"""HTTP edge that the services of all games share: routing, validation, limits and documents.

Look first at `Route`, an endpoint with its models, and at `Api`, the routes of a service.
`build_application` makes an ASGI application of it, which `HttpService` serves from a function or
at home. `build_web_application` makes one of any routes, behind the checks of its `WebSettings`.
`MatchSite` is the web site of a match log, and `Feed` its WebSocket feed.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.server.access_gate import AccessGate, sign_access_token
    from cardsharp.server.api import Api
    from cardsharp.server.api_application import build_application
    from cardsharp.server.gateway_events import (
        GatewayEvent,
        GatewayResponse,
        LambdaContext,
        LambdaHandler,
    )
    from cardsharp.server.http_service import HttpService, ServiceApplication
    from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
    from cardsharp.server.match_site import MatchSite, PagesConfig
    from cardsharp.server.openapi import openapi_document
    from cardsharp.server.pages_service import build_pages
    from cardsharp.server.routing import ApiRequest, ApiResponse, HttpError, Route
    from cardsharp.server.web_application import WebSettings, build_web_application
    from cardsharp.server.websocket_feed import Feed, Subscriber

__all__ = (
    "AccessGate",
    "Api",
    "ApiRequest",
    "ApiResponse",
    "Feed",
    "GatewayEvent",
    "GatewayResponse",
    "HttpError",
    "HttpService",
    "LambdaContext",
    "LambdaHandler",
    "MatchSite",
    "PagesConfig",
    "Route",
    "ServiceApplication",
    "Subscriber",
    "WebSettings",
    "build_application",
    "build_pages",
    "build_web_application",
    "lambda_handler_for_asgi",
    "openapi_document",
    "sign_access_token",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "AccessGate": "access_gate",
        "Api": "api",
        "ApiRequest": "routing",
        "ApiResponse": "routing",
        "Feed": "websocket_feed",
        "GatewayEvent": "gateway_events",
        "GatewayResponse": "gateway_events",
        "HttpError": "routing",
        "HttpService": "http_service",
        "LambdaContext": "gateway_events",
        "LambdaHandler": "gateway_events",
        "MatchSite": "match_site",
        "PagesConfig": "match_site",
        "Route": "routing",
        "ServiceApplication": "http_service",
        "Subscriber": "websocket_feed",
        "WebSettings": "web_application",
        "lambda_handler_for_asgi": "lambda_adapter",
        "build_application": "api_application",
        "build_pages": "pages_service",
        "build_web_application": "web_application",
        "openapi_document": "openapi",
        "sign_access_token": "access_gate",
    },
)
