"""HTTP service of a game: the `http_service` part of its `game.py`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from starlette.types import ASGIApp

from cardsharp.server.api import Api
from cardsharp.server.feed_subscriptions import FeedSubscriptions
from cardsharp.server.gateway_events import LambdaHandler
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.server.request_parsing import Json
from cardsharp.server.websocket_handler import build_websocket_handler

BOT_STORE_SETTING, BOT_QUEUE_SETTING, BOT_URL_SETTING = (
    "CARDSHARP_BOT_STORE",
    "CARDSHARP_BOT_QUEUE",
    "CARDSHARP_BOT_URL",
)
"""To a service that bots of ours can be invited to: their match log and queue, its own address."""


class ServiceApplication(NamedTuple):
    """Application of a game's service, and the subscriptions to its feed if it has one."""

    application: ASGIApp
    subscriptions: FeedSubscriptions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpService:
    """HTTP service of a game.

    `store_setting` is the environment variable that names the store of its games.
    `build` builds its application for an environment and raises `ConfigError`.
    `api` has its table of routes; None if the application has a table of its own.
    `own_documents` returns the OpenAPI documents of such an application by name.
    `extra_apis` returns further APIs to the same games that an environment enables.
    `has_feed` is True if an environment can name a feed.
    `supports_invites` is True if our bots can be invited to play there.
    """

    store_setting: str
    build: Callable[[Mapping[str, str]], ServiceApplication]
    api: Api[Any] | None = None
    own_documents: Callable[[], Mapping[str, Json]] = dict
    extra_apis: Callable[[Mapping[str, str]], Sequence[Api[Any]]] = lambda _: ()
    has_feed: bool = False
    supports_invites: bool = False

    def build_handler(self, environment: Mapping[str, str]) -> LambdaHandler:
        """Return the handler for an environment; raise `ConfigError` if it is invalid."""
        application, subscriptions = self.build(environment)
        return lambda_handler_for_asgi(application, build_websocket_handler(subscriptions))

    @property
    def base_path(self) -> str:
        """Prefix of all paths."""
        return "" if self.api is None else self.api.base_path

    def openapi_documents(self) -> Mapping[str, Json]:
        """Return the OpenAPI documents by the names of the APIs, for an empty environment."""
        if self.api is None:
            return self.own_documents()
        from cardsharp.server.openapi import openapi_document  # noqa: PLC0415 - not for a function

        return {api.name: openapi_document(api) for api in (self.api, *self.extra_apis({}))}
