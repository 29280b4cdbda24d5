"""HTTP service of a game: the `http_service` part of its `game.py`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from starlette.types import ASGIApp

from cardsharp.server import openapi, websocket_handler
from cardsharp.server.api import Api
from cardsharp.server.api_application import build_application
from cardsharp.server.gateway_events import LambdaHandler
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.server.request_parsing import Json
from cardsharp.server.routing import S

BOT_STORE_SETTING, BOT_QUEUE_SETTING, BOT_URL_SETTING = (
    "CARDSHARP_BOT_STORE",
    "CARDSHARP_BOT_QUEUE",
    "CARDSHARP_BOT_URL",
)
"""To a service that bots of ours can be invited to: their match log and queue, its own address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AsgiService:
    """HTTP service of a game as an ASGI application; attributes as in `HttpService`."""

    store_setting: str
    build_application: Callable[[Mapping[str, str]], ASGIApp]
    base_path: str = ""
    websocket_feed: None = None
    supports_invites: bool = False

    def build_handler(self, environment: Mapping[str, str]) -> LambdaHandler:
        """Return the handler for an environment; raise `ConfigError` if it is invalid."""
        return lambda_handler_for_asgi(self.build_application(environment))

    def openapi_documents(self) -> Mapping[str, Json]:
        """Return nothing, because the application serves its own documents."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpService(Generic[S]):
    """HTTP service of a game.

    `store_setting` is the environment variable that names the store of its games.
    `build_service` builds the use cases for an environment and raises `ConfigError`.
    `build_v2022_apis` returns further APIs to the same games that an environment enables.
    `websocket_feed` returns the handler of WebSocket handshakes if an environment names a feed.
    `supports_invites` is True if our bots can be invited to play there.
    """

    api: Api[S]
    store_setting: str
    build_service: Callable[[Mapping[str, str]], S]
    extra_apis: Callable[[Mapping[str, str]], Sequence[Api[S]]] = lambda _: ()
    websocket_feed: Callable[[S, Mapping[str, str]], LambdaHandler | None] | None = None
    supports_invites: bool = False

    def build_handler(self, environment: Mapping[str, str]) -> LambdaHandler:
        """Return the handler for an environment; raise `ConfigError` if it is invalid."""
        service = self.build_service(environment)
        application = build_application((self.api, *self.extra_apis(environment)), service)
        watch = None if self.websocket_feed is None else self.websocket_feed(service, environment)
        return lambda_handler_for_asgi(application, watch or websocket_handler.reject_handshake)

    @property
    def base_path(self) -> str:
        """Prefix of all paths."""
        return self.api.base_path

    def openapi_documents(self) -> Mapping[str, Json]:
        """Return the OpenAPI documents by the names of the APIs, for an empty environment."""
        return {api.name: openapi.openapi_document(api) for api in (self.api, *self.extra_apis({}))}
