"""WebSocket handler: a client that connects subscribes to a topic of the service's feed.

A WebSocket API sends an event when a connection opens and when it closes. Messages of clients are
ignored.
"""

import hashlib
from collections.abc import Callable, Mapping
from http import HTTPStatus

from pydantic import BaseModel

from cardsharp.aws.telemetry import logger
from cardsharp.server.client_address import client_address_of
from cardsharp.server.gateway_events import (
    GatewayEvent,
    GatewayResponse,
    LambdaContext,
    LambdaHandler,
    gateway_response,
)
from cardsharp.server.routing import ApiResponse, HttpError, error_response
from cardsharp.server.websocket_feed import Feed

AuthorizeSubscription = Callable[[Mapping[str, str]], tuple[str, str]]
"""Returns the topic of the parameters, and the key that decides what its subscriber may see.

Raises `HttpError` if the subscription is not allowed.
"""


class ConnectionStatusBody(BaseModel, frozen=True):
    """Body of the response to a WebSocket handshake or disconnection."""

    message: str


def reject_handshake(_event: GatewayEvent, _context: LambdaContext) -> GatewayResponse:
    """Reject a WebSocket handshake, because there is no feed."""
    return _to_gateway_response(
        error_response(HttpError(HTTPStatus.NOT_FOUND, "There is no feed here"))
    )


def build_websocket_handler(feed: Feed, subscribe: AuthorizeSubscription) -> LambdaHandler:
    """Return the handler of a WebSocket API's events."""

    def answer(event: GatewayEvent, _context: LambdaContext) -> GatewayResponse:
        try:
            response = _handle_event(event, feed, subscribe)
        except HttpError as http_error:
            response = error_response(http_error)
        except Exception as error:  # noqa: BLE001 - the edge: a handshake ends with an answer
            logger.error("a handshake failed", extra={"error": type(error).__name__})
            response = error_response(error)
        return _to_gateway_response(response)

    return answer


def _handle_event(event: GatewayEvent, feed: Feed, authorize: AuthorizeSubscription) -> ApiResponse:
    about = event["requestContext"]
    if about["routeKey"] == "$connect":
        headers, query = event.get("headers") or {}, event.get("queryStringParameters") or {}
        params = {**{name.lower(): value for name, value in headers.items()}, **query}
        topic, key = authorize(params)
        caller = client_address_of(about.get("identity", {}).get("sourceIp"))
        digest = "" if caller is None else hashlib.sha256(caller.encode()).hexdigest()
        if not feed.subscribe(topic, about["connectionId"], key, digest):
            raise HttpError(
                HTTPStatus.TOO_MANY_REQUESTS, "Too many spectators of this game - please try later"
            )
        return ApiResponse(ConnectionStatusBody(message="Connected"))
    if about["routeKey"] == "$disconnect":
        feed.unsubscribe(about["connectionId"])
        return ApiResponse(ConnectionStatusBody(message="Disconnected"))
    return ApiResponse("")


def _to_gateway_response(response: ApiResponse) -> GatewayResponse:
    body = response.body if isinstance(response.body, str) else response.body.model_dump_json()
    return gateway_response(response.status, body)
