"""HTTP service of a game: the `http_service` part of its `game.py`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from cardsharp.server import lambda_handler, openapi, websocket_handler
from cardsharp.server.api import Api
from cardsharp.server.gateway_events import (
    GatewayEvent,
    GatewayResponse,
    LambdaContext,
    LambdaHandler,
    with_event_validation,
)
from cardsharp.server.request_parsing import Json
from cardsharp.server.routing import S

BOT_STORE_SETTING, BOT_QUEUE_SETTING, BOT_URL_SETTING = (
    "CARDSHARP_BOT_STORE",
    "CARDSHARP_BOT_QUEUE",
    "CARDSHARP_BOT_URL",
)
"""To a service that bots of ours can be invited to: their match log and queue, its own address."""


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
        api_handler = lambda_handler.build_combined_handler(
            (self.api, *self.extra_apis(environment)), service
        )
        watch = (
            None if self.websocket_feed is None else self.websocket_feed(service, environment)
        ) or websocket_handler.reject_handshake

        def either(event: GatewayEvent, context: LambdaContext) -> GatewayResponse:
            of_a_socket = "connectionId" in event["requestContext"]
            return (watch if of_a_socket else api_handler)(event, context)

        return with_event_validation(either, accept_websockets=True)

    @property
    def base_path(self) -> str:
        """Prefix of all paths."""
        return self.api.base_path

    def openapi_documents(self) -> Mapping[str, Json]:
        """Return the OpenAPI documents by the names of the APIs, for an empty environment."""
        return {api.name: openapi.openapi_document(api) for api in (self.api, *self.extra_apis({}))}
