"""Subscriptions to a service's feed: a WebSocket client that connects subscribes to a topic.

Messages of clients are ignored.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from pydantic import BaseModel

from cardsharp.aws.telemetry import logger
from cardsharp.server.client_address import client_address_of
from cardsharp.server.routing import ApiResponse, HttpError, error_response
from cardsharp.server.websocket_feed import Feed

NO_FEED = error_response(HttpError(HTTPStatus.NOT_FOUND, "There is no feed here"))
"""Response to a handshake where there is no feed."""

AuthorizeSubscription = Callable[[Mapping[str, str]], tuple[str, str]]
"""Returns the topic of the parameters, and the key that decides what its subscriber may see.

Raises `HttpError` if the subscription is not allowed.
"""


class ConnectionStatusBody(BaseModel, frozen=True):
    """Body of the response to a WebSocket handshake or disconnection."""

    message: str


@dataclass(frozen=True, slots=True)
class FeedSubscriptions:
    """Subscriptions of WebSocket clients to a feed; no method raises.

    `authorize` finds the topic that a client may subscribe to.
    """

    feed: Feed
    authorize: AuthorizeSubscription

    def connect(
        self, connection: str, parameters: Mapping[str, str], source: object
    ) -> ApiResponse:
        """Subscribe a client from the address `source`; the handshake gets the response."""

        def subscribe() -> str:
            topic, key = self.authorize(parameters)
            caller = client_address_of(source)
            digest = "" if caller is None else hashlib.sha256(caller.encode()).hexdigest()
            if not self.feed.subscribe(topic, connection, key, digest):
                raise HttpError(
                    HTTPStatus.TOO_MANY_REQUESTS,
                    "Too many spectators of this game - please try later",
                )
            return "Connected"

        return _respond(subscribe)

    def disconnect(self, connection: str) -> ApiResponse:
        """Remove a client that has gone."""

        def unsubscribe() -> str:
            self.feed.unsubscribe(connection)
            return "Disconnected"

        return _respond(unsubscribe)


def _respond(change: Callable[[], str]) -> ApiResponse:
    try:
        return ApiResponse(ConnectionStatusBody(message=change()))
    except HttpError as http_error:
        return error_response(http_error)
    except Exception as error:  # noqa: BLE001 - the edge: a handshake ends with an answer
        logger.error("a handshake failed", extra={"error": type(error).__name__})
        return error_response(error)
